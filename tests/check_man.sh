#!/bin/sh
# Holds the manual pages to the header.
#
#	tests/check_man.sh HEADER MAP PAGE...
#
# HEADER alone says what there is: each function with RB_API, each type of a
# callback and each macro with arguments must stand in the NAME of exactly one
# PAGE and in its SYNOPSIS, with the prototype of the header; each other type in
# the NAME of exactly one. Each constant, and each member of a structure, must
# be named by the page of its type or, if it has none, by any. A page may have
# nothing that the header has not. MAP lists the exported functions: they are to
# be among those that were found in HEADER, so that nothing is overlooked.
#
# Each PAGE must have the sections of a manual of this library, and be fine by
# mandoc. Without mandoc that step is left out, which is said.
set -eu
export LC_ALL=C

header=$1
map=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
bad=0
printf '  %-7s %s\n' CHECK 'manual pages'

# ------------------------------------------------------------- the header --
# Lines of a kind, a name and a text: "call NAME PROTOTYPE", "type NAME",
# "word NAME OF-TYPE".

# Declarations, one a line, without comments and preprocessor lines. A macro
# with arguments is "#NAME(ARGUMENTS)".
declarations() {
	sed -n 's/^#define \(rb_[a-z_]*([a-z, ]*)\).*/#\1;/p' "$1"
	sed -e '/^[ \t]*#/d' -e '/^extern "C" {$/d' -e '/^}$/d' "$1" |
		tr '\n\t' '  ' |
		awk '{ gsub(/\/\*/, "\n/*"); gsub(/\*\//, "*/\n"); print }' |
		sed -e '/^\/\*/d' |
		tr '\n' ' ' | awk '
		# Until the ";" outside of braces.
		{
			n = length($0)
			for (i = 1; i <= n; i++) {
				c = substr($0, i, 1)
				depth += (c == "{") - (c == "}")
				line = line c
				if (c == ";" && depth == 0) {
					print line
					line = ""
				}
			}
		}' | sed -e 's/  */ /g' -e 's/^ //'
}

# One way to write a prototype: blanks between words alone.
normal='s/[ \t][ \t]*/ /g
s/ *\([(),*;]\) */\1/g
s/^ //
s/;*$//
s/ $//'

from_header() {
	declarations "$1" | sed -e 's/RB_API //' -e 's/RB_MUST_CHECK //' |
		sed -e "$normal" | awk '
	function name_before(text, what) {
		sub(what ".*", "", text)
		sub(/.*[^A-Za-z0-9_]/, "", text)
		return text
	}
	# The members of a structure, the constants of an enumeration.
	function words(body, owner, after,    n, i, part, name) {
		n = split(body, part, after)
		for (i = 1; i <= n; i++) {
			name = part[i]
			sub(/=.*/, "", name)
			sub(/\)\(.*/, "", name)
			sub(/ *$/, "", name)
			sub(/.*[^A-Za-z0-9_]/, "", name)
			if (name != "")
				print "word", name, owner
		}
	}
	/^#/ {
		print "macro", name_before(substr($0, 2), "\\("), substr($0, 2)
		next
	}
	/[{]/ {
		owner = $0
		sub(/^[^}]*[}]/, "", owner)
		if ($0 ~ /^typedef/)
			print "type", owner
		else if (match($0, /^struct rb_[a-z_]*/))
			owner = substr($0, 8, RLENGTH - 7)
		else
			owner = "-"
		body = $0
		sub(/^[^{]*[{]/, "", body)
		sub(/[}].*/, "", body)
		words(body, owner, $0 ~ /^(typedef )?enum/ ? "," : ";")
		next
	}
	/\(/ { print "call", name_before($0, "\\("), $0; next }
	/^typedef/ { sub(/.* /, ""); print "type", $0 }'
}

from_header "$header" | sort -u >"$work/header"

# "#define rb_x(o)" has no types: its names alone are held to the page.
names() { awk -v kinds="$1" 'index(kinds, $1) { print $2 }' "$work/header"; }

complain() {
	echo "check_man: $*" >&2
	bad=1
}

sed -n 's/^[ \t]*\(rb_[a-z_]*\);.*/\1/p' "$map" | sort >"$work/exported"
names 'call' | sort >"$work/calls"
for name in $(comm -23 "$work/exported" "$work/calls"); do
	complain "$map has $name, but not $header"
done
[ -s "$work/exported" ] || complain "$map exports nothing"

# -------------------------------------------------------------- the pages --
# "name PAGE NAME" of NAME, "call PAGE NAME PROTOTYPE" of SYNOPSIS.

from_page() {
	awk -v page="$(basename "$1" .3)" '
	function plain(text) {
		gsub(/"/, "", text)
		gsub(/\\&/, "", text)
		return text
	}
	function parts(line,    out) {
		out = ""
		while (match(line, /"[^"]*"|[^ "]+/)) {
			out = out (out == "" ? "" : ",") \
				substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
		}
		return plain(out)
	}
	function call(name, args) {
		print "call", page, name, type " " name "(" args ")"
	}
	/^\.Sh / { section = plain(substr($0, 5)); next }
	section == "NAME" && $1 == ".Nm" { print "name", page, $2 }
	section != "SYNOPSIS" { next }
	$1 == ".Ft" { type = plain(substr($0, 5)) }
	$1 == ".Fn" {
		line = substr($0, 5)
		sub(/^[^ ]+ */, "", line)
		call($2, parts(line))
	}
	$1 == ".Fo" { name = $2; args = ""; next }
	$1 == ".Fa" && name != "" {
		args = args (args == "" ? "" : ",") parts(substr($0, 5))
	}
	$1 == ".Fc" { call(name, args); name = "" }' "$1" | sed -e "$normal"
}

for page in "$@"; do
	from_page "$page"
done >"$work/pages"

# Each name of the header stands in one NAME.
for name in $(names 'call macro type' | sort -u); do
	n=$(awk -v n="$name" '$1 == "name" && $3 == n' "$work/pages" | wc -l)
	[ "$n" -eq 1 ] || complain "$name stands in the NAME of $((n)) pages"
done

# And no others, but those of the library.
names 'call macro type' | sort -u >"$work/known"
awk '$1 == "name" { print $3 }' "$work/pages" | sort -u |
	grep -vx -e redisbatch -e libredisbatch >"$work/named" || :
for name in $(comm -13 "$work/known" "$work/named"); do
	complain "the NAME of a page has $name, which $header has not"
done

# Prototypes. For a macro a page shows a function that takes as much.
sed -n 's/^call [^ ]* //p' "$work/header" | sort >"$work/want"
awk '$1 == "call" { sub(/^call [^ ]* [^ ]* /, ""); print }' "$work/pages" |
	sort >"$work/have"
for name in $(names macro); do
	grep -q "[ *]$name(" "$work/have" || complain "no SYNOPSIS has $name()"
	grep -v "[ *]$name(" "$work/have" >"$work/rest" || :
	mv "$work/rest" "$work/have"
done
comm -23 "$work/want" "$work/have" >"$work/missing"
comm -13 "$work/want" "$work/have" >"$work/wrong"
if [ -s "$work/missing" ] || [ -s "$work/wrong" ]; then
	complain "SYNOPSIS (>) and $header (<) do not agree:"
	sed 's/^/< /' "$work/missing" >&2
	sed 's/^/> /' "$work/wrong" >&2
fi

# A call stands in the NAME and the SYNOPSIS of the same page.
awk '
$1 == "name" { home[$3] = $2 }
$1 == "call" && home[$3] != $2 {
	print $3 " is in the SYNOPSIS of " $2 ", but not in its NAME"
}' "$work/pages" >"$work/astray"
while read -r line; do
	complain "$line"
done <"$work/astray"

# Members and constants, in the page of their type.
while read -r kind name owner; do
	[ "$kind" = word ] || continue
	home=$(awk -v n="$owner" '$1 == "name" && $3 == n { print $2 }' \
		"$work/pages")
	if [ -n "$home" ]; then
		set -- "$(for page in "$@"; do
			[ "$(basename "$page" .3)" != "$home" ] ||
				echo "$page"
		done)" "$@"
	else
		set -- "" "$@"
	fi
	where=$1
	shift
	# shellcheck disable=SC2086
	grep -qw -e "$name" ${where:-"$@"} ||
		complain "$name of $owner is not in ${where:-any page}"
done <"$work/header"

# -------------------------------------------------------------- the shape --

for page in "$@"; do
	for section in NAME LIBRARY SYNOPSIS DESCRIPTION 'RETURN VALUES' \
		OWNERSHIP THREADS EXAMPLES ERRORS 'SEE ALSO'; do
		grep -qx "\.Sh $section" "$page" ||
			complain "$page has no section $section"
	done
	name=$(basename "$page" .3)
	grep -q "^\.Nm $name\( ,\)\{0,1\}$" "$page" ||
		complain "$page does not name $name"
	grep -n '^#include' "$page" >/dev/null ||
		complain "$page has no complete program"
	# What it points to is there.
	for other in $(sed -n 's/^\.Xr \(rb_[a-z_]*\) 3.*/\1/p' "$page"); do
		grep -q "^name [^ ]* $other$" "$work/pages" ||
			complain "$page points to $other(3), which is no page"
	done
done

if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$@" >&2 || bad=1
else
	echo 'check-man: mandoc skipped, since it is not installed'
fi
exit "$bad"
