#include "script_resp.h"

/* What servers take for a bulk string, unless they were told otherwise. */
#define MAX_WORD ((size_t)512 * 1024 * 1024)
/* And for a whole command, which has to be in memory. */
#define MAX_COMMAND (2 * MAX_WORD)

static script_resp_got bad(script_resp *r, size_t at, const char *why)
{
	r->at = at;
	r->why = why;
	return SCRIPT_RESP_BAD;
}

static bool ends_in_crlf(const char *line, size_t len)
{
	return len >= 2 && line[len - 2] == '\r' && line[len - 1] == '\n';
}

/* The number of a header, "*3\r\n" as "$5\r\n"; NULL, or what is wrong. */
static const char *read_number(const char *line, size_t len, size_t max,
			       size_t *out)
{
	size_t n = 0;

	if (!ends_in_crlf(line, len))
		return line[len - 1] == '\n' ?
			       "the line does not end in CR LF" :
			       "the input ends here";
	if (len < 4)
		return "a number is missing";
	for (size_t i = 1; i < len - 2; i++) {
		if (line[i] < '0' || line[i] > '9')
			return "that is no number";
		n = 10 * n + (size_t)(line[i] - '0');
		if (n > max)
			return "the number is too large";
	}
	*out = n;
	return NULL;
}

static script_resp_got take_array(script_resp *r, const char *line, size_t len)
{
	const char *why = read_number(line, len, WORDS_MAX, &r->missing);

	if (line[0] != '*')
		why = "a '*' was expected, which begins a command";
	if (why != NULL)
		return bad(r, 0, why);
	return r->missing == 0 ? SCRIPT_RESP_NOTHING : SCRIPT_RESP_MORE;
}

static script_resp_got take_bulk(script_resp *r, const char *line, size_t len)
{
	const char *why = read_number(line, len, MAX_WORD, &r->len);

	if (line[0] != '$')
		why = "a '$' was expected, which begins a word";
	if (why != NULL)
		return bad(r, r->raw.len - len, why);
	r->rest = r->len + 2;
	return SCRIPT_RESP_MORE;
}

/* `more` further bytes of the word were added to raw. */
static script_resp_got take_word(script_resp *r, size_t more)
{
	size_t begin = r->raw.len - more - (r->len + 2 - r->rest);

	if (more > r->rest)
		return bad(r, begin + r->len,
			   "the word is longer than announced");
	r->rest -= more;
	if (r->rest > 0)
		return SCRIPT_RESP_MORE;
	if (!ends_in_crlf(r->raw.data + begin + r->len, 2))
		return bad(r, begin + r->len, "CR LF is missing behind a word");
	if (!words_add(&r->words, begin, r->len))
		return bad(r, begin, "out of memory");
	return --r->missing == 0 ? SCRIPT_RESP_DONE : SCRIPT_RESP_MORE;
}

script_resp_got script_resp_push(script_resp *r, const char *line, size_t len)
{
	if (!script_resp_is_open(r))
		script_resp_reset(r);
	if (r->raw.len > MAX_COMMAND)
		return bad(r, r->raw.len, "the command is longer than 1 GiB");
	if (!scratch_add(&r->raw, line, len))
		return bad(r, r->raw.len, "out of memory");
	if (r->rest > 0)
		return take_word(r, len);
	if (r->missing > 0)
		return take_bulk(r, line, len);
	return take_array(r, line, len);
}

bool script_resp_is_open(const script_resp *r)
{
	return r->missing > 0;
}

void script_resp_reset(script_resp *r)
{
	scratch_clear(&r->raw);
	words_clear(&r->words);
	r->missing = 0;
	r->rest = 0;
}

void script_resp_free(script_resp *r)
{
	scratch_free(&r->raw);
	words_free(&r->words);
	*r = (script_resp){ .missing = 0 };
}
