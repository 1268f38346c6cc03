#!/bin/sh
# Builds programs of somebody else's against an installed library, in every way
# that linkers and build systems offer, and runs them on a server of their own.
#
#	tests/check_consumers.sh PREFIX
#
# A way that this system does not have is named and passed over.
set -eu

here=$(dirname "$0")
. "$here/own_server.sh"
prefix=$1
work=$(mktemp -d)
finish() {
	stop_server
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

pkg_config=${PKG_CONFIG:-pkg-config}
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:${PKG_CONFIG_PATH:-}"
# The linker, too, looks there for what the library itself needs.
hiredis=$("$pkg_config" --variable=libdir hiredis)
export LD_LIBRARY_PATH="$hiredis"
libs=$prefix/lib:$hiredis
version=$("$pkg_config" --modversion redisbatch)

# Arguments: the way it was built, the program.
run() {
	if ! LD_LIBRARY_PATH="$libs" DYLD_LIBRARY_PATH="$libs" \
		"$2" "unix://$work/server.sock" >"$work/output" 2>&1; then
		echo "check_consumers: ${2##*/}, $1: failed" >&2
		cat "$work/output" >&2
		exit 1
	fi
	printf '  %-7s %s\n' CONSUME "${2##*/}, $1"
}

passed_over() {
	echo "check_consumers: passed over: $*"
}

# Arguments: the way, what pkg-config is asked, source, compiler and options.
build() {
	way=$1
	modules=$2
	source=$3
	shift 3
	program=$work/$(basename "${source%.c*}")
	# shellcheck disable=SC2046,SC2086
	"$@" -Wall -Wextra -Werror "$here/consumers/$source" -o "$program" \
		-L"$work/$way" $("$pkg_config" --cflags --libs $modules)
}

# A folder with the static library alone makes the linker take that one.
make_folders() {
	mkdir "$work/shared" "$work/static" "$work/wholly static"
	cp "$prefix/lib/libredisbatch.a" "$work/static"
}

# Arguments: source, compiler and its options.
both_ways() {
	source=$1
	shift
	build shared redisbatch "$source" "$@"
	run "$*, shared" "$program"
	build static '--static redisbatch' "$source" "$@"
	run "$*, static" "$program"
}

have_static_parts() {
	echo 'int main(void) { return 0; }' >"$work/try.c"
	# shellcheck disable=SC2046
	"${CC:-cc}" -static "$work/try.c" -o "$work/try" \
		$("$pkg_config" --static --libs hiredis) 2>/dev/null
}

# Nothing is shared, the C library not either.
wholly_static() {
	if ! have_static_parts; then
		passed_over 'cc -static: not all libraries are there for it'
		return 0
	fi
	build 'wholly static' '--static redisbatch' consumer.c \
		"${CC:-cc}" -static 2>"$work/warnings" || {
		cat "$work/warnings" >&2
		exit 1
	}
	run "${CC:-cc} -static" "$program"
}

compilers() {
	for compiler in "$@"; do
		! command -v "$compiler" >/dev/null || echo "$compiler"
	done
}

by_cmake() {
	if ! command -v cmake >/dev/null; then
		passed_over 'CMake, which is not here'
		return 0
	fi
	sources=
	for source in consumer.c clash.c wrapper.cc; do
		sources="$sources;$PWD/$here/consumers/$source"
	done
	if ! (cmake -S "$here/consumers" -B "$work/cmake" \
		-DSOURCES="${sources#;}" -DVERSION="$version" \
		-Dredisbatch_DIR="$prefix/lib/cmake/redisbatch" &&
		cmake --build "$work/cmake") >"$work/cmake.log" 2>&1; then
		cat "$work/cmake.log" >&2
		exit 1
	fi
	for program in "$work"/cmake/*_shared "$work"/cmake/*_static; do
		run CMake "$program"
	done
}

# Neither more than is there, nor a version to come.
refused_by_cmake() {
	command -v cmake >/dev/null || return 0
	if cmake -S "$here/consumers" -B "$work/newer" -DSOURCES= \
		-DVERSION="${version%%.*}.999" \
		-Dredisbatch_DIR="$prefix/lib/cmake/redisbatch" \
		>"$work/cmake.log" 2>&1; then
		echo 'check_consumers: CMake takes an older version' >&2
		exit 1
	fi
}

make_folders
start_server "$work" check_consumers
for compiler in $(compilers "${CC:-cc}" gcc clang | sort -u); do
	both_ways consumer.c "$compiler"
	both_ways clash.c "$compiler"
done
for compiler in $(compilers "${CXX:-c++}" g++ clang++ | sort -u); do
	both_ways wrapper.cc "$compiler" -std=c++11
done
wholly_static
by_cmake
refused_by_cmake
