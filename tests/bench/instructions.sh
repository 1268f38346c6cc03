#!/bin/sh
# User-mode instructions per entry, by callgrind: 20,000 keys of 100 bytes with
# 1,000 in a chunk, request, reply and giving back together, less what a run
# without a key needs.
#
#	tests/bench/instructions.sh build/release/bench/bench [keys [bytes]]
set -eu

bench=$1
keys=${2:-20000}
bytes=${3:-100}

if ! command -v valgrind >/dev/null; then
	echo 'instructions skipped: valgrind is not installed'
	exit 0
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/redisbatch-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The instructions of method $1 for $2 keys. The server and the process that
# sets the keys are children, which write files of their own.
count() {
	if ! valgrind --tool=callgrind --collect-atstart=no \
		--toggle-collect=rbt_instructions_counted \
		--callgrind-out-file="$dir/$1.$2.%p" --log-file="$dir/log.%p" \
		"$bench" -n "$keys" -s "$bytes" instructions "$1" "$2" \
		>"$dir/said" 2>&1; then
		cat "$dir/said" >&2
		return 1
	fi
	awk '/^(summary|totals):/ && $2 > most { most = $2 }
		END { printf "%d\n", most }' "$dir/$1.$2".*
}

show() {
	whole=$(count "$1" "$keys")
	empty=$(count "$1" 0)
	awk -v name="$2" -v whole="$whole" -v empty="$empty" \
		-v keys="$keys" 'BEGIN {
		printf "%-23s %8.1f   (%d in all, %d for no key)\n", name,
			(whole - empty) / keys, whole, empty
	}'
}

printf 'Instructions per entry, %s values of %s bytes\n' "$keys" "$bytes"
show rb_mget_chunked rb_mget_chunked
show rb_mget_stream rb_mget_stream
show hiredis-mget 'hiredis, MGET loop'
show rb_mset_chunked rb_mset_chunked
show hiredis-mset 'hiredis, MSET loop'
show rb_pipeline_chunked rb_pipeline_chunked
show rb_pipeline_stream rb_pipeline_stream
show hiredis-gets 'hiredis, chunks of GETs'
show cluster-mget 'cluster, MGETs by slot'
show cluster-gets 'cluster, hiredis GETs'
show cluster-mset 'cluster, MSETs by slot'
show cluster-sets 'cluster, hiredis SETs'
