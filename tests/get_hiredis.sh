#!/bin/sh
# Fetches a hiredis of the 1.x line, with its TLS library, into a folder, and
# tells pkg-config of it in FOLDER/pkgconfig. It needs no more than an old C
# library and OpenSSL 3, so programs built with it run on Debian 12.
#
#	tests/get_hiredis.sh FOLDER
set -eu

folder=$1
"$(dirname "$0")/unpack.sh" trixie "$folder" libhiredis-dev libhiredis1.1.0
cd "$folder"
lib=$(dirname "$(find "$PWD/usr/lib" -name libhiredis.a)")
mkdir -p pkgconfig
for module in hiredis hiredis_ssl; do
	sed -e "s|^prefix=.*|prefix=$PWD/usr|" -e "s|^libdir=.*|libdir=$lib|" \
		-e 's|^includedir=.*|includedir=${prefix}/include|' \
		-e 's|^pkgincludedir=.*|pkgincludedir=${includedir}/hiredis|' \
		"$lib/pkgconfig/$module.pc" >"pkgconfig/$module.pc"
done
