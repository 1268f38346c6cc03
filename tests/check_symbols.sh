#!/bin/sh
# Holds the exported functions to one list.
#
#	tests/check_symbols.sh HEADER MAP SHARED-LIBRARY STATIC-LIBRARY
#
# What HEADER declares with RB_API, what MAP exports and what SHARED-LIBRARY
# defines must be the same names, and STATIC-LIBRARY may define global names
# only that begin with rb_ (public) or rbi_ (shared inside).
set -eu

header=$1
map=$2
shared=$3
static=$4
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
trap 'exit 1' HUP INT TERM
printf '  %-7s %s\n' CHECK 'symbols'

# Without preprocessor lines and comments, the name before the first
# parenthesis of each declaration that has RB_API.
declared() {
	sed -e '/^[ \t]*#/d' "$1" | tr '\n' ' ' |
		sed -e 's|/\*|\n/*|g' -e 's|\*/|*/\n|g' |
		sed -e '/^\/\*/d' | tr '\n' ' ' | tr ';' '\n' |
		sed -n 's/.*RB_API[^(]*[^(A-Za-z0-9_]\([A-Za-z0-9_]*\) *(.*/\1/p'
}

# The names between "global:" and "local:".
mapped() {
	sed -e 's|/\*.*\*/||' -e 's/#.*//' "$1" | tr ';' '\n' |
		sed -e 's/.*global://' | sed -n -e '/local:/q' \
		-e 's/^[ \t]*\([A-Za-z_][A-Za-z0-9_]*\)[ \t]*$/\1/p'
}

# Type A is the version node. Names on Darwin begin with one more "_".
defined() {
	nm "$@" | awk 'NF == 3 && $2 != "A" { print $3 }' |
		sed -e 's/@.*//' -e 's/^_\(rbi*_\)/\1/'
}

same() {
	if ! diff "$lists/$1" "$lists/$2" >"$lists/diff"; then
		echo "$3 (<) and $4 (>) do not agree:" >&2
		grep '^[<>]' "$lists/diff" >&2
		exit 1
	fi
}

declared "$header" | sort -u >"$lists/header"
mapped "$map" | sort -u >"$lists/map"
if [ ! -s "$lists/header" ]; then
	echo "$header declares nothing with RB_API" >&2
	exit 1
fi
same header map "$header" "$map"

if [ "$(uname)" = Darwin ]; then
	defined -gU "$shared" | grep '^rb_' | sort -u >"$lists/shared"
else
	defined -D --defined-only "$shared" | sort -u >"$lists/shared"
fi
same header shared "$header" "$shared"

# Names that the compiler's own instrumentation brings begin with "_".
foreign=$(defined -g "$static" | grep -Ev '^(rbi?_|_)' | sort -u)
if [ -n "$foreign" ]; then
	echo "$static defines names without rb_ or rbi_:" >&2
	echo "$foreign" >&2
	exit 1
fi
