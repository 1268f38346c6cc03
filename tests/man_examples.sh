#!/bin/sh
# Takes the complete programs out of manual pages.
#
#	tests/man_examples.sh FOLDER PAGE...
#
# A program is a literal display that begins with #include. Those of PAGE.3
# become FOLDER/PAGE_1.c, PAGE_2.c and so on. A page without one is an error.
set -eu

folder=$1
shift
mkdir -p "$folder"
for page in "$@"; do
	awk -v stem="$folder/$(basename "$page" .3)" '
	/^\.Bd -literal/ { fresh = 1; next }
	/^\.Ed/ { inside = fresh = 0; next }
	fresh && /^#include/ {
		file = stem "_" ++n ".c"
		inside = 1
	}
	{ fresh = 0 }
	inside {
		gsub(/\\&/, "")
		gsub(/\\-/, "-")
		gsub(/\\e/, "\\")
		print >file
	}
	END { exit n == 0 }' "$page" || {
		echo "man_examples: $page has no complete program" >&2
		exit 1
	}
done
