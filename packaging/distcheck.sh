#!/bin/sh
# Does with a source file what somebody does who has nothing else.
#
#	packaging/distcheck.sh FILE
#
# In a folder of its own, away from any git: builds, runs the unit tests,
# installs, and uninstalls (installcheck). The file must also come out the same when it is
# made again.
set -eu

file=$PWD/$1
make=${MAKE:-make}
name=$(basename "$file" .tar.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# git is not to be found above, nor through the environment.
unset GIT_DIR GIT_WORK_TREE MAKEFLAGS MAKELEVEL MFLAGS
export GIT_CEILING_DIRECTORIES="$work"
jobs=-j$(nproc 2>/dev/null || echo 2)

cp "$file" "$work/first.tar.gz"
umask_was=$(umask)
umask 077
"$make" --no-print-directory -s dist
umask "$umask_was"
if ! cmp -s "$file" "$work/first.tar.gz"; then
	echo 'distcheck: a second time gives another file' >&2
	exit 1
fi

cd "$work"
tar -xzf first.tar.gz
cd "$name"
"$make" "$jobs" -s all
"$make" "$jobs" -s check-unit
"$make" -s installcheck
"$make" -s clean
tar -tzf "$work/first.tar.gz" | sed -e 's|/$||' | sort >"$work/packed"
(cd "$work" && find "$name") | sort >"$work/left"
if ! diff "$work/packed" "$work/left" >&2; then
	echo 'distcheck: make clean leaves more or less than was packed' >&2
	exit 1
fi
echo "distcheck: $name is good"
