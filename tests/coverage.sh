#!/bin/sh
# Says how much of lib/ and of src/ the tests have reached, after they were run.
#
#	tests/coverage.sh BUILD MIN-LINES MIN-BRANCHES MIN-TOOL-LINES
#
# BUILD is the folder of the variant, in which a report is left: report/ has
# lines.txt, branches.txt and index.html, and tool/ the same of src/. Fails when
# less than so many percent were reached; of src/ only lines are asked for.
#
# Counted is what stands in lib/, its headers among it. Not counted are the
# branches of assert(), which are there never to be taken. What else cannot be
# reached is counted; docs/testing.md lists it.
#
# GCOV: the gcov of the compiler that was used, gcov unless set.
set -eu

build=$1
report=$build/report
fallen=

# Arguments: the folder, where its report goes, percent of lines and branches,
# and what was built of it and runs it.
count() {
	folder=$1
	to=$2
	min_lines=$3
	min_branches=$4
	shift 4
	mkdir -p "$to"
	# The counts are read once, and then shown in several ways.
	gcovr --root . --filter "$folder/" --gcov-executable "${GCOV:-gcov}" \
		--exclude-branches-by-pattern '^\s*assert\(' \
		--json "$to/counts.json" "$@"
	show --txt "$to/lines.txt"
	show --branches --txt "$to/branches.txt"
	show --html-details "$to/index.html"
	# Exits with 2, 4 or 6 when lines, branches or both fall short.
	show --print-summary --fail-under-line "$min_lines" \
		--fail-under-branch "$min_branches" >"$to/summary.txt" ||
		fallen="$fallen $folder: $min_lines % of the lines,\
 $min_branches % of the branches;"
	sed -nE "s,^(lines|branches): *,$folder \\1 ,p" "$to/summary.txt"
}

show() {
	gcovr --root . --add-tracefile "$to/counts.json" "$@"
}

rm -rf "$report"
count lib "$report" "$2" "$3" "$build/lib" "$build/tests"
[ ! -d "$build/src" ] || count src "$report/tool" "$4" 0 "$build/src"
echo "report in $report"
[ -z "$fallen" ] || {
	echo "coverage.sh: wanted are${fallen%;}" >&2
	exit 1
}
