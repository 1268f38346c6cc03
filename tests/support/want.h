/*
 * What a test says about a call and its result. Each of these ends the test
 * when it does not hold, naming the line of the test that said it.
 */
#ifndef RBT_WANT_H
#define RBT_WANT_H

#include <redisbatch/redisbatch.h>

#include <stddef.h>

/* The call answered this status; otherwise the client's line is printed. */
#define want_status(rb, got, want) \
	rbt_want_status((rb), (got), (want), __FILE__, __LINE__)
/* Entry i has this value: bytes, or a literal without its NUL. */
#define want_bytes(res, i, data, len) \
	rbt_want_bytes((res), (i), (data), (len), __FILE__, __LINE__)
#define want_text(res, i, text) want_bytes((res), (i), (text), sizeof(text) - 1)
/* Entry i has the value that rbt_value_fill() made. */
#define want_filled(res, i, len, number) \
	rbt_want_filled((res), (i), (len), (number), __FILE__, __LINE__)
/* The server said nil of entry i. */
#define want_nil(res, i) rbt_want_nil((res), (i), __FILE__, __LINE__)
/* Entry i failed so: it has no value, and a message. */
#define want_failed(res, i, status, outcome) \
	rbt_want_failed((res), (i), (status), (outcome), __FILE__, __LINE__)
/* The text has the words in it. */
#define want_words(text, words) \
	rbt_want_words((text), (words), __FILE__, __LINE__)
#define want_no_words(text, words) \
	rbt_want_no_words((text), (words), __FILE__, __LINE__)
/* Entries first .. first + n - 1 have the values of those numbers, and no
 * other in the result has one. */
#define want_loaded(res, n, len) \
	rbt_want_loaded((res), (n), (len), __FILE__, __LINE__)
/* What the result says as a whole agrees with what it says of its parts. */
#define want_sound(res) rbt_want_sound((res), __FILE__, __LINE__)

void rbt_want_status(const rb_client *rb, rb_status got, rb_status want,
		     const char *file, int line);
void rbt_want_bytes(const rb_result *res, size_t i, const void *data,
		    size_t len, const char *file, int line);
void rbt_want_filled(const rb_result *res, size_t i, size_t len, size_t number,
		     const char *file, int line);
void rbt_want_nil(const rb_result *res, size_t i, const char *file, int line);
void rbt_want_failed(const rb_result *res, size_t i, rb_status status,
		     rb_outcome outcome, const char *file, int line);
void rbt_want_words(const char *text, const char *words, const char *file,
		    int line);
void rbt_want_no_words(const char *text, const char *words, const char *file,
		       int line);
void rbt_want_loaded(const rb_result *res, size_t n, size_t len,
		     const char *file, int line);
void rbt_want_sound(const rb_result *res, const char *file, int line);

/* How many entries have this status, this outcome, this value (nil: those the
 * server said nil of). */
size_t rbt_count_status(const rb_result *res, rb_status status);
size_t rbt_count_outcome(const rb_result *res, rb_outcome outcome);
size_t rbt_count_nil(const rb_result *res);

/* Bytes of a command, by a way of reckoning that is not the library's. lens of
 * argc - 1 arguments behind a name of name_len bytes. */
size_t rbt_request_size(size_t name_len, const size_t *lens, size_t n);

/* Options with these two set, and a deadline that ends what would hang. */
rb_options rbt_options(size_t chunk_keys, size_t window);

#endif
