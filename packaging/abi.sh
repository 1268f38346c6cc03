#!/bin/sh
# Holds the shared library to the ABI of the last release.
#
#	packaging/abi.sh dump LIBRARY HEADER DUMP     write it down
#	packaging/abi.sh check LIBRARY HEADER DUMP    compare with what was
#
# Additions are said and are fine, by the rules in docs/packaging.md; anything
# else fails. Only the types of
# HEADER count. LIBRARY needs its debug information, which is read by
# libabigail (abidw, abidiff).
set -eu

step=$1
library=$2
header=$3
dump=$4
suppressions=$(dirname "$0")/abi/compatible.suppr

if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
	echo "abi-$step skipped: abidw and abidiff (abigail-tools) are not here"
	[ "$step" = check ]
	exit
fi

# In every build of the same interface it is the same.
write_dump() {
	abidw --header-file "$header" --drop-private-types \
		--drop-undefined-syms --exported-interfaces-only \
		--no-show-locs --no-corpus-path --no-comp-dir-path \
		--no-elf-needed --no-parameter-names \
		--no-write-default-sizes --type-id-style hash "$library"
}

# abidiff answers 4 for any difference, 8 more for one that surely breaks
# programs, and 1 or 2 if it could not compare.
compare() {
	abidiff "$@" "$dump" "$work/now.abi" >"$work/report" 2>&1
}

check() {
	if [ ! -f "$dump" ]; then
		echo "abi-check skipped: there is no $dump for this machine"
		return 0
	fi
	write_dump >"$work/now.abi"
	if ! compare --suppressions "$suppressions" --no-added-syms; then
		cat "$work/report" >&2
		echo "abi-check: not compatible with $dump" >&2
		return 1
	fi
	# What was added, members of structures and enumerators too.
	compare --harmless --leaf-changes-only --no-default-suppression || cat "$work/report"
	printf '  %-7s %s\n' CHECK "ABI, against $dump"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
case $step in
dump)
	write_dump >"$work/now.abi"
	mkdir -p "$(dirname "$dump")"
	cp "$work/now.abi" "$dump"
	;;
check) check ;;
*) exit 2 ;;
esac
