# Takes the ```c blocks out of pages of Markdown; see tests/check_docs.sh.
#
#	awk -v work=FOLDER -v preamble=FILE -f extract.awk PAGE...
#
# Each becomes FOLDER/N.c, where N counts from 1000 on. Printed for each: what
# it is ("fragment", "program" or "run"), N, and where it stands. What a program
# should print goes to FOLDER/N.want.

function complain(text) {
	printf "%s:%d: %s\n", FILENAME, first - 1, text >"/dev/stderr"
	bad = 1
}

# The line behind which statements begin: that of the last function's end, or
# of the directives in front.
function statements_from(    i, inside, last) {
	for (i = 1; i <= n && line[i] ~ /^(#.*)?$/; i++)
		last = i
	for (i = 1; i <= n; i++) {
		if (line[i] == "{")
			inside = 1
		if (line[i] == "}" && inside) {
			inside = 0
			last = i
		}
	}
	return last + 0
}

function put_lines(out, from, to,    i) {
	printf "#line %d \"%s\"\n", first + from - 1, FILENAME >out
	for (i = from; i <= to; i++)
		print line[i] >out
}

function put_fragment(out, condition,    cut) {
	cut = statements_from()
	if (condition != "")
		printf "#if %s\n", condition >out
	printf "#include \"%s\"\n", preamble >out
	put_lines(out, 1, cut)
	print "int fragment(void);\nint fragment(void)\n{" >out
	# No longer there than what it may point to.
	print "rb_options options;\nrb_options_init(&options);\n{" >out
	put_lines(out, cut + 1, n)
	print "}\nreturn 0;\n}" >out
	if (condition != "")
		print "#else\ntypedef int nothing;\n#endif" >out
}

function put(kind,    out) {
	count++
	out = work "/" (1000 + count) ".c"
	if (kind == "fragment")
		put_fragment(out, mark ~ /^if: / ? substr(mark, 5) : "")
	else
		put_lines(out, 1, n)
	close(out)
	print kind, 1000 + count, FILENAME ":" first
}

function has_main(    i) {
	for (i = 1; i <= n; i++) {
		if (line[i] ~ /^int main\(/)
			return 1
	}
	return 0
}

function c_block() {
	ran = 0
	if (mark ~ /^not compiled: ./)
		return
	if (mark != "" && mark != "run" && mark !~ /^if: ./)
		complain("unknown mark: " mark)
	else if (mark == "run" && !has_main())
		complain("marked to be run, but has no main")
	else if (!has_main())
		put("fragment")
	else
		put(mark == "run" ? "run" : "program")
	ran = mark == "run"
}

function wanted_block(    out, i) {
	out = work "/" (1000 + count) ".want"
	for (i = 1; i <= n; i++)
		print line[i] >out
	close(out)
	ran = 0
}

FNR == 1 {
	if (inside)
		complain("the page before this one has a block without an end")
	inside = ran = 0
	mark = ""
}

!inside && /^```/ {
	inside = 1
	kind = substr($0, 4)
	first = FNR + 1
	n = 0
	next
}

inside && /^```/ {
	inside = 0
	if (kind == "c")
		c_block()
	else if (kind == "text" && ran)
		wanted_block()
	mark = ""
	next
}

inside {
	line[++n] = $0
	next
}

/^<!-- .* -->$/ {
	mark = substr($0, 6, length($0) - 9)
	next
}

/./ {
	mark = ""
}

END {
	if (inside)
		complain("a block without an end")
	exit bad
}
