#!/bin/sh
# User-mode instructions per key, by callgrind: reading 20,000 keys of 100 bytes
# with 1,000 in a chunk, request, reply and giving back together, less what a
# run that reads no key needs.
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

# The instructions of reading $2 keys by method $1. The server and the process
# that sets the keys are children, which write files of their own.
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

printf 'Instructions per key, %s keys of %s bytes\n' "$keys" "$bytes"
for method in library hiredis; do
	whole=$(count $method "$keys")
	empty=$(count $method 0)
	case $method in
	library) name=rb_mget_chunked ;;
	hiredis) name='hiredis, MGET loop' ;;
	esac
	awk -v name="$name" -v whole="$whole" -v empty="$empty" \
		-v keys="$keys" 'BEGIN {
		printf "%-24s %8.1f   (%d in all, %d for no key)\n", name,
			(whole - empty) / keys, whole, empty
	}'
done
