/*
 * RESP2 and RESP3: bytes to tokens, incremental and bounded.
 *
 * The reader walks a window of memory that grows at its end, and never copies:
 * a token points at the bytes where they lie, and the CR behind a string
 * becomes its NUL. Between two calls its owner may append bytes, or move the
 * unread ones elsewhere (rbi_reader_window); an item that is not whole yet is
 * simply begun again from its first byte, which costs a few bytes of header
 * for a string of known length, and for a line what rbi_reader.scanned saves.
 *
 * What comes out is the answers to commands and nothing else: a push and an
 * attribute are walked over, their bytes counted by no one. An aggregate is
 * one token that says how many elements follow; a map of n pairs says 2n.
 *
 * Bounded are the length of a line, of a string, the depth, and the number of
 * elements. A string longer than max_value but not than max_bulk comes out as
 * RBI_TOKEN_LONG, without its bytes, which are dropped as they arrive.
 *
 * No allocation, no system call. After RBI_TOKEN_BROKEN nothing more can be
 * read: where the next answer begins is unknown.
 */
#ifndef RBI_READER_H
#define RBI_READER_H

#include "internal.h"

#include <string.h>

#define RBI_READER_DEPTH 32
#define RBI_READER_LINE ((size_t)64 * 1024)
#define RBI_READER_ELEMENTS ((int64_t)1 << 31)

typedef enum rbi_token_kind {
	RBI_TOKEN_MORE,	      /* the next item is not whole yet */
	RBI_TOKEN_BROKEN,     /* not RESP or past a bound: rbi_reader.problem */
	RBI_TOKEN_BULK,	      /* data, len */
	RBI_TOKEN_NIL,	      /* $-1 and _ */
	RBI_TOKEN_NIL_ARRAY,  /* *-1 */
	RBI_TOKEN_LONG,	      /* a string past max_value; len, no data */
	RBI_TOKEN_ERROR,      /* data, len: without the - or ! */
	RBI_TOKEN_SIMPLE,     /* data, len */
	RBI_TOKEN_INTEGER,    /* number, and its text */
	RBI_TOKEN_DOUBLE,     /* its text */
	RBI_TOKEN_BOOLEAN,    /* number: 0 or 1 */
	RBI_TOKEN_BIG_NUMBER, /* its text */
	RBI_TOKEN_VERBATIM,   /* data, len: with the three letters and colon */
	RBI_TOKEN_ARRAY,      /* number: of elements that follow */
	RBI_TOKEN_MAP,	      /* number: twice the pairs */
	RBI_TOKEN_SET
} rbi_token_kind;

typedef struct rbi_token {
	char *data; /* followed by a NUL that is not counted */
	size_t len;
	int64_t number;
	unsigned depth; /* 0: the answer itself, 1: its elements, ... */
	bool last;	/* the answer is complete with this token */
} rbi_token;

typedef struct rbi_reader_frame {
	int64_t left; /* elements still to come */
	char type;
} rbi_reader_frame;

typedef struct rbi_reader {
	char *pos; /* the first byte not yet read */
	char *end; /* behind the last byte that has arrived */
	/* Set with RBI_TOKEN_MORE: so many bytes from pos make the next item
	 * whole, as far as is known: at least one more than there are. */
	size_t need;

	size_t max_value;
	size_t max_bulk;

	size_t scanned; /* bytes from pos known to hold no end of line */
	uint64_t drop;	/* bytes of a dropped string still to come */
	size_t dropped; /* its length, for the token */
	unsigned depth;
	unsigned hidden; /* depth + 1 of the outermost push or attribute */
	uint64_t hidden_bytes; /* walked over so far */
	bool answer;	       /* its first byte was read, its last was not */
	const char *problem;
	rbi_reader_frame frames[RBI_READER_DEPTH];
} rbi_reader;

/* A reader of strings of at most max_value bytes, with an empty window. */
void rbi_reader_init(rbi_reader *r, size_t max_value);

/*
 * The unread bytes are pos .. end from now on: the same ones as before,
 * wherever they lie, and any that have arrived behind them.
 */
static inline void rbi_reader_window(rbi_reader *r, char *pos, char *end)
{
	r->pos = pos;
	r->end = end;
}

/* The next token. Data is valid until its bytes are moved. */
rbi_token_kind rbi_reader_next(rbi_reader *r, rbi_token *token);

/*
 * The short way through a run of strings and nils, for a loop that keeps all of
 * this in registers: begin, next for as long as it answers true, end.
 *
 * next takes the next element of the innermost frame if it is one more string,
 * not empty, or a nil (data is NULL), and not the last, and has arrived whole.
 * False: nothing was taken, and rbi_reader_next() is to look at it after end.
 */
typedef struct rbi_run {
	char *pos;
	const char *end;
	int64_t left;
	size_t max_value;
} rbi_run;

/* Whether there may be a run: inside of an answer, with nothing hidden or
 * dropped. */
static inline bool rbi_reader_in_run(const rbi_reader *r)
{
	return r->depth > 0 && r->hidden == 0 && r->drop == 0;
}

static inline rbi_run rbi_run_begin(const rbi_reader *r)
{
	rbi_run run = { .pos = r->pos,
			.end = r->end,
			.left = r->frames[r->depth - 1].left,
			.max_value = r->max_value };

	return run;
}

static inline bool rbi_run_nil(rbi_run *run, char **data, size_t *len)
{
	const char *p = run->pos;

	if (p[1] != '-' || p[2] != '1' || p[3] != '\r' || p[4] != '\n')
		return false;
	*data = NULL;
	*len = 0;
	run->pos += 5;
	run->left--;
	return true;
}

static inline bool rbi_run_next(rbi_run *run, char **data, size_t *len)
{
	const char *stop;
	char *p = run->pos;
	unsigned digit;
	size_t n;

	if (run->left < 2 || run->end - p < 16 || *p != '$')
		return false;
	n = (unsigned)(unsigned char)p[1] - '0';
	if (n - 1 > 8)
		return rbi_run_nil(run, data, len);
	p += 2;
	stop = p + 8; /* nine digits fit in any size_t */
	while ((digit = (unsigned)(unsigned char)*p - '0') <= 9) {
		n = n * 10 + digit;
		if (p++ == stop)
			return false;
	}
	if (n > run->max_value || (size_t)(run->end - p) < n + 4 ||
	    memcmp(p, "\r\n", 2) != 0 || memcmp(p + n + 2, "\r\n", 2) != 0)
		return false;
	p[n + 2] = '\0';
	*data = p + 2;
	*len = n;
	run->pos = p + n + 4;
	run->left--;
	return true;
}

static inline void rbi_run_end(const rbi_run *run, rbi_reader *r)
{
	r->pos = run->pos;
	r->frames[r->depth - 1].left = run->left;
}

/*
 * Whether the reader stands between two answers, with no byte of anything
 * left over.
 */
static inline bool rbi_reader_idle(const rbi_reader *r)
{
	return !r->answer && r->depth == 0 && r->drop == 0 && r->pos == r->end;
}

/*
 * Whether what is left over can only be a push or an attribute, or a part of
 * one: nothing that answers a command has begun.
 */
static inline bool rbi_reader_between(const rbi_reader *r)
{
	if (r->answer)
		return false;
	return r->hidden != 0 || r->pos == r->end || *r->pos == '>' ||
	       *r->pos == '|';
}

/* The kind in words, for messages: "an integer". */
const char *rbi_token_text(rbi_token_kind kind);

#endif
