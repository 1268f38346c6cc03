#!/bin/sh
# The steps of `make installcheck` that are more than a call of make.
#
#	tests/installcheck.sh use PREFIX     build and run a program with it
#	tests/installcheck.sh staged PREFIX  the files are there
#	tests/installcheck.sh gone FOLDER    no file is left, nor a folder of ours
#
# WITH: "tool" if the redisbatch command was installed too; it is not there
# otherwise.
set -eu

step=$1
prefix=$2

files() {
	echo include/redisbatch/redisbatch.h
	echo lib/libredisbatch.a
	echo lib/pkgconfig/redisbatch.pc
	echo share/man/man3/redisbatch.3
	echo share/man/man3/rb_mget_chunked.3
	echo share/man/man3/rb_hmget_chunked.3
	echo lib/cmake/redisbatch/redisbatch-config.cmake
	echo lib/cmake/redisbatch/redisbatch-config-version.cmake
	case $(uname) in
	Darwin) echo lib/libredisbatch.dylib ;;
	*) echo lib/libredisbatch.so ;;
	esac
	[ "${WITH:-}" != tool ] || tool_files
}

tool_files() {
	echo bin/redisbatch
	echo share/man/man1/redisbatch.1
	echo share/bash-completion/completions/redisbatch
	echo share/zsh/site-functions/_redisbatch
}

# What a link leads to is there, and names it.
check_links() {
	for link in $(grep -l '^\.so ' "$prefix"/share/man/man3/*.3); do
		name=$(basename "$link" .3)
		page=$prefix/share/man/$(sed 's/^\.so //' "$link")
		if ! grep -q "^\.Nm $name\( ,\)\{0,1\}$" "$page"; then
			echo "installcheck: $link leads nowhere" >&2
			exit 1
		fi
	done
}

check_files() {
	for file in $(files); do
		if [ ! -e "$prefix/$file" ]; then
			echo "installcheck: no $file in $prefix" >&2
			exit 1
		fi
	done
	check_links
	[ "${WITH:-}" != tool ] || return 0
	for file in $(tool_files); do
		if [ -e "$prefix/$file" ]; then
			echo "installcheck: $file without the tool" >&2
			exit 1
		fi
	done
}

# The command runs from where it is, and finds its libraries.
try_tool() {
	said=$("$prefix/bin/redisbatch" --version)
	if [ "$said" != "redisbatch $version" ]; then
		echo "installcheck: the command says $said" >&2
		exit 1
	fi
	printf '  %-7s %s\n' INSTALL "$said"
}

# A program that calls hiredis and the library, and needs no server.
write_program() {
	cat >"$work/program.c" <<'END'
#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <stdio.h>

int main(void)
{
	redisReader *reader = redisReaderCreate();

	redisReaderFree(reader);
	printf("%s\n", rb_version());
	return 0;
}
END
}

# Arguments: the linking, more for pkg-config, more for the compiler.
try() {
	# shellcheck disable=SC2046,SC2086
	"${CC:-cc}" -Wall -Wextra -Werror "$work/program.c" \
		-o "$work/program" $3 \
		$("$pkg_config" --cflags --libs $2 redisbatch)
	said=$(LD_LIBRARY_PATH="$libs" DYLD_LIBRARY_PATH="$libs" \
		"$work/program")
	if [ "$said" != "$version" ]; then
		echo "installcheck: $1: rb_version() is $said, not $version" >&2
		exit 1
	fi
	printf '  %-7s %s\n' INSTALL "$1 library, $said"
}

# The same program, built by CMake. Arguments: where the library is.
try_cmake() {
	if ! command -v cmake >/dev/null; then
		echo 'installcheck: CMake was not tried: it is not here'
		return 0
	fi
	rm -rf "$work/cmake"
	if ! (cmake -S tests/consumers -B "$work/cmake" \
		-DSOURCES="$work/program.c" -DVERSION="$version" \
		-Dredisbatch_DIR="$1/lib/cmake/redisbatch" &&
		cmake --build "$work/cmake") >"$work/cmake.log" 2>&1; then
		cat "$work/cmake.log" >&2
		exit 1
	fi
	for linking in shared static; do
		said=$("$work/cmake/program_$linking")
		if [ "$said" != "$version" ]; then
			echo "installcheck: CMake, $linking: $said" >&2
			exit 1
		fi
		printf '  %-7s %s\n' INSTALL "$linking library by CMake, $2"
	done
}

# What was installed may be moved.
try_moved() {
	mkdir "$work/moved"
	mv "$prefix/lib" "$prefix/include" "$work/moved"
	try_cmake "$work/moved" moved
	mv "$work/moved/lib" "$work/moved/include" "$prefix"
}

use() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	pkg_config=${PKG_CONFIG:-pkg-config}
	export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:${PKG_CONFIG_PATH:-}"
	hiredis=$("$pkg_config" --variable=libdir hiredis)
	libs=$prefix/lib:$hiredis
	# The linker, too, looks there for what the library itself needs.
	export LD_LIBRARY_PATH="$hiredis" DYLD_LIBRARY_PATH="$hiredis"
	version=$("$pkg_config" --modversion redisbatch)
	write_program
	try shared '' ''
	# A folder with the static library alone makes the linker take it.
	mkdir "$work/static"
	cp "$prefix/lib/libredisbatch.a" "$work/static"
	try static --static "-L$work/static"
	[ "${WITH:-}" != tool ] || try_tool
	try_cmake "$prefix" installed
	try_moved
}

check_gone() {
	[ -e "$prefix" ] || return 0
	left=$(find "$prefix" ! -type d -o -name '*redisbatch*')
	if [ -n "$left" ]; then
		echo "installcheck: uninstall left:" >&2
		echo "$left" >&2
		exit 1
	fi
}

case $step in
use)
	check_files
	use
	;;
staged) check_files ;;
gone) check_gone ;;
*) exit 2 ;;
esac
