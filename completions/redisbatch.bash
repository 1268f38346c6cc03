# Completion of redisbatch for bash. The options of each command are those of
# its --help; `make check` holds one against the other.

_redisbatch_connection='--uri --host --port --socket --db --cluster --user
	--askpass --pass-file --pass --tls --cacert --cert --key --sni --insecure'
_redisbatch_tuning='--chunk-keys --chunk-args --chunk-bytes --reply-bytes
	--window --window-bytes --max-value --timeout --connect-timeout --rate
	--attempts --failover --size-first --lanes --replicas'
_redisbatch_report='--progress --failed --price --quiet'
_redisbatch_general='--help --version'
_redisbatch_work='--value-size --rtt --prefix'

# The options of the command $1; nothing if there is no such command.
_redisbatch_options() {
	local own
	case $1 in
	mget) own="--keys --null --scan --count --hash --format --output
		--no-missing --missing --null-out $_redisbatch_report" ;;
	mset) own="--format --no-escapes --header --ttl --nx --xx --transaction
		--retry-writes --dry-run $_redisbatch_report" ;;
	pipeline) own="--format --format-out --output --quiet-replies
		--transaction --retry-writes --strict --stop-on-error
		$_redisbatch_report" ;;
	del | exists | touch) own="--keys --null $_redisbatch_report" ;;
	bench) own="--keys --rounds --methods --price --json --csv --plot
		$_redisbatch_work" ;;
	tune) own="--guard --budget --keys --json $_redisbatch_work" ;;
	*) return ;;
	esac
	echo "$own $_redisbatch_connection $_redisbatch_tuning" \
		"$_redisbatch_general"
}

# The values of the option $2 of the command $1 that are known; "file" if it is
# the name of one; "free" if it is anything else; nothing if it takes none.
_redisbatch_values() {
	case $1:$2 in
	mget:--format | mget:-f) echo tsv json csv raw table ;;
	mset:--format | mset:-f) echo tsv csv json ;;
	pipeline:--format) echo text resp ;;
	*:--format-out) echo text tsv json raw ;;
	*:--progress) echo auto bar plain none ;;
	*:--methods) echo get pipeline pipeline-chunks mget mget-chunks window \
		stream ;;
	bench:--keys | tune:--keys) echo free ;;
	*:--keys | *:-k | *:--output | *:-o | *:--failed | *:--plot) echo file ;;
	*:--socket | *:-s | *:--pass-file) echo file ;;
	*:--cacert | *:--cert | *:--key) echo file ;;
	*:--cluster | *:--askpass | *:--tls | *:--insecure) ;;
	*:--size-first | *:--replicas | *:--quiet | *:--help) ;;
	*:--version | *:--null | *:--no-missing | *:--null-out) ;;
	*:--no-escapes | *:--header | *:--nx | *:--xx) ;;
	*:--transaction | *:--retry-writes | *:--dry-run) ;;
	*:--quiet-replies | *:--strict | *:--stop-on-error) ;;
	*:--json | *:--csv) ;;
	*:--* | *:-[uhpna]) echo free ;;
	esac
}

# What compgen says, a line each, since names may have blanks.
_redisbatch_offer() {
	local line

	COMPREPLY=()
	while IFS= read -r line; do
		COMPREPLY+=("$line")
	done < <(compgen "$@")
}

_redisbatch_value() {
	case $1 in
	file) _redisbatch_offer -f -- "$2" ;;
	free) COMPREPLY=() ;;
	*) _redisbatch_offer -W "$1" -- "$2" ;;
	esac
	[ "$1" != file ] || compopt -o filenames 2>/dev/null
}

_redisbatch() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} values

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		_redisbatch_offer -W 'mget mset pipeline del exists touch bench
			tune --help --version' -- "$word"
		return
	fi
	# readline takes --option=value apart, at the sign.
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	values=$(_redisbatch_values "$command" "$before")
	if [ -n "$values" ]; then
		_redisbatch_value "$values" "$word"
	elif [ "${word#-}" != "$word" ]; then
		_redisbatch_offer -W "$(_redisbatch_options "$command")" \
			-- "$word"
	elif [ "$command" = mset ] || [ "$command" = pipeline ]; then
		_redisbatch_value file "$word"
	fi
}

complete -F _redisbatch redisbatch
