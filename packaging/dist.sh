#!/bin/sh
# Packs the files of the last commit; the same commit gives the same bytes.
#
#	packaging/dist.sh NAME SECONDS FILE
#
# All is below the folder NAME, belongs to root and is SECONDS since 1970 old.
# It needs git and GNU tar.
set -eu

name=$1
time=$2
file=$3

if ! git rev-parse --verify -q HEAD >/dev/null; then
	echo 'dist: this is no clone of the repository' >&2
	exit 1
fi
if ! git diff --quiet HEAD --; then
	echo 'dist: what is not committed is left out' >&2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
git archive --prefix="$name/" HEAD >"$work/git.tar"
tar -C "$work" -xf "$work/git.tar"
tar -C "$work" -cf "$work/dist.tar" --format=ustar --sort=name \
	--owner=root:0 --group=root:0 --mode='u=rwX,go=rX' \
	--mtime="@$time" "$name"
gzip -n -9 <"$work/dist.tar" >"$work/dist.tar.gz"
mv "$work/dist.tar.gz" "$file"
