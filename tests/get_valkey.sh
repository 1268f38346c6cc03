#!/bin/sh
# Makes sure of a valkey-server, and prints its path on the last line: the one
# in PATH, or else Debian's, from the backports where the release has none of
# its own. That one is unpacked into a folder; nothing is installed or started.
#
#	tests/get_valkey.sh FOLDER
set -eu

folder=$1

if command -v valkey-server; then
	exit 0
fi
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
if ! apt-cache policy valkey-server 2>/dev/null | grep -q 'Candidate: [0-9]'
then
	release=$release-backports
fi
# The program itself is in valkey-tools, and valkey-server is a link to it.
"$(dirname "$0")/unpack.sh" "$release" "$folder" valkey-server valkey-tools
program=$folder/usr/bin/valkey-server
"$program" --version
echo "$program"
