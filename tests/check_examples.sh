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

prefix=$1
shift
work=$(mktemp -d)
server=
finish() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || :
		wait "$server" 2>/dev/null || :
	fi
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

start_server() {
	program=$(command -v redis-server || command -v valkey-server) || {
		echo "check_examples: no redis-server and no valkey-server" >&2
		exit 1
	}
	"$program" --port 0 --unixsocket "$work/server.sock" --save "" \
		--appendonly no --dir "$work" >"$work/server.log" 2>&1 &
	server=$!
	tries=0
	until [ -S "$work/server.sock" ]; do
		tries=$((tries + 1))
		if [ "$tries" -gt 200 ] || ! kill -0 "$server"; then
			cat "$work/server.log" >&2
			exit 1
		fi
		sleep 0.05
	done
}

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

start_server
for example in "$@"; do
	printf '  %-7s %s\n' EXAMPLE "$example"
	check shared redisbatch
	check static '--static redisbatch' -L"$work/static"
done
