#!/bin/sh
# Runs cmocka programs, a few at a time, and counts their tests.
#
#	tests/run.sh PROGRAM...
#
# One line a program, with the seconds it took; what it printed follows when it
# failed, and always with V=1. A program that crashes, hangs, or does not run all
# the tests it announced counts as one more failure. The last line is
#
#	N passed, N failed, N skipped
#
# and the exit status is 0 only if nothing failed. With CI=true a skipped test
# is an error too, since there is nothing there that may be missing.
#
# TEST_TIMEOUT: seconds that one program may take, 300 unless set.
# TEST_JOBS: how many run at a time; unless set, one for each processor, and four
# at most. They mostly wait: for servers, for each other, for time to pass.
set -u

export CMOCKA_MESSAGE_OUTPUT=tap
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1}"

seconds=${TEST_TIMEOUT:-300}
output=
dir=

# The parts of a run call this again for one program: --one, the folder for its
# counts, the program.
case ${1:-} in
--one)
	dir=$2
	output=$(mktemp "$dir/output.XXXXXX") || exit 1
	shift 2
	;;
*)
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 1' HUP INT TERM
	;;
esac

# timeout(1) ends the whole process group, servers of the test among it.
bounded() {
	if command -v timeout >/dev/null 2>&1; then
		timeout -k 10 "$seconds" "$@"
	else
		"$@"
	fi
}

# Prints: announced passed failed skipped. A skipped test is "ok 2 # SKIP name",
# and "not ok 2 # SKIP name" up to cmocka 1.1.5. "# ok" and "# not ok" are the
# sums of groups.
count() {
	awk '
		/^1\.\.[0-9]+/ { announced += substr($1, 4) }
		/^(not )?ok [0-9]+ # SKIP/ { skipped++; next }
		/^ok / { passed++ }
		/^not ok / { failed++ }
		END { print announced + 0, passed + 0, failed + 0, skipped + 0 }
	' "$1"
}

# Sets problem to what went wrong with the program as a whole, if anything.
judge() { # exit-status announced passed failed skipped
	problem=
	if [ "$1" -eq 124 ]; then
		problem="not done after $seconds s"
	elif [ "$1" -gt 128 ]; then
		problem="killed by signal $(($1 - 128))"
	elif [ "$2" -eq 0 ]; then
		problem="announced no tests, exit status $1"
	elif [ $(($3 + $4 + $5)) -lt "$2" ]; then
		problem="ran $(($3 + $4 + $5)) of $2 tests, exit status $1"
	elif [ "$1" -ne 0 ] && [ "$4" -eq 0 ]; then
		problem="exit status $1"
	fi
}

# One line in the file of counts, and the report on standard output.
run_one() {
	program=$1
	begin=$(date +%s)
	bounded "$program" >"$output" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - begin))
	# shellcheck disable=SC2046
	set -- $(count "$output")
	judge "$status" "$@"
	[ -z "$problem" ] || set -- "$1" "$2" $(($3 + 1)) "$4"
	echo "$2 $3 $4" >>"$dir/counts"

	verdict=ok
	[ "$4" -eq 0 ] || verdict="ok, $4 skipped"
	[ "$3" -eq 0 ] || verdict="FAILED${problem:+: $problem}"
	printf '  %-7s %s: %s, %s s\n' TEST "$program" "$verdict" "$took"
	if [ "$3" -gt 0 ] || [ "${V:-0}" = 1 ]; then
		sed 's/^/    /' "$output"
	fi
}

processors() {
	n=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || n=1
	if [ "$n" -gt 4 ]; then echo 4; else echo "$n"; fi
}

if [ -n "$output" ]; then
	run_one "$1"
	exit 0
fi

# What is not counted in the end was lost, and fails.
: >"$dir/counts"
[ $# -eq 0 ] || printf '%s\0' "$@" |
	xargs -0 -n 1 -P "${TEST_JOBS:-$(processors)}" "$0" --one "$dir"
lost=$(($# - $(wc -l <"$dir/counts")))
# shellcheck disable=SC2046
set -- $(awk '{ p += $1; f += $2; s += $3 }
	END { print p + 0, f + 0, s + 0 }' "$dir/counts")
passed=$1
failed=$(($2 + lost))
skipped=$3

wrong=$failed
if [ "${CI:-}" = true ] && [ "$skipped" -gt 0 ]; then
	echo "run.sh: $skipped tests were skipped, which CI does not allow" >&2
	wrong=$((wrong + skipped))
elif [ "${CI:-}" = true ] && [ "$passed" -eq 0 ]; then
	echo "run.sh: no test was run" >&2
	wrong=$((wrong + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$wrong" -eq 0 ]
