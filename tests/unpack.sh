#!/bin/sh
# Unpacks packages of another release of Debian into a folder, to build and test
# with. Nothing is installed, and the system's own lists stay as they are.
#
#	tests/unpack.sh RELEASE FOLDER PACKAGE...
#
# The mirror is the one that the system takes its own packages from. Done once:
# a FOLDER that is complete has a file named "unpacked" in it.
set -eu

release=$1
folder=$2
shift 2

[ ! -e "$folder/unpacked" ] || exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
	echo "unpack: only Debian's packages are known: $*" >&2
	exit 1
fi

mirror=$("$(dirname "$0")/mirror.sh")

# A world of its own for apt: its list, its index, and no installed package.
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
cd "$folder"
apt=$PWD/apt
: >"$apt/status"
printf 'deb [signed-by=%s] %s %s main\n' \
	/usr/share/keyrings/debian-archive-keyring.gpg "$mirror" "$release" \
	>"$apt/sources.list"

of_release() {
	apt-get -qq \
		-o "Dir::Etc::sourcelist=$apt/sources.list" \
		-o 'Dir::Etc::sourceparts=/dev/null' \
		-o "Dir::State::lists=$apt/lists" \
		-o "Dir::State::status=$apt/status" \
		-o "Dir::Cache::archives=$apt/archives" \
		-o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" \
		-o 'APT::Sandbox::User=root' "$@"
}

echo "unpack: $* of Debian $release, into $folder"
of_release update
of_release download "$@"
for package in *.deb; do
	dpkg -x "$package" .
done
rm -rf "$apt" ./*.deb
: >unpacked
