/*
 * The reader, on any bytes: byte 0 says how long a value may be, bytes 1 and 2
 * where the rest is cut in two.
 *
 * Whole, in two parts and byte by byte, by the short way for runs and without
 * it, the same tokens come out. And they are those that hiredis's reader sees,
 * up to where the first of the two gives up. What one takes and the other does
 * not is known. Only hiredis takes a string that does not end with CRLF, which
 * it does not look at, and with hiredis 1.x looser forms of RESP3 and arrays
 * past the bounds of our reader. Only ours takes :+5 and :-0, deeper arrays,
 * with hiredis 0.14 all of RESP3, and with 1.x a CR or LF in a simple string.
 */
#include "journal.h"
#include "oracle.h"

typedef struct reading {
	rbi_reader reader;
	char *block;
	bool run; /* by the short way, where it is open */
	bool broken;
	journal journal;
} reading;

static void begin(reading *g, size_t max_value, bool run)
{
	rbi_reader_init(&g->reader, max_value);
	g->block = NULL;
	g->run = run;
	g->broken = false;
	g->journal.n = 0;
	g->journal.len = 0;
}

/* ---------------------------------------------------------- our reading -- */

static void note(journal *j, rbi_token_kind kind, const rbi_token *t)
{
	journal_token *noted = journal_add(j, kind, t->depth, t->data, t->len);

	noted->last = t->last;
	if (kind == RBI_TOKEN_INTEGER || kind == RBI_TOKEN_BOOLEAN ||
	    kind == RBI_TOKEN_ARRAY || kind == RBI_TOKEN_MAP ||
	    kind == RBI_TOKEN_SET)
		journal_number(noted, t->number);
	if (t->data != NULL)
		must(t->data[t->len] == 0);
}

static void read_run(reading *g)
{
	unsigned depth = g->reader.depth;
	rbi_run run;
	char *data;
	size_t len;

	if (!g->run || !rbi_reader_in_run(&g->reader))
		return;
	run = rbi_run_begin(&g->reader);
	while (rbi_run_next(&run, &data, &len)) {
		must(data == NULL || data[len] == '\0');
		(void)journal_add(&g->journal,
				  data != NULL ? RBI_TOKEN_BULK : RBI_TOKEN_NIL,
				  depth, data, len);
	}
	rbi_run_end(&run, &g->reader);
}

static void read_tokens(reading *g)
{
	rbi_reader *r = &g->reader;
	rbi_token_kind kind;
	rbi_token token;

	for (;;) {
		read_run(g);
		kind = rbi_reader_next(r, &token);
		if (kind == RBI_TOKEN_MORE || kind == RBI_TOKEN_BROKEN)
			break;
		note(&g->journal, kind, &token);
	}
	must(r->depth <= RBI_READER_DEPTH);
	g->broken = kind == RBI_TOKEN_BROKEN;
	if (g->broken)
		must(r->problem != NULL && r->problem[0] != '\0');
	else
		must(r->need > (size_t)(r->end - r->pos));
}

/* n more bytes arrive, and all unread ones lie elsewhere from now on. */
static void feed(reading *g, const char *bytes, size_t n)
{
	rbi_reader *r = &g->reader;
	size_t tail = (size_t)(r->end - r->pos);
	char *block;

	if (g->broken)
		return;
	block = malloc(tail + n > 0 ? tail + n : 1);
	must(block != NULL);
	if (tail > 0)
		memcpy(block, r->pos, tail);
	if (n > 0)
		memcpy(block + tail, bytes, n);
	free(g->block);
	g->block = block;
	rbi_reader_window(r, block, block + tail + n);
	read_tokens(g);
}

static void end(reading *g)
{
	free(g->block);
	g->block = NULL;
}

/* -------------------------------------------------------------- compare -- */

static void same_readings(const reading *a, const reading *b)
{
	size_t i;

	must(a->journal.n == b->journal.n);
	for (i = 0; i < a->journal.n; i++) {
		must(a->journal.tokens[i].kind == b->journal.tokens[i].kind);
		journal_same(&a->journal, &b->journal, i, true);
	}
	must(a->broken == b->broken);
	if (a->broken)
		return;
	must(rbi_reader_idle(&a->reader) == rbi_reader_idle(&b->reader));
	must(rbi_reader_between(&a->reader) == rbi_reader_between(&b->reader));
	must(a->reader.hidden_bytes == b->reader.hidden_bytes);
}

/* hiredis has one nil only, and drops no string. */
static bool same_kind(rbi_token_kind ours, rbi_token_kind theirs)
{
	if (ours == RBI_TOKEN_NIL_ARRAY)
		return theirs == RBI_TOKEN_NIL;
	if (ours == RBI_TOKEN_LONG)
		return theirs == RBI_TOKEN_BULK || theirs == RBI_TOKEN_VERBATIM;
	return ours == theirs;
}

/* Whether our reader may refuse what stands at its position though hiredis
 * reads it. */
static bool may_refuse(const rbi_reader *r)
{
	const char *cr = memchr(r->pos, '\r', (size_t)(r->end - r->pos));
	size_t len = 0;
	const char *p;

	if (r->drop > 0)
		return memcmp(r->pos, "\r\n", 2) != 0;
	if (strchr("+-:", *r->pos) != NULL && *r->pos != '\0')
		return false;
	if (*r->pos == '*')
		return HIREDIS_MAJOR >= 1 &&
		       (r->depth == RBI_READER_DEPTH ||
			strtoll(r->pos + 1, NULL, 10) > RBI_READER_ELEMENTS);
	if (*r->pos != '$')
		return HIREDIS_MAJOR >= 1;
	for (p = r->pos + 1; cr != NULL && p < cr; p++)
		len = len * 10 + (size_t)(*p - '0');
	return cr != NULL && memcmp(cr + 2 + len, "\r\n", 2) != 0;
}

/* And the other way round: whether hiredis may refuse what came out as token
 * i, with nothing hidden before it. */
static bool may_accept(const journal *j, size_t i)
{
	const journal_token *t = &j->tokens[i];
	const char *text = j->text + t->at;

	/* The eighth level is its last. */
	if (t->depth >= 7)
		return true;
	switch (t->kind) {
	case RBI_TOKEN_INTEGER:
		return *text == '+' || (t->len == 2 && t->number == 0);
	case RBI_TOKEN_ARRAY:
		return t->number > INT32_MAX;
	case RBI_TOKEN_SIMPLE:
		return HIREDIS_MAJOR >= 1 &&
		       (memchr(text, '\r', t->len) != NULL ||
			memchr(text, '\n', t->len) != NULL);
	case RBI_TOKEN_BULK:
	case RBI_TOKEN_NIL_ARRAY:
		return false;
	default: /* RESP3, an error in the form of a string among it */
		return true;
	}
}

static void same_as_oracle(const reading *g, const oracle *o)
{
	const journal *ours = &g->journal;
	const journal *theirs = &o->journal;
	size_t i;

	for (i = 0; i < ours->n && i < theirs->n; i++) {
		rbi_token_kind kind = ours->tokens[i].kind;

		must(same_kind(kind, theirs->tokens[i].kind));
		journal_same(ours, theirs, i,
			     kind != RBI_TOKEN_INTEGER &&
				     kind != RBI_TOKEN_BOOLEAN);
	}
	if (ours->n < theirs->n)
		must(g->broken && may_refuse(&g->reader));
	if (ours->n <= theirs->n)
		return;
	must(o->refused);
	if (g->reader.hidden_bytes == 0 && g->reader.hidden == 0)
		must(may_accept(ours, theirs->n));
}

/* ---------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t max_values[] = { (size_t)1 << 29, 0, 1, 9, 100 };
	static reading whole, other;
	static oracle theirs;
	input in = { data, size };
	size_t max_value = max_values[take_byte(&in) % N_OF(max_values)];
	size_t cut = (size_t)take_number(&in, 2);
	const char *bytes = (const char *)in.data;
	size_t i;

	if (in.size > JOURNAL_INPUT)
		return 0;
	begin(&whole, max_value, false);
	feed(&whole, bytes, in.size);

	cut = in.size > 0 ? cut % in.size : 0;
	begin(&other, max_value, true);
	feed(&other, bytes, cut);
	feed(&other, bytes + cut, in.size - cut);
	same_readings(&whole, &other);
	end(&other);

	begin(&other, max_value, cut % 2 == 0);
	for (i = 0; i < in.size; i++)
		feed(&other, bytes + i, 1);
	same_readings(&whole, &other);
	end(&other);

	theirs.journal.n = theirs.journal.len = 0;
	theirs.refused = false;
	oracle_read(&theirs, bytes, in.size);
	same_as_oracle(&whole, &theirs);
	end(&whole);
	return 0;
}
