#!/bin/sh
# Runs fuzz targets, some at a time, and says how many inputs each has tried.
#
#	tests/fuzz/fuzz.sh SECONDS JOBS SEED PROGRAM...
#
# SEED 0 is another one each time.
#
# A program fuzz_NAME begins with the inputs in tests/fuzz/corpus/NAME and with
# what earlier runs have found, which is kept beside it in corpus/NAME. An input
# that makes it fail is kept beside it as NAME-crash-* or the like: fix the
# fault, and put the input into tests/fuzz/corpus/NAME. The last line is
#
#	N inputs tried, N targets failed
#
# and the exit status is 0 only if none did.
set -u

seconds=$1
jobs=$2
seed=$3
shift 3

logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
shares=
# shellcheck disable=SC2086
trap 'kill $shares 2>/dev/null; wait; exit 1' HUP INT TERM

# A target keeps its answers: its name, tries, exit status.
run_one() { # program
	folder=$(dirname "$1")
	name=$(basename "$1")
	name=${name#fuzz_}
	mkdir -p "$folder/corpus/$name"
	"$1" -max_total_time="$seconds" -seed="$seed" -print_final_stats=1 -timeout=20 \
		-rss_limit_mb=1024 -artifact_prefix="$folder/$name-" \
		"$folder/corpus/$name" "tests/fuzz/corpus/$name" \
		>"$logs/$name.log" 2>&1 </dev/null &
	running=$!
	wait "$running"
	status=$?
	echo "$name $(tried "$logs/$name.log") $status" >>"$logs/answers"
}

# From the statistics, or if it did not come to them, the last line of progress.
tried() { # log
	awk '
		/^stat::number_of_executed_units:/ { n = $2 }
		/^#[0-9]+/ { last = substr($1, 2) }
		END { print (n > last ? n : last) + 0 }
	' "$1"
}

# Every jobs-th program, one after another.
run_share() { # number program...
	number=$1
	shift
	trap 'kill "$running" 2>/dev/null; exit 1' HUP INT TERM
	for program in "$@"; do
		number=$((number - 1))
		[ $((number % jobs)) -ne 0 ] || run_one "$program"
	done
}

echo "fuzzing $# targets for $seconds s each, $jobs at a time"
: >"$logs/answers"
share=0
while [ "$share" -lt "$jobs" ]; do
	share=$((share + 1))
	run_share "$share" "$@" &
	shares="$shares $!"
done
wait

while read -r name tries status; do
	verdict=ok
	[ "$status" -eq 0 ] || verdict="FAILED, exit status $status"
	printf '  %-7s %s: %s, %s inputs tried\n' FUZZ "$name" "$verdict" "$tries"
	[ "$status" -eq 0 ] || tail -n 60 "$logs/$name.log" | sed 's/^/    /'
done <"$logs/answers"
awk -v wanted=$# '
	{ tries += $2; failed += $3 != 0 }
	END {
		failed += wanted - NR
		printf "%d inputs tried, %d targets failed\n", tries, failed
		exit failed != 0
	}
' "$logs/answers"
