#include "reader.h"

#include <string.h>

void rbi_reader_init(rbi_reader *r, size_t max_value)
{
	memset(r, 0, sizeof(*r));
	r->max_value = max_value;
	r->max_bulk = rbi_max(max_value, (size_t)512 * 1024 * 1024);
}

static rbi_token_kind broken(rbi_reader *r, const char *problem)
{
	r->problem = problem;
	return RBI_TOKEN_BROKEN;
}

static rbi_token_kind more(rbi_reader *r, size_t need)
{
	r->need = need;
	return RBI_TOKEN_MORE;
}

/* An element of the innermost frame is whole, and with it perhaps the frame,
 * and so on outwards. True: the answer is complete. */
static bool element_done(rbi_reader *r)
{
	while (r->depth > 0) {
		rbi_reader_frame *frame = &r->frames[r->depth - 1];

		if (RBI_LIKELY(--frame->left > 0))
			return false;
		r->depth--;
		/* What was hidden is an element of nothing. */
		if (r->hidden == r->depth + 1) {
			r->hidden = 0;
			return false;
		}
		if (frame->type == '|')
			return false;
	}
	r->answer = false;
	return true;
}

/* Fills in what all tokens have, and takes the item out of the window. */
static void finish(rbi_reader *r, rbi_token *t, char *after)
{
	t->depth = r->depth;
	r->pos = after;
	r->scanned = 0;
	r->answer = r->answer || r->hidden == 0;
	t->last = element_done(r);
}

/* ------------------------------------------------------------- numbers -- */

/*
 * The number between p and the CR at end, written as servers write it: no
 * leading zero, no blank. False: it is none, or too large.
 */
static bool parse_number(const char *p, const char *end, int64_t *out)
{
	bool negative = false;
	uint64_t n = 0;

	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (p == end || (*p == '0' && end - p > 1) || end - p > 19)
		return false;
	for (; p < end; p++) {
		unsigned digit = (unsigned)(unsigned char)*p - '0';

		if (digit > 9)
			return false;
		n = n * 10 + digit;
	}
	if (n > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return false;
	*out = negative ? (int64_t)(0 - n) : (int64_t)n;
	return true;
}

/*
 * The end of the line that begins at pos: its CR. NULL: not here yet, or
 * longer than a line may be, which kind tells.
 */
static char *find_line(rbi_reader *r, rbi_token_kind *kind)
{
	char *from = r->pos + r->scanned;

	while (from < r->end) {
		char *cr = memchr(from, '\r', (size_t)(r->end - from));

		if (cr == NULL)
			break;
		if (cr + 1 == r->end) {
			r->scanned = (size_t)(cr - r->pos);
			goto incomplete;
		}
		if (cr[1] == '\n' && cr - r->pos <= (long)RBI_READER_LINE)
			return cr;
		from = cr + 1;
	}
	r->scanned = (size_t)(r->end - r->pos);
incomplete:
	*kind = more(r, (size_t)(r->end - r->pos) + 1);
	if (r->scanned > RBI_READER_LINE)
		*kind = broken(r, "a line is too long");
	return NULL;
}

/*
 * The header of a string or an aggregate: type, a length, CRLF. Written out
 * for the case that counts, a few digits that have all arrived. *after is
 * where the rest begins. Anything but RBI_TOKEN_BULK is not it.
 */
static inline rbi_token_kind read_length(rbi_reader *r, int64_t *len,
					 char **after)
{
	char *p = r->pos + 1;
	char *stop = r->end - p > 20 ? p + 20 : r->end;
	int64_t n = 0;
	unsigned digit;

	while (p < stop) {
		digit = (unsigned)(unsigned char)*p - '0';
		if (digit > 9 || n > INT64_MAX / 10 - 1)
			break;
		n = n * 10 + digit;
		p++;
	}
	if (RBI_LIKELY(p + 1 < r->end && p[0] == '\r' && p[1] == '\n' &&
		       p > r->pos + 1 && (r->pos[1] != '0' || n == 0))) {
		if (n == 0 && p != r->pos + 2)
			return broken(r, "a length is no number");
		*len = n;
		*after = p + 2;
		return RBI_TOKEN_BULK;
	}
	if (r->end - r->pos >= 5 && memcmp(r->pos + 1, "-1\r\n", 4) == 0) {
		*len = -1;
		*after = r->pos + 5;
		return RBI_TOKEN_BULK;
	}
	if (p == r->end || (p + 1 == r->end && *p == '\r'))
		return more(r, (size_t)(r->end - r->pos) + 1);
	if (r->pos[1] == '-' && r->end - r->pos < 5 &&
	    memcmp(r->pos + 1, "-1\r\n", (size_t)(r->end - r->pos) - 1) == 0)
		return more(r, 5);
	if (r->pos[1] == '?')
		return broken(r, "a streamed string or aggregate");
	return broken(r, "a length is no number");
}

/* ------------------------------------------------------------- strings -- */

static rbi_token_kind string_kind(char type)
{
	switch (type) {
	case '!':
		return RBI_TOKEN_ERROR;
	case '=':
		return RBI_TOKEN_VERBATIM;
	default:
		return RBI_TOKEN_BULK;
	}
}

/* Goes on dropping the bytes of a string that nobody wants. */
static rbi_token_kind drop_string(rbi_reader *r, rbi_token *t)
{
	size_t have = (size_t)(r->end - r->pos);
	size_t take = have;

	if (r->drop > 2 && take > r->drop - 2)
		take = (size_t)(r->drop - 2);
	if (r->drop > 2) {
		r->pos += take;
		r->drop -= take;
		have -= take;
	}
	if (r->drop > 2 || have < 2)
		return more(r, have + 1);
	if (r->pos[0] != '\r' || r->pos[1] != '\n')
		return broken(r, "a string does not end where it should");
	r->drop = 0;
	t->data = NULL;
	t->len = r->dropped;
	finish(r, t, r->pos + 2);
	return RBI_TOKEN_LONG;
}

static rbi_token_kind begin_drop(rbi_reader *r, rbi_token *t, size_t len,
				 char *after)
{
	r->answer = r->answer || r->hidden == 0;
	r->drop = (uint64_t)len + 2;
	r->dropped = len;
	r->pos = after;
	return drop_string(r, t);
}

/* A verbatim string begins with three letters and a colon; they are awaited
 * even when the rest will be dropped. */
static rbi_token_kind check_verbatim(rbi_reader *r, const char *data,
				     size_t len)
{
	if (len < 4)
		return broken(r, "a verbatim string has no type");
	if (r->end - data < 4)
		return more(r, (size_t)(data - r->pos) + 4);
	if (data[3] != ':')
		return broken(r, "a verbatim string has no type");
	return RBI_TOKEN_VERBATIM;
}

static inline rbi_token_kind read_string(rbi_reader *r, rbi_token *t)
{
	char type = *r->pos;
	rbi_token_kind kind;
	int64_t length;
	size_t len;
	char *data;

	kind = read_length(r, &length, &data);
	if (RBI_UNLIKELY(kind != RBI_TOKEN_BULK))
		return kind;
	if (length < 0) {
		if (type != '$')
			return broken(r, "a length is below 0");
		t->data = NULL;
		t->len = 0;
		finish(r, t, data);
		return RBI_TOKEN_NIL;
	}
	if ((uint64_t)length > r->max_bulk)
		return broken(r, "a string is too long");
	len = (size_t)length;
	if (RBI_UNLIKELY(type == '=')) {
		kind = check_verbatim(r, data, len);
		if (kind != RBI_TOKEN_VERBATIM)
			return kind;
	}
	/* An error is no value: it may always be as long as a line. */
	if (RBI_UNLIKELY(len > (type == '!' ? RBI_READER_LINE : r->max_value)))
		return begin_drop(r, t, len, data);
	if (RBI_UNLIKELY((size_t)(r->end - data) < len + 2)) {
		if (r->hidden != 0)
			return begin_drop(r, t, len, data);
		return more(r, (size_t)(data - r->pos) + len + 2);
	}
	if (data[len] != '\r' || data[len + 1] != '\n')
		return broken(r, "a string does not end where it should");
	data[len] = '\0';
	t->data = data;
	t->len = len;
	finish(r, t, data + len + 2);
	return string_kind(type);
}

/* --------------------------------------------------------------- lines -- */

static bool is_number_text(const char *p, size_t len)
{
	size_t i = len > 0 && (*p == '-' || *p == '+') ? 1 : 0;

	if (i == len)
		return false;
	for (; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
	}
	return true;
}

/* What a double may be made of; whether it is one is for strtod() to say. */
static bool is_double_text(const char *p, size_t len)
{
	return len > 0 && len < 326 &&
	       strspn(p, "+-0123456789.eEinfaINFA") == len;
}

/* Checks the text of a line, which has its NUL already. */
static rbi_token_kind line_kind(rbi_reader *r, char type, rbi_token *t)
{
	switch (type) {
	case '+':
		return RBI_TOKEN_SIMPLE;
	case '-':
		return RBI_TOKEN_ERROR;
	case ':':
		if (!parse_number(t->data, t->data + t->len, &t->number))
			return broken(r, "an integer is none");
		return RBI_TOKEN_INTEGER;
	case '_':
		if (t->len != 0)
			return broken(r, "a null has text");
		return RBI_TOKEN_NIL;
	case '#':
		if (t->len != 1 || (*t->data != 't' && *t->data != 'f'))
			return broken(r, "a boolean is neither t nor f");
		t->number = *t->data == 't';
		return RBI_TOKEN_BOOLEAN;
	case ',':
		if (!is_double_text(t->data, t->len))
			return broken(r, "a double is none");
		return RBI_TOKEN_DOUBLE;
	case '(':
		if (!is_number_text(t->data, t->len))
			return broken(r, "a big number is none");
		return RBI_TOKEN_BIG_NUMBER;
	default:
		return broken(r, "a reply begins with a byte that is no type");
	}
}

static rbi_token_kind read_line(rbi_reader *r, rbi_token *t)
{
	rbi_token_kind kind;
	char type = *r->pos;
	char *cr;

	if (strchr("+-:_#,(", type) == NULL || type == '\0')
		return line_kind(r, '\0', t);
	cr = find_line(r, &kind);
	if (cr == NULL)
		return kind;
	*cr = '\0';
	t->data = r->pos + 1;
	t->len = (size_t)(cr - t->data);
	kind = line_kind(r, type, t);
	if (kind == RBI_TOKEN_BROKEN)
		return kind;
	finish(r, t, cr + 2);
	if (kind == RBI_TOKEN_NIL)
		t->data = NULL;
	return kind;
}

/* ---------------------------------------------------------- aggregates -- */

static rbi_token_kind aggregate_kind(char type)
{
	switch (type) {
	case '%':
		return RBI_TOKEN_MAP;
	case '~':
		return RBI_TOKEN_SET;
	default:
		return RBI_TOKEN_ARRAY;
	}
}

/* Opens a frame of n elements, n > 0. */
static void push_frame(rbi_reader *r, char type, int64_t n)
{
	rbi_reader_frame *frame = &r->frames[r->depth++];

	frame->left = n;
	frame->type = type;
}

static rbi_token_kind read_aggregate(rbi_reader *r, rbi_token *t)
{
	char type = *r->pos;
	bool hides = type == '>' || type == '|';
	rbi_token_kind kind;
	char *after;
	int64_t n;

	kind = read_length(r, &n, &after);
	if (kind != RBI_TOKEN_BULK)
		return kind;
	if (n < 0 && type != '*')
		return broken(r, "a count is below 0");
	if (n > RBI_READER_ELEMENTS)
		return broken(r, "an aggregate has too many elements");
	if (type == '>' && r->depth > 0)
		return broken(r, "a push inside of an answer");
	if (r->depth == RBI_READER_DEPTH)
		return broken(r, "an answer is nested too deeply");
	if (type == '%' || type == '|')
		n *= 2;
	t->data = NULL;
	t->len = 0;
	t->number = n;
	if (n <= 0 && !hides) {
		finish(r, t, after);
		return n < 0 ? RBI_TOKEN_NIL_ARRAY : aggregate_kind(type);
	}
	t->depth = r->depth;
	t->last = false;
	r->pos = after;
	if (n > 0 && hides && r->hidden == 0)
		r->hidden = r->depth + 1;
	if (n > 0)
		push_frame(r, type, n);
	r->answer = r->answer || (!hides && r->hidden == 0);
	return hides ? RBI_TOKEN_MORE : aggregate_kind(type);
}

/* ---------------------------------------------------------------------- */

static rbi_token_kind next_item(rbi_reader *r, rbi_token *t)
{
	if (RBI_UNLIKELY(r->drop > 0))
		return drop_string(r, t);
	if (r->pos == r->end)
		return more(r, 1);
	switch (*r->pos) {
	case '$':
	case '!':
	case '=':
		return read_string(r, t);
	case '*':
	case '%':
	case '~':
	case '>':
	case '|':
		return read_aggregate(r, t);
	default:
		return read_line(r, t);
	}
}

rbi_token_kind rbi_reader_next(rbi_reader *r, rbi_token *token)
{
	for (;;) {
		const char *before = r->pos;
		unsigned hidden = r->hidden;
		rbi_token_kind kind;

		r->need = 0;
		kind = next_item(r, token);
		if (RBI_LIKELY(kind > RBI_TOKEN_BROKEN &&
			       (hidden | r->hidden) == 0))
			return kind;
		/* What is hidden, or opens or closes it. */
		if ((hidden | r->hidden) != 0 || r->need == 0)
			r->hidden_bytes += (uint64_t)(r->pos - before);
		if (kind == RBI_TOKEN_BROKEN || r->need > 0)
			return kind;
	}
}

const char *rbi_token_text(rbi_token_kind kind)
{
	switch (kind) {
	case RBI_TOKEN_MORE:
	case RBI_TOKEN_BROKEN:
		return "nothing";
	case RBI_TOKEN_BULK:
	case RBI_TOKEN_LONG:
		return "a string";
	case RBI_TOKEN_NIL:
	case RBI_TOKEN_NIL_ARRAY:
		return "nil";
	case RBI_TOKEN_ERROR:
		return "an error";
	case RBI_TOKEN_SIMPLE:
		return "a simple string";
	case RBI_TOKEN_INTEGER:
		return "an integer";
	case RBI_TOKEN_DOUBLE:
		return "a double";
	case RBI_TOKEN_BOOLEAN:
		return "a boolean";
	case RBI_TOKEN_BIG_NUMBER:
		return "a big number";
	case RBI_TOKEN_VERBATIM:
		return "a verbatim string";
	case RBI_TOKEN_ARRAY:
		return "an array";
	case RBI_TOKEN_MAP:
		return "a map";
	case RBI_TOKEN_SET:
		return "a set";
	}
	return "something";
}
