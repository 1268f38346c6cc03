#!/bin/sh
# Compiles the public header alone, as C and as C++, with no hiredis in sight.
#
#	tests/check_header.sh HEADER
#
# With $CC and $CXX, and with gcc and clang where they are there; a standard
# that a compiler does not know is passed over.
set -eu

header=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
printf '  %-7s %s\n' CHECK 'header'

# Twice, since a header must bear that.
printf '#include "%s"\n#include "%s"\n' "$PWD/$header" "$PWD/$header" \
	>"$work/alone.c"
echo 'int main(void) { return rb_version() == NULL; }' >>"$work/alone.c"
cp "$work/alone.c" "$work/alone.cc"
echo 'int main(void) { return 0; }' >"$work/empty.c"
cp "$work/empty.c" "$work/empty.cc"

compile() { # compiler standard file
	"$1" -std="$2" -Wall -Wextra -Wpedantic -Werror \
		-c "$3" -o "$work/alone.o"
}

ndone=0

# Arguments: file suffix, standards, compilers.
check_all() {
	suffix=$1
	standards=$2
	shift 2
	for compiler in "$@"; do
		command -v "$compiler" >/dev/null || continue
		for standard in $standards; do
			compile "$compiler" "$standard" "$work/empty.$suffix" \
				2>/dev/null || continue
			if ! compile "$compiler" "$standard" \
				"$work/alone.$suffix"; then
				echo "$header: not $standard for $compiler" >&2
				exit 1
			fi
			ndone=$((ndone + 1))
		done
	done
}

check_all c 'c99 c11' "${CC:-cc}" gcc clang
nc=$ndone
check_all cc 'c++11 c++20' "${CXX:-c++}" c++ g++ clang++
if [ "$nc" -eq 0 ]; then
	echo "check_header: no C compiler was found" >&2
	exit 1
elif [ "$ndone" -eq "$nc" ]; then
	echo "check_header: no C++ compiler was found; try: make deps" >&2
	exit 1
fi
