#!/usr/bin/env bash
# Holds the options of each command against its man page and completions.
#
#	tests/check_tool_docs.sh TOOL MAN-PAGE BASH-COMPLETION ZSH-COMPLETION
#
# TOOL --help names the commands, and TOOL COMMAND --help their options. Each
# option must stand in the man page, in the section of its command or in one of
# options for all; be offered by bash, which is tried; and stand among those of
# its command for zsh. What a command does not have must not be offered, nor
# stand in its own section.
set -euo pipefail
export LC_ALL=C

tool=$1
page=$2
bash_words=$3
zsh_words=$4
bad=0

complain() {
	echo "check_tool_docs: $*" >&2
	bad=1
}

commands() {
	"$tool" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

options() {
	"$tool" "$1" --help | sed -nE 's/^  (-.,|   ) --([a-z0-9-]+).*/\2/p' |
		sort -u
}

# The man page's section of a command, or with "" all that is no command's.
section() {
	awk -v want="$1" '
	/^\.S[sh] / {
		title = substr($0, 5)
		gsub(",", "", title)
		own = ($1 == ".Ss")
	}
	want == "" { if (!own) print; next }
	own && index(" " title " ", " " want " ") { print }
	' "$page"
}

in_page() {
	sed -nE '/^\.It/s/.*Fl Fl ([a-z0-9-]+).*/\1/p' | sort -u
}

# What bash offers for "redisbatch COMMAND --".
offered() {
	"${BASH:-bash}" --norc -c '
	complete() { :; }
	. "$1"
	COMP_WORDS=(redisbatch "$2" --)
	COMP_CWORD=2
	_redisbatch
	printf "%s\n" "${COMPREPLY[@]}"' - "$bash_words" "$1" |
		sed 's/^--//' | sort -u
}

# The lines of a command and of all the arrays that it names, for zsh.
for_zsh() {
	local arrays
	arrays=$(awk -v want="$1" '
	/^\t[a-z|]+\)$/ {
		names = $1; sub(/\)/, "", names)
		inside = index("|" names "|", "|" want "|")
	}
	/^\t\t;;$/ { inside = 0 }
	inside' "$zsh_words")
	echo "$arrays"
	for name in connection tuning general \
		$(echo "$arrays" | sed -nE 's/^\t+\$([a-z]+)$/\1/p'); do
		awk -v start="^\t$name=\\\\($" '
		$0 ~ start { inside = 1; next }
		/^\t\)$/ { inside = 0 }
		inside' "$zsh_words"
	done
}

zsh_options() {
	for_zsh "$1" | sed -nE "s/^[^[]*(^|[^a-z-])--([a-z0-9-]+).*/\2/p" |
		sort -u
}

# Arguments: the command, where, and two lists that must be the same.
compare() {
	local name
	for name in $(comm -23 <(echo "$3") <(echo "$4")); do
		complain "--$name of $1 is not in $2"
	done
	for name in $(comm -13 <(echo "$3") <(echo "$4")); do
		complain "$2 has --$name, which $1 does not have"
	done
}

shared=$(section '' | in_page)
for command in $(commands); do
	real=$(options "$command")
	own=$(section "$command" | in_page)
	[ -n "$real" ] || complain "$command --help has no options"
	compare "$command" "$page" "$real" \
		"$({ echo "$own"; comm -12 <(echo "$shared") <(echo "$real"); } |
			grep . | sort -u)"
	compare "$command" "$bash_words" "$real" "$(offered "$command")"
	compare "$command" "$zsh_words" "$real" "$(zsh_options "$command")"
done
exit "$bad"
