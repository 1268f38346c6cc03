#!/bin/sh
# Builds the examples as a user would, and runs them on a server of their own.
#
#	tests/check_examples.sh PREFIX EXAMPLE.c...
#
# The library is installed at PREFIX. Nothing but pkg-config tells the
# compiler where it is. Each example is built with the shared and with the
# static library, gets the URI of the server as its argument, and must exit
# with 0.
set -eu

. "$(dirname "$0")/own_server.sh"
prefix=$1
shift
work=$(mktemp -d)
finish() {
	stop_server
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

# Arguments: the linking, how pkg-config is to be asked, more for the compiler.
check() {
	linking=$1
	modules=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	"${CC:-cc}" -Wall -Wextra -Werror "$example" -o "$work/example" "$@" \
		$("$pkg_config" --cflags --libs $modules)
	if ! LD_LIBRARY_PATH="$libs" DYLD_LIBRARY_PATH="$libs" \
		"$work/example" "unix://$work/server.sock" \
		>"$work/output" 2>&1; then
		echo "$example, $linking: failed" >&2
		cat "$work/output" >&2
		exit 1
	fi
}

[ $# -gt 0 ] || exit 0
pkg_config=${PKG_CONFIG:-pkg-config}
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:${PKG_CONFIG_PATH:-}"
libs=$prefix/lib:$("$pkg_config" --variable=libdir hiredis)

# A folder with the static library alone makes the linker take that one.
mkdir "$work/static"
cp "$prefix/lib/libredisbatch.a" "$work/static"

start_server "$work" check_examples
for example in "$@"; do
	printf '  %-7s %s\n' EXAMPLE "$example"
	check shared redisbatch
	check static '--static redisbatch' -L"$work/static"
done
