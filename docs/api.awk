# Makes a page in Markdown of the public header.
#
#	awk -f docs/api.awk include/redisbatch/redisbatch.h >docs/api.md
#
# The header is written so that this can be done line by line:
#   - the first comment says what all calls have in common;
#   - a line of dashes with a word in a comment begins a group;
#   - a comment in the first column belongs to the declarations right below it,
#     up to an empty line; one without declarations is about its group;
#   - in a structure or an enumeration a comment belongs to what follows it, up
#     to the next comment or an empty line.
# An item is a comment with its declarations. All are read before anything is
# written, since texts point to what comes later.

# ---------------------------------------------------------------- reading --

/^#define RB_VERSION_/ { version = version (version == "" ? "" : ".") $3 }

/^\/\* -+ [a-z]+ -+ \*\/$/ {
	end_item()
	group = ++ngroups
	group_name[group] = $3
	next
}

# The head of the file ends with the first group.
!group && !in_comment && !/^\/\*/ { next }

/^$/ && depth == 0 && !in_comment {
	end_item()
	next
}

/^\/\*/ && depth == 0 {
	if (ndecls == 0)
		end_item()
	else
		comment = comment "\n"
	in_comment = 1
}

in_comment {
	line = $0
	sub(/^\/?\*+ ?/, "", line)
	sub(/^ \*( |$)?/, "", line)
	sub(/ *\*\/$/, "", line)
	sub(/^\/$/, "", line)
	comment = comment line "\n"
	if (/\*\/$/)
		in_comment = 0
	next
}

/^#define rb_/ {
	line = $0
	sub(/\).*/, ")", line)
	add_decl(line)
	next
}

/^#|^extern "C"|^[}]$/ { next }

{
	depth += gsub(/[{]/, "{") - gsub(/[}]/, "}")
	decl = decl (decl == "" ? "" : "\n") $0
	if (depth == 0 && /;$/) {
		add_decl(decl)
		decl = ""
	}
}

function add_decl(text) {
	decls[++ndecls] = text
}

function end_item(    i) {
	if (comment == "" && ndecls == 0)
		return
	if (!group && head == "") {
		head = comment
	} else if (group) {
		nitems++
		item_group[nitems] = group
		item_comment[nitems] = comment
		item_ndecls[nitems] = ndecls
		for (i = 1; i <= ndecls; i++)
			item_decl[nitems, i] = decls[i]
		name_item(nitems)
	}
	comment = ""
	ndecls = 0
}

# ------------------------------------------------------------------ names --

# What a declaration declares; "" if that is no name of ours.
function name_of(text) {
	if (text ~ /^#define/) {
		sub(/^#define /, "", text)
	} else if (text ~ /^typedef .*[}]/ || text ~ /^typedef struct [^(]*;$/) {
		sub(/;$/, "", text)
		sub(/.*[ }]/, "", text)
	} else if (text ~ /^struct/) {
		sub(/^struct /, "", text)
		sub(/ .*/, "", text)
	} else if (text ~ /^enum/) {
		return ""
	}
	sub(/\(.*/, "", text)
	sub(/.*[ \t\n*]/, "", text)
	return text
}

function name_item(item,    i, name, title) {
	for (i = 1; i <= item_ndecls[item]; i++) {
		name = name_of(item_decl[item, i])
		if (name == "" || name in home)
			continue
		home[name] = item
		title = title (title == "" ? "" : ", ") name
	}
	# An enumeration without a name has one in its comment.
	if (title == "" && item_ndecls[item] > 0) {
		title = item_comment[item]
		gsub(/\n/, "", title)
		item_comment[item] = ""
	}
	item_title[item] = title
}

# As forges make them of a heading.
function anchor(title) {
	title = tolower(title)
	gsub(/[^a-z0-9_ -]/, "", title)
	gsub(/ /, "-", title)
	return title
}

# ------------------------------------------------------------------- text --

function escape(text) {
	gsub(/[][\\*_<>`|]/, "\\\\&", text)
	return text
}

# A name, or an expression of names, at the beginning of a word; "": none.
function code_of(word,    core) {
	if (!match(word, /^\*?[A-Za-z_][A-Za-z0-9_]*/))
		return ""
	core = substr(word, 1, RLENGTH)
	word = substr(word, RLENGTH + 1)
	while (match(word, /^(->|\.)[a-z_]+/) ||
	       match(word, /^\[[a-z0-9_]*\]/)) {
		core = core substr(word, 1, RLENGTH)
		word = substr(word, RLENGTH + 1)
	}
	if (match(word, /^\([a-z_]*\)/) || (core ~ /_$/ && match(word, /^\*/)))
		core = core substr(word, 1, RLENGTH)
	return core ~ /[_[(]|->|^\*[a-z]/ ? core : ""
}

# A word of a comment. Names are set as code, those of other items as links.
function mark_word(word, item,    before, core, name, out) {
	if (match(word, /^[("]+/)) {
		before = substr(word, 1, RLENGTH)
		word = substr(word, RLENGTH + 1)
	}
	core = code_of(word)
	if (core == "")
		return before escape(word)
	word = substr(word, length(core) + 1)
	out = "`" core "`"
	name = core
	sub(/\(.*/, "", name)
	if (name in home && home[name] != item)
		out = "[" out "](#" anchor(item_title[home[name]]) ")"
	return before out escape(word)
}

function mark(text, item,    n, i, word, out) {
	n = split(text, word, /[ \t\n]+/)
	out = ""
	for (i = 1; i <= n; i++)
		if (word[i] != "")
			out = out (out == "" ? "" : " ") mark_word(word[i], item)
	return out
}

# Lines of at most 80 columns.
function put(text,    n, i, word, line) {
	n = split(text, word, / /)
	line = word[1]
	for (i = 2; i <= n; i++) {
		# At the beginning of a line these would be a list.
		if (length(line) + length(word[i]) >= 80 &&
		    word[i] !~ /^([-+#=]+|[0-9]+\.)$/) {
			print line
			line = word[i]
		} else {
			line = line " " word[i]
		}
	}
	print line
}

# Paragraphs; what is indented is code, but below a line that is not.
function put_comment(text, item,    n, i, part, open, first) {
	n = split(text, part, /\n\n+/)
	for (i = 1; i <= n; i++) {
		sub(/^\n+/, "", part[i])
		sub(/\n+$/, "", part[i])
		if (part[i] == "")
			continue
		if (part[i] ~ /^\t/) {
			print (open ? "" : part[i] ~ /;/ ? "```c" : "```text")
			open = 1
			gsub(/(^|\n)\t/, "\n", part[i])
			print substr(part[i], 2)
			continue
		}
		if (open)
			print "```\n"
		open = 0
		if (match(part[i], /^[A-Za-z]+\n\t/)) {
			first = part[i]
			sub(/\n.*/, "", first)
			print "**" first "**\n"
			part[i] = substr(part[i], RLENGTH)
		}
		put(mark(part[i], item))
		print ""
	}
	if (open)
		print "```\n"
}

# ----------------------------------------------------------- declarations --

# One line, or the arguments below each other's column.
function put_prototype(text,    open, indent, n, i, arg, line) {
	sub(/RB_API /, "", text)
	sub(/RB_MUST_CHECK /, "", text)
	gsub(/[ \t\n]+/, " ", text)
	sub(/\( /, "(", text)
	if (length(text) <= 80) {
		print text
		return
	}
	open = index(text, "(")
	indent = sprintf("%" open "s", "")
	n = split(substr(text, open + 1), arg, /, /)
	line = substr(text, 1, open)
	for (i = 1; i <= n; i++) {
		arg[i] = arg[i] (i < n ? "," : "")
		if (i > 1 && length(line) + length(arg[i]) >= 80) {
			print line
			line = indent arg[i]
		} else {
			line = line (i > 1 ? " " : "") arg[i]
		}
	}
	print line
}

# Rows of what stands between braces: names[], a line each, and notes[]; how
# many. A comment or an empty line begins a row.
function read_rows(text,    n, i, line, in_note, fresh, nrows) {
	n = split(text, line, "\n")
	fresh = 1
	for (i = 2; i < n; i++) {
		if (line[i] ~ /^[ \t]*$/) {
			fresh = 1
			continue
		}
		if (line[i] ~ /^[ \t]*\/\*/)
			fresh = in_note = 1
		if (fresh) {
			nrows++
			names[nrows] = notes[nrows] = ""
			fresh = 0
		}
		if (in_note) {
			notes[nrows] = notes[nrows] " " text_of(line[i])
			in_note = line[i] !~ /\*\/$/
		} else {
			names[nrows] = names[nrows] \
				(names[nrows] == "" ? "" : "\n") line[i]
		}
	}
	return nrows
}

function text_of(line) {
	sub(/^[ \t]*(\/\*|\*\/|\*)/, "", line)
	sub(/ *\*\/$/, "", line)
	return line
}

function cell(text) {
	gsub(/^[ \t]+|[ \t,;]+$/, "", text)
	gsub(/\|/, "\\|", text)
	return "`" text "`"
}

# What stands before a " = " in each line, or behind it.
function cells(text, part_of,    n, i, line, part, out) {
	n = split(text, line, "\n")
	for (i = 1; i <= n; i++) {
		split(line[i], part, " = ")
		out = out (i == 1 ? "" : "<br>") cell(part[part_of])
	}
	return out
}

function put_table(text, item,    is_enum, n, i, row) {
	is_enum = text ~ /^(typedef )?enum/
	n = read_rows(text)
	print is_enum ? "| constant | value | meaning |\n|---|---|---|" : \
		"| member | meaning |\n|---|---|"
	for (i = 1; i <= n; i++) {
		if (names[i] == "")
			continue
		row = "| " cells(names[i], 1) " | "
		if (is_enum)
			row = row cells(names[i], 2) " | "
		print row mark(notes[i], item) " |"
	}
	print ""
}

function put_block(text) {
	gsub(/\t/, "    ", text)
	print text
}

# Structures without a word on their members are shown as they are.
function is_table(text) {
	return text ~ /[{]/ && text ~ /\/\*/
}

function put_item(item,    i, text, tables, open) {
	if (item_title[item] != "")
		print "### " item_title[item] "\n"
	for (i = 1; i <= item_ndecls[item]; i++) {
		text = item_decl[item, i]
		if (is_table(text))
			continue
		if (!open)
			print "```c"
		open = 1
		if (text ~ /[{]|^#/)
			put_block(text)
		else
			put_prototype(text)
	}
	if (open)
		print "```\n"
	put_comment(item_comment[item], item)
	for (i = 1; i <= item_ndecls[item]; i++)
		if (is_table(item_decl[item, i]))
			put_table(item_decl[item, i], item)
}

# ---------------------------------------------------------------- writing --

function put_contents(    g, i, line) {
	print "## Contents\n"
	for (g = 1; g <= ngroups; g++) {
		line = "- [" capital(group_name[g]) "](#" group_name[g] "):"
		for (i = 1; i <= nitems; i++)
			if (item_group[i] == g && item_title[i] != "")
				line = line " [" item_title[i] "](#" \
					anchor(item_title[i]) "),"
		sub(/,$/, "", line)
		gsub(/_/, "\\_", line)
		gsub(/, \[/, ",\n  [", line)
		sub(/: \[/, ":\n  [", line)
		line = unescape_targets(line)
		print line
	}
	print ""
}

# A target is no text.
function unescape_targets(text,    out, target) {
	while (match(text, /\(#[^)]*\)/)) {
		target = substr(text, RSTART, RLENGTH)
		gsub(/\\_/, "_", target)
		out = out substr(text, 1, RSTART - 1) target
		text = substr(text, RSTART + RLENGTH)
	}
	return out text
}

function capital(word) {
	return toupper(substr(word, 1, 1)) substr(word, 2)
}

END {
	end_item()
	print "# API of libredisbatch " version "\n"
	print "<!-- Made of the header by `make api`; do not edit. -->\n"
	put_comment(head, 0)
	put_contents()
	for (g = 1; g <= ngroups; g++) {
		print "## " capital(group_name[g]) "\n"
		for (i = 1; i <= nitems; i++)
			if (item_group[i] == g)
				put_item(i)
	}
}
