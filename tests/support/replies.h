/*
 * What a test says about replies and about entries that were written.
 *
 * A reply is printed as one line, so that two of them are compared as texts:
 * "a string", +status, -error, :1, nil, [a, b], %[key, value], ~[of a set],
 * ,1.5 (1234 #1 =text.
 */
#ifndef RBT_REPLIES_H
#define RBT_REPLIES_H

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>

#include <stddef.h>

/* To be freed. NULL is printed as "none". */
char *rbt_reply_print(const redisReply *reply);

/* The reply to command i is printed so; its entry is fine unless the reply is
 * an error. */
#define want_reply(res, i, text) \
	rbt_want_reply((res), (i), (text), __FILE__, __LINE__)
/* Entry i was refused by the server with these words in its text. */
#define want_refused(res, i, words) \
	rbt_want_refused((res), (i), (words), __FILE__, __LINE__)
/* Entry i has no value, and no failure, and this outcome. */
#define want_written(res, i, outcome) \
	rbt_want_written((res), (i), (outcome), __FILE__, __LINE__)
/* Chunk i went so. */
#define want_chunk(res, i, count, status, outcome)                         \
	rbt_want_chunk((res), (i), (count), (status), (outcome), __FILE__, \
		       __LINE__)

void rbt_want_reply(const rb_result *res, size_t i, const char *text,
		    const char *file, int line);
void rbt_want_refused(const rb_result *res, size_t i, const char *words,
		      const char *file, int line);
void rbt_want_written(const rb_result *res, size_t i, rb_outcome outcome,
		      const char *file, int line);
void rbt_want_chunk(const rb_result *res, size_t i, size_t count,
		    rb_status status, rb_outcome outcome, const char *file,
		    int line);

#endif
