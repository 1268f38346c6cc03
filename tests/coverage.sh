#!/bin/sh
# Says how much of lib/ the tests have reached, after they were run.
#
#	tests/coverage.sh BUILD MIN-LINES MIN-BRANCHES
#
# BUILD is the folder of the variant, in which a report is left: report/ has
# lines.txt, branches.txt and index.html. Fails when less than so many percent
# were reached.
#
# Counted is what stands in lib/, its headers among it. Not counted are the
# branches of assert(), which are there never to be taken. What else cannot be
# reached is counted; docs/testing.md lists it.
#
# GCOV: the gcov of the compiler that was used, gcov unless set.
set -eu

build=$1
min_lines=$2
min_branches=$3
report=$build/report

rm -rf "$report"
mkdir -p "$report"

# The counts are read once, and then shown in several ways.
gcovr --root . --filter lib/ --gcov-executable "${GCOV:-gcov}" \
	--exclude-branches-by-pattern '^\s*assert\(' \
	--json "$report/counts.json" "$build/lib" "$build/tests"

show() {
	gcovr --root . --add-tracefile "$report/counts.json" "$@"
}
show --txt "$report/lines.txt"
show --branches --txt "$report/branches.txt"
show --html-details "$report/index.html"

# Exits with 2, 4 or 6 when lines, branches or both fall short.
show --print-summary --fail-under-line "$min_lines" \
	--fail-under-branch "$min_branches" >"$report/summary.txt" ||
	fallen=$?
sed -nE 's/^(lines|branches): */\1 /p' "$report/summary.txt"
echo "report in $report"
[ "${fallen:-0}" -eq 0 ] || {
	echo "coverage.sh: wanted are $min_lines % of the lines," \
		"$min_branches % of the branches" >&2
	exit 1
}
