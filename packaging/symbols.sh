#!/bin/sh
# The list of symbols for Debian, each with the version that first had it.
#
#	packaging/symbols.sh VERSION MAP LIST
#
# Prints LIST with the functions that MAP exports and it does not have, as of
# VERSION. Nothing ever leaves a list but by another version node in MAP: then
# it begins anew.
set -eu

version=$1
map=$2
list=$3

node=$(sed -n 's/^\([A-Z0-9_]*\) {.*/\1/p' "$map")
names=$(tr ';' '\n' <"$map" |
	sed -n 's/^[[:space:]]*\(rb_[a-z0-9_]*\)[[:space:]]*$/\1/p' | sort -u)
{
	echo "$node"
	echo "$names"
	sed -n "s/^ \([A-Za-z0-9_]*\)@$node /\1 /p" "$list"
} | sed -e '/^$/d' | awk -v version="$version" -v node="$node" '
	NF == 1 && !($1 in since) { since[$1] = version }
	NF == 2 { since[$1] = $2 }
	END {
		for (name in since)
			printf " %s@%s %s\n", name, node, since[name]
	}' | LC_ALL=C sort | {
	echo 'libredisbatch.so.@major@ libredisbatch@major@ #MINVER#'
	echo '* Build-Depends-Package: libredisbatch-dev'
	cat
}
