#!/bin/sh
# Holds what stands in pages of Markdown to the library and the command.
#
#	tests/check_docs.sh PAGE...
#
# Each ```c block is compiled, without a warning. One with a main() is a program,
# and linked; any other is a fragment, to which tests/docs/preamble.h says what
# it may suppose. In a fragment functions come first, and statements behind them.
# A comment alone on the line before a block may say more:
#
#	<!-- run -->                  a program: it must exit with 0 when its
#	                              argument is the URI of a server, and print
#	                              what the next block says, if that is ```text
#	<!-- if: CONDITION -->        a fragment for some versions of hiredis only;
#	                              what #if takes
#	<!-- not compiled: REASON -->
#
# Where a line runs `redisbatch COMMAND`, that command has all options on it.
# Links to other pages lead to a page, and to a heading that is there.
#
# DOCS_CFLAGS and DOCS_LIBS: how programs are built here. TOOL: the command, if
# there is one.
set -eu

. "$(dirname "$0")/own_server.sh"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
bad=0
finish() {
	stop_server
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

complain() {
	echo "check_docs: $*" >&2
	bad=1
}

# ------------------------------------------------------------------- code --

# Arguments: more for the compiler.
compile() {
	# shellcheck disable=SC2086
	"${CC:-cc}" -Wall -Wextra -Werror ${DOCS_CFLAGS:-} "$@"
}

# A fragment declares what the lines behind it would use. A status that is not
# looked at is an error there too.
check_fragment() {
	compile -Wno-unused-variable -Wno-unused-but-set-variable \
		-Wno-unused-function -c "$work/$1.c" -o "$work/$1.o" || bad=1
}

check_program() {
	# shellcheck disable=SC2086
	compile "$work/$1.c" -o "$work/$1" ${DOCS_LIBS:-} || bad=1
}

run_program() { # number where
	check_program "$1"
	[ -x "$work/$1" ] || return 0
	[ -n "$server" ] || start_server "$work" check_docs
	if ! "$work/$1" "unix://$work/server.sock" >"$work/$1.said" \
		2>"$work/$1.errors"; then
		complain "$2: the program failed"
		cat "$work/$1.said" "$work/$1.errors" >&2
	elif [ -e "$work/$1.want" ] &&
		! diff -u "$work/$1.want" "$work/$1.said" >&2; then
		complain "$2: prints something else than the page says"
	fi
}

check_code() {
	awk -v work="$work" -v preamble="$here/docs/preamble.h" \
		-f "$here/docs/extract.awk" "$@" >"$work/blocks" || bad=1
	while read -r kind number where; do
		case $kind in
		fragment) check_fragment "$number" ;;
		program) check_program "$number" ;;
		run) run_program "$number" "$where" ;;
		esac
	done <"$work/blocks"
}

# --------------------------------------------------------------- commands --

# Each option of each `redisbatch COMMAND` line: the command, the option, where.
# Comments begin with two blanks, and quoted words may hold anything.
options_used() {
	awk '/(^|[ |])redisbatch [a-z]+ / && /^(    |[^-|#>* ]).*/ {
		if (!fenced && $0 !~ /^    /)
			next
		sub(/  +#.*/, "")
		gsub(/'\''[^'\'']*'\''/, "QUOTED")
		sub(/.*redisbatch /, "")
		sub(/ [|>].*/, "")
		for (i = 2; i <= NF; i++) {
			if ($i !~ /^-./)
				continue
			sub(/=.*/, "", $i)
			print $1, $i, FILENAME ":" FNR
		}
	}
	/^```/ { fenced = !fenced && $0 ~ /^```sh/ }' "$@"
}

check_options() {
	options_used "$@" | sort -u >"$work/options"
	while read -r command option where; do
		[ -e "$work/$command.help" ] || "$TOOL" "$command" --help \
			>"$work/$command.help" 2>&1 || :
		grep -Eq "^  ( *|-., )$option([^a-z-]|\$)|^  $option," \
			"$work/$command.help" ||
			complain "$where: $command has no option $option"
	done <"$work/options"
}

# ------------------------------------------------------------------ links --

# Each link to a file, or within the page: the target.
links() {
	awk '/^```/ { fenced = !fenced }
	!fenced {
		while (match($0, /\]\([^)]*\)/)) {
			target = substr($0, RSTART + 2, RLENGTH - 3)
			$0 = substr($0, RSTART + RLENGTH)
			if (target !~ /^[a-z]*:/)
				print target
		}
	}' "$1" | sort -u
}

# The names by which the headings of a page can be linked to.
anchors() {
	sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}

check_links() { # page
	links "$1" >"$work/links" || :
	while read -r target; do
		file=$(dirname "$1")/${target%%#*}
		case $target in '#'*) file=$1 ;; esac
		if [ ! -e "$file" ]; then
			complain "$1: there is no $target"
			continue
		fi
		case $target in
		*.md#* | '#'*)
			anchors "$file" | grep -qx -e "${target#*#}" ||
				complain "$1: there is no heading $target"
			;;
		esac
	done <"$work/links"
}

check_code "$@"
[ -z "${TOOL:-}" ] || check_options "$@"
for page in "$@"; do
	check_links "$page"
done
printf '  %-7s %s\n' DOCS "$(grep -c . "$work/blocks") blocks of code"
exit "$bad"
