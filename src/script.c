#include "script.h"

#include "script_resp.h"
#include "script_text.h"
#include "signals.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct script {
	char *const *paths;
	size_t npaths;
	/* The file that is next, and the one that is open, or NULL. */
	size_t next;
	text *text;
	script_format format;
	/* The first file tells the format. */
	bool detects;
	/* There is no more. */
	bool over;
	/* Of the files that were closed. */
	uint64_t taken;

	/* Of the line that is at hand: whether it had a newline, and where it
	 * begins in its file. */
	bool whole;
	uint64_t offset;

	scratch raw;
	scratch bytes;
	words words;
	script_resp resp;
	/* Where the command of RESP began. */
	size_t line;
	uint64_t begin;
	char why[320];

	/* For script_command(). */
	scratch again_bytes;
	words again_words;
	script_resp again_resp;
};

script *script_new(char *const *paths, size_t npaths, script_format format)
{
	static char *const standard_input[] = { "-" };
	script *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->paths = npaths > 0 ? paths : standard_input;
	s->npaths = npaths > 0 ? npaths : 1;
	s->format = format;
	s->detects = format == SCRIPT_ANY;
	return s;
}

void script_free(script *s)
{
	if (s == NULL)
		return;
	text_close(s->text);
	scratch_free(&s->raw);
	scratch_free(&s->bytes);
	words_free(&s->words);
	script_resp_free(&s->resp);
	scratch_free(&s->again_bytes);
	words_free(&s->again_words);
	script_resp_free(&s->again_resp);
	free(s);
}

/* -------------------------------------------------------------- lines -- */

static const char *file_name(const script *s)
{
	const char *path = s->paths[s->next - 1];

	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static script_got fail(script *s, script_item *item, const char *reason)
{
	s->over = true;
	snprintf(s->why, sizeof(s->why), "cannot read %s: %s", file_name(s),
		 reason);
	item->why = signals_caught() != 0 ? "" : s->why;
	return SCRIPT_FAILED;
}

/* Notes what is known of the line that was just taken. A byte order mark in
 * front of it counts 3 that are not in it. */
static void note_line(script *s, rb_slice line, uint64_t before)
{
	uint64_t more = text_taken(s->text) - before - line.len;

	s->whole = more % 3 == 1;
	s->offset = before;
}

/* The next line, of this file or the next; SCRIPT_COMMAND if there is one. */
static script_got next_line(script *s, script_item *item, rb_slice *line)
{
	uint64_t before;
	text_got got;

	if (s->text == NULL) {
		s->text = text_open(s->paths[s->next++], '\n');
		if (s->text == NULL)
			return fail(s, item, strerror(errno));
	}
	before = text_taken(s->text);
	got = text_next(s->text, line);
	if (got == TEXT_FAILED)
		return fail(s, item, strerror(errno));
	if (got == TEXT_TOO_LONG)
		return fail(s, item, "a line is longer than 512 MiB");
	if (got == TEXT_END)
		return SCRIPT_END;
	note_line(s, *line, before);
	return SCRIPT_COMMAND;
}

static void close_file(script *s)
{
	s->taken += text_taken(s->text);
	text_close(s->text);
	s->text = NULL;
	s->over = s->next == s->npaths;
}

/* ---------------------------------------------------------------- RESP -- */

static script_got broken(script *s, script_item *item, size_t line,
			 const char *what)
{
	s->over = true;
	item->file = file_name(s);
	item->line = line;
	snprintf(s->why, sizeof(s->why),
		 "at byte %" PRIu64
		 ": %s; this command, which begins at line %zu, and what "
		 "follows it is not sent",
		 s->begin + s->resp.at, what, s->line);
	item->why = s->why;
	return SCRIPT_BROKEN;
}

static script_resp_got push_line(script *s, rb_slice line)
{
	scratch_clear(&s->raw);
	if (!scratch_add(&s->raw, line.data, line.len) ||
	    (s->whole && !scratch_add(&s->raw, "\n", 1))) {
		s->resp.why = "out of memory";
		return SCRIPT_RESP_BAD;
	}
	if (!script_resp_is_open(&s->resp)) {
		s->line = text_line(s->text);
		s->begin = s->offset;
	}
	return script_resp_push(&s->resp, s->raw.data, s->raw.len);
}

static script_got end_of_resp(script *s, script_item *item)
{
	if (!script_resp_is_open(&s->resp)) {
		close_file(s);
		return SCRIPT_END;
	}
	s->resp.at = s->resp.raw.len;
	return broken(s, item, text_line(s->text), "the input ends here");
}

/* A piece of a command at a time; SCRIPT_END: there is none yet. */
static script_got take_resp(script *s, script_item *item, rb_slice line)
{
	switch (push_line(s, line)) {
	case SCRIPT_RESP_MORE:
	case SCRIPT_RESP_NOTHING:
		return SCRIPT_END;
	case SCRIPT_RESP_BAD:
		return broken(s, item, text_line(s->text), s->resp.why);
	case SCRIPT_RESP_DONE:
		break;
	}
	item->command = words_command(&s->resp.words, s->resp.raw.data);
	item->raw = (rb_slice){ s->resp.raw.data, s->resp.raw.len };
	item->file = file_name(s);
	item->line = s->line;
	return SCRIPT_COMMAND;
}

/* ---------------------------------------------------------------- text -- */

static script_got take_text(script *s, script_item *item, rb_slice line)
{
	if (script_text_is_empty(line))
		return SCRIPT_END;
	item->file = file_name(s);
	item->line = text_line(s->text);
	scratch_clear(&s->raw);
	if (!scratch_add(&s->raw, line.data, line.len) ||
	    !scratch_add(&s->raw, "\n", 1))
		return fail(s, item, "out of memory");
	item->raw = (rb_slice){ s->raw.data, s->raw.len };
	item->why = script_text_split(line, &s->bytes, &s->words);
	if (item->why != NULL)
		return SCRIPT_BAD;
	item->command = words_command(&s->words, s->bytes.data);
	return SCRIPT_COMMAND;
}

/* --------------------------------------------------------------- either -- */

/* Tells the format by the first line there is. A file of another one than
 * those before it would be taken for something else. */
static bool know_format(script *s, script_item *item, rb_slice line)
{
	bool resp = line.len > 0 && line.data[0] == '*';

	if (s->format == SCRIPT_ANY)
		s->format = resp ? SCRIPT_RESP : SCRIPT_TEXT;
	if (!s->detects || !resp || s->format == SCRIPT_RESP ||
	    text_line(s->text) != 1)
		return true;
	(void)fail(s, item, "it seems to be RESP, and those before it are not");
	return false;
}

/* SCRIPT_END: look again, unless it is over. */
static script_got step(script *s, script_item *item)
{
	rb_slice line;
	script_got got = next_line(s, item, &line);

	if (got == SCRIPT_END)
		return end_of_resp(s, item);
	if (got != SCRIPT_COMMAND)
		return got;
	if (!know_format(s, item, line))
		return SCRIPT_FAILED;
	return s->format == SCRIPT_RESP ? take_resp(s, item, line) :
					  take_text(s, item, line);
}

script_got script_next(script *s, script_item *item)
{
	script_got got = SCRIPT_END;

	*item = (script_item){ .why = NULL };
	while (got == SCRIPT_END && !s->over)
		got = step(s, item);
	return got;
}

static rb_command resp_command(script_resp *r, rb_slice raw)
{
	const char *p = raw.data;
	const char *end = p + raw.len;

	script_resp_reset(r);
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t len =
			(size_t)((newline == NULL ? end : newline + 1) - p);

		if (script_resp_push(r, p, len) == SCRIPT_RESP_BAD)
			break;
		p += len;
	}
	return words_command(&r->words, r->raw.data);
}

rb_command script_command(script *s, rb_slice raw)
{
	if (s->format == SCRIPT_RESP)
		return resp_command(&s->again_resp, raw);
	/* What it says was said when the command was taken. */
	(void)script_text_split(raw, &s->again_bytes, &s->again_words);
	return words_command(&s->again_words, s->again_bytes.data);
}

bool script_skip(script *s, const char **path, uint64_t *from)
{
	*from = 0;
	if (s->text != NULL) {
		*path = s->paths[s->next - 1];
		*from = script_resp_is_open(&s->resp) ? s->begin :
							text_taken(s->text);
		close_file(s);
		return true;
	}
	if (s->next == s->npaths)
		return false;
	*path = s->paths[s->next++];
	return true;
}

uint64_t script_taken(const script *s)
{
	return s->taken + (s->text != NULL ? text_taken(s->text) : 0);
}

uint64_t script_size(const script *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->npaths; i++) {
		struct stat st;

		if (strcmp(s->paths[i], "-") == 0 ||
		    stat(s->paths[i], &st) != 0 || !S_ISREG(st.st_mode))
			return 0;
		sum += (uint64_t)st.st_size;
	}
	return sum;
}
