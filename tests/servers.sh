#!/bin/sh
# Runs tests once with each of several servers.
#
#	tests/servers.sh 'SERVER...' PROGRAM...
#
# A SERVER is a path or a name; a name is looked for in PATH, and then among
# what was unpacked into build/servers. One closing line of tests/run.sh for each
# that is there. Those that are not are named, which with CI=true is an error.
set -u

servers=$1
shift
status=0
nruns=0

find_server() { # name or path
	command -v "$1" && return
	for path in build/servers/*/usr/bin/"$1"; do
		if [ -x "$path" ]; then
			echo "$PWD/$path"
			return
		fi
	done
	return 1
}

for name in $servers; do
	if ! program=$(find_server "$name"); then
		echo "servers.sh: $name: not to be found" >&2
		[ "${CI:-}" != true ] || status=1
		continue
	fi
	nruns=$((nruns + 1))
	echo "with $program: $("$program" --version)"
	RB_TEST_SERVER=$program tests/run.sh "$@" || status=1
done

if [ "$nruns" -eq 0 ]; then
	echo "servers.sh: there is none of: $servers" >&2
	exit 1
fi
exit "$status"
