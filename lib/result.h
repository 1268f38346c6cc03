/*
 * What a call answers with: a value or a status for each entry, a report for
 * each chunk, and the memory that all of them point into.
 *
 * An entry is 16 bytes: where its bytes are, and a word of length and state.
 * An entry left unset fared as its chunk did, so that a chunk that fails
 * writes its report and nothing else, whatever arrived before stays, and
 * nothing can be uninitialised.
 *
 * Reports are kept in the order of their entries, without gaps. There is
 * always room for one more, which covers all entries that are left: a lack of
 * memory makes the reports coarser, but loses none.
 */
#ifndef RBI_RESULT_H
#define RBI_RESULT_H

#include "reply.h"
#include "slab.h"

typedef enum rbi_state {
	RBI_STATE_UNSET, /* as its chunk */
	RBI_STATE_VALUE,
	RBI_STATE_NIL,
	RBI_STATE_ERROR,      /* data: the server's words, with a NUL */
	RBI_STATE_DOUBT,      /* likewise; it may have been applied */
	RBI_STATE_SHAPE,      /* data: a static text */
	RBI_STATE_LONG,	      /* past a limit; data: a static text */
	RBI_STATE_DONE,	      /* a write, applied */
	RBI_STATE_UNMET,      /* a write whose condition was not met */
	RBI_STATE_REPLY,      /* data: a redisReply */
	RBI_STATE_REPLY_ERROR /* likewise, and it is an error */
} rbi_state;

typedef struct rbi_entry {
	const void *data;
	uint64_t word; /* len << 8 | state */
} rbi_entry;

/* In place of the length of an entry that has none: it may be applied. */
#define RBI_ENTRY_DOUBT 1

static inline void rbi_entry_set(rbi_entry *e, rbi_state state,
				 const void *data, size_t len)
{
	e->data = data;
	e->word = (uint64_t)len << 8 | (uint64_t)state;
}

static inline rbi_state rbi_entry_state(const rbi_entry *e)
{
	return (rbi_state)(e->word & 0xff);
}

/* What RBI_STATE_DONE carries besides; 0 for any other state. */
static inline size_t rbi_entry_number(const rbi_entry *e)
{
	return rbi_entry_state(e) == RBI_STATE_DONE ? (size_t)(e->word >> 8) :
						      0;
}

/* The entry was not applied by what answered it, but perhaps before that. */
static inline void rbi_entry_doubt(rbi_entry *e)
{
	rbi_state state = rbi_entry_state(e);

	if (state == RBI_STATE_ERROR)
		rbi_entry_set(e, RBI_STATE_DOUBT, e->data, 0);
	else if (state == RBI_STATE_UNMET || state == RBI_STATE_REPLY_ERROR)
		rbi_entry_set(e, state, e->data, RBI_ENTRY_DOUBT);
}

struct rb_result {
	const rb_allocator *allocator;
	size_t n;
	rbi_entry *entries;
	rb_chunk *chunks;
	size_t nchunks;
	size_t chunk_cap;
	size_t failed;
	int64_t total;
	rbi_slabs bytes; /* received, entries point in here */
	rbi_slabs notes; /* texts of our own */
	const char *node;
	rb_stats stats;
	/* Reports stand in any order, and entries know theirs. */
	bool loose;
	size_t promised;  /* reports still to come that there is room for */
	rb_result *parts; /* more memory that entries point into */
};

/*
 * A result of n unset entries, with room for the reports of chunks chunks.
 * NULL: no memory.
 */
rb_result *rbi_result_new(const rb_allocator *a, size_t n, size_t chunks,
			  const char *node) RBI_MUST_CHECK;

/*
 * Makes room for one more report and for the last one behind it. False: no
 * memory; then only the last report may be added.
 */
bool rbi_result_reserve(rb_result *res) RBI_MUST_CHECK;

/* The report that entry i is in; NULL: none. */
rb_chunk *rbi_result_find(const rb_result *res, size_t i);

/* Adds the report of count entries from first on; its number. */
size_t rbi_result_add(rb_result *res, size_t first, size_t count);

/*
 * Splits a report behind its first count entries. The new one behind it covers
 * the rest, and those that follow move up. Needs room for one more report.
 */
void rbi_result_split(rb_result *res, rb_chunk *chunk, size_t count);

/*
 * From now on reports come as they become known, and each unset entry carries
 * the number of its report. There is room for those that were promised, and
 * for one more. reopen takes one back that stands already: it is promised then.
 */
void rbi_result_loosen(rb_result *res);
void rbi_result_reopen(rb_result *res, rb_chunk *chunk);

/* Makes room for one report more. False: no memory. */
bool rbi_result_promise(rb_result *res) RBI_MUST_CHECK;

/* A report that was promised; numbers NULL: of entries first and on. */
rb_chunk *rbi_result_append(rb_result *res, size_t first, size_t count,
			    const size_t *numbers);

/* Tells the entries of a report which one is theirs. */
void rbi_result_label(rb_result *res, const rb_chunk *chunk);

/* Makes a result a part of another, which is freed with it, and adds up what
 * both cost. */
void rbi_result_adopt(rb_result *res, rb_result *part);

/* Forgets what became of all entries, but not the reports they are in. */
void rbi_result_unset(rb_result *res);

/* The status and outcome of an entry whose chunk fared as given. */
rb_status rbi_entry_status(const rbi_entry *e, rb_status chunk);
rb_outcome rbi_entry_outcome(const rbi_entry *e, rb_outcome chunk);

/* The reply of an entry; NULL: none. */
const struct redisReply *rbi_entry_reply(const rbi_entry *e);

/* Why an entry failed; "" for one that did not, or does not know. */
const char *rbi_entry_words(const rbi_entry *e);

/* The bytes of an entry; data NULL: none. */
rb_slice rbi_entry_value(const rbi_entry *e);

/*
 * A copy of a message that lives as long as the result. Without memory, the
 * words of the status.
 */
const char *rbi_result_note(rb_result *res, rb_status status,
			    const char *message);

/* The bytes that were received and are kept, and those of our own texts. */
size_t rbi_result_bytes(const rb_result *res);

/* Counts what failed, once all reports stand, and frees what is not needed. */
void rbi_result_seal(rb_result *res);

#endif
