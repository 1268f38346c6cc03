#!/bin/sh
# Holds the sources of the library to lib/LAYERS.
#
#	tests/check_layers.sh FOLDER
#
# FOLDER/LAYERS lists the modules from top to bottom, one a line, "#" starts a
# comment. A module NAME is NAME.c and mostly NAME.h; it may include its own
# header and those of modules below it. <redisbatch/redisbatch.h> and the
# headers of plain C are for all; words behind a name grant it more:
#
#	hiredis  include hiredis's headers
#	system   include any other header: sockets, poll, unistd
#	clock    read the time
#	malloc   take memory from the C library, and give it back
#
# Nobody prints, exits, handles signals or uses an unbounded string function.
# Comments and strings are not looked at.
set -eu

cd "$1"
printf '  %-7s %s\n' CHECK 'layers'

awk '
function complain(text) {
	print where ": " text
	bad = 1
}

function words(list, set,    n, i, word) {
	n = split(list, word, " ")
	for (i = 1; i <= n; i++)
		set[word[i]] = 1
}

BEGIN {
	where = "LAYERS"
	words("hiredis system clock malloc", grants)
	words("assert ctype errno float inttypes limits stdalign stdarg", plain)
	words("stdbool stddef stdint stdio stdlib string strings time", plain)

	# Calls that need a grant, and "-" for those that nobody may make.
	call["malloc"] = call["calloc"] = call["realloc"] = "malloc"
	call["free"] = call["strdup"] = call["strndup"] = "malloc"
	call["clock_gettime"] = call["gettimeofday"] = call["time"] = "clock"
	words("printf fprintf vprintf vfprintf puts fputs putchar putc fputc",
		never)
	words("fwrite perror exit _exit abort atexit signal sigaction", never)
	words("strcpy strcat sprintf vsprintf gets atoi atol alloca", never)
	for (name in never)
		call[name] = "-"
}

# ---------------------------------------------------------- LAYERS itself --

FILENAME == "LAYERS" {
	sub(/#.*/, "")
	if (NF == 0)
		next
	if ($1 in level)
		complain("module " $1 " stands there twice")
	level[$1] = ++nlevels
	for (i = 2; i <= NF; i++) {
		if (!($i in grants))
			complain("module " $1 ": no such grant: " $i)
		granted[$1, $i] = 1
	}
	next
}

# ------------------------------------------------------------- the sources --

FNR == 1 {
	in_comment = 0
	where = module = file = substr(FILENAME, 3)
	sub(/\.[ch]$/, "", module)
	if (file ~ /\.c$/)
		has_source[module] = 1
	if (!(module in level))
		complain("not in LAYERS")
}

{ where = file ":" FNR }

/^[ \t]*#[ \t]*include/ && !in_comment {
	check_include($0)
	next
}

{ check_calls(without_comments($0)) }

function check_include(line,    name, other) {
	if (match(line, /"[^"]*"/)) {
		name = substr(line, RSTART + 1, RLENGTH - 2)
		other = name
		sub(/\.h$/, "", other)
		if (!(other in level))
			complain("\"" name "\" is no module of LAYERS")
		else if (level[other] < level[module])
			complain(module " may not include " name \
				", which is above it")
	} else if (match(line, /<[^>]*>/)) {
		name = substr(line, RSTART + 1, RLENGTH - 2)
		check_system_include(name)
	} else {
		complain("cannot tell what this includes")
	}
}

function check_system_include(name,    base) {
	base = name
	sub(/\.h$/, "", base)
	if (name == "redisbatch/redisbatch.h" || base in plain)
		return
	if (name ~ /^hiredis\//)
		need("hiredis", "<" name ">")
	else
		need("system", "<" name ">")
}

function need(grant, what) {
	if (!((module, grant) in granted))
		complain(module " may not use " what ": LAYERS does not grant " \
			"it " grant)
}

# The line without comments, with empty strings. State: in_comment.
function without_comments(line,    out) {
	if (in_comment) {
		if (!match(line, /\*\//))
			return ""
		line = substr(line, RSTART + 2)
		in_comment = 0
	}
	gsub(/\\./, "", line)
	gsub(/\047"\047/, "0", line)
	gsub(/"[^"]*"/, "\"\"", line)
	out = ""
	while (match(line, /\/\*/)) {
		out = out substr(line, 1, RSTART - 1) " "
		line = substr(line, RSTART + 2)
		if (!match(line, /\*\//)) {
			in_comment = 1
			return out
		}
		line = substr(line, RSTART + 2)
	}
	sub(/\/\/.*/, "", line)
	return out line
}

# Names followed by "(", but not those of members: a->free(...) is another.
function check_calls(line,    name, before) {
	if (line ~ /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/)
		complain("nobody here may use stdout or stderr")
	while (match(line, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		sub(/[ \t]+$/, "", name)
		before = substr(line, 1, RSTART - 1)
		line = substr(line, RSTART + RLENGTH)
		if (!(name in call) || before ~ /(->|\.|\(\*)[ \t]*$/)
			continue
		if (call[name] == "-")
			complain("nobody here may call " name)
		else
			need(call[name], name)
	}
}

END {
	where = "LAYERS"
	for (name in level)
		if (!(name in has_source))
			complain("module " name " has no " name ".c")
	exit bad
}
' LAYERS ./*.[ch] >&2
