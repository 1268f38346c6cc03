#!/bin/sh
# Builds the packages for Debian from a source file.
#
#	packaging/deb.sh FILE VERSION MAJOR SECONDS FOLDER
#
# The version and the name of the library's package, which has the major
# version in it, come from the public header: what is in packaging/debian has
# @version@ and @major@ in their places. lintian's errors are errors here, where
# it is installed.
set -eu

file=$PWD/$1
version=$2
major=$3
time=$4
folder=$5
rules=$PWD/packaging/debian

if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
	echo 'deb needs dpkg-dev and debhelper' >&2
	exit 1
fi

render() {
	date=$(LC_ALL=C date -u -R -d "@$time")
	sed -e "s|@version@|$version|g" -e "s|@major@|$major|g" \
		-e "s|@date@|$date|g" "$1"
}

# The files of the library's package have its name.
place() {
	cp -R "$rules" debian
	for file in control changelog libredisbatch.symbols; do
		render "$rules/$file.in" >"debian/$file"
		rm "debian/$file.in"
	done
	for kind in install symbols; do
		mv "debian/libredisbatch.$kind" \
			"debian/libredisbatch$major.$kind"
	done
}

rm -rf "$folder"
mkdir -p "$folder"
tar -C "$folder" -xzf "$file"
cp "$file" "$folder/redisbatch_$version.orig.tar.gz"
cd "$folder/redisbatch-$version"
place
# This make's variables are none of the package's business.
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u PKG_CONFIG -u V -u CC -u CXX \
	dpkg-buildpackage -us -uc -b
cd ..
if command -v lintian >/dev/null; then
	# This is no upload to Debian, where a bug asks for new packages.
	lintian --fail-on error --info \
		--suppress-tags initial-upload-closes-no-bugs ./*.changes
else
	echo 'deb: not looked at by lintian, which is not installed'
fi
ls -- *.deb
