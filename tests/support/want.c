#include "want.h"

#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Longer than any test should take, shorter than the runner's patience. */
enum { HANG_MS = 60000 };

#define FAIL(...)                         \
	do {                              \
		print_error(__VA_ARGS__); \
		print_error("\n");        \
		_fail(file, line);        \
	} while (0)

/* --------------------------------------------------------------- a call -- */

void rbt_want_status(const rb_client *rb, rb_status got, rb_status want,
		     const char *file, int line)
{
	if (got == want)
		return;
	FAIL("answered \"%s\", not \"%s\": %s", rb_status_text(got),
	     rb_status_text(want), rb_client_error(rb));
}

void rbt_want_words(const char *text, const char *words, const char *file,
		    int line)
{
	if (text && strstr(text, words))
		return;
	FAIL("\"%s\" does not say \"%s\"", text ? text : "NULL", words);
}

void rbt_want_no_words(const char *text, const char *words, const char *file,
		       int line)
{
	if (text && !strstr(text, words))
		return;
	FAIL("\"%s\" says \"%s\"", text ? text : "NULL", words);
}

/* ------------------------------------------------------------ an entry -- */

static void print_entry(const rb_result *res, size_t i)
{
	rb_slice v = rb_result_value(res, i);

	print_error("entry %zu of %zu: %s, %s, %zu bytes at %p, \"%s\"\n", i,
		    rb_result_count(res),
		    rb_status_text(rb_result_status(res, i)),
		    rb_outcome_text(rb_result_outcome(res, i)), v.len,
		    (const void *)v.data, rb_result_message(res, i));
}

static int is_fine(const rb_result *res, size_t i)
{
	return rb_result_status(res, i) == RB_OK &&
	       rb_result_outcome(res, i) == RB_ANSWERED &&
	       rb_result_message(res, i)[0] == '\0';
}

void rbt_want_bytes(const rb_result *res, size_t i, const void *data,
		    size_t len, const char *file, int line)
{
	rb_slice v = rb_result_value(res, i);

	if (is_fine(res, i) && v.data && v.len == len &&
	    memcmp(v.data, data, len) == 0 && v.data[len] == '\0')
		return;
	print_entry(res, i);
	FAIL("it is not the value of %zu bytes", len);
}

void rbt_want_filled(const rb_result *res, size_t i, size_t len, size_t number,
		     const char *file, int line)
{
	rb_slice v = rb_result_value(res, i);

	if (is_fine(res, i) && rbt_value_is(v.data, v.len, len, number) &&
	    v.data[len] == '\0')
		return;
	print_entry(res, i);
	FAIL("it is not value %zu of %zu bytes", number, len);
}

void rbt_want_nil(const rb_result *res, size_t i, const char *file, int line)
{
	rb_slice v = rb_result_value(res, i);

	if (is_fine(res, i) && !v.data && v.len == 0)
		return;
	print_entry(res, i);
	FAIL("it is not nil");
}

void rbt_want_failed(const rb_result *res, size_t i, rb_status status,
		     rb_outcome outcome, const char *file, int line)
{
	rb_slice v = rb_result_value(res, i);

	if (rb_result_status(res, i) == status &&
	    rb_result_outcome(res, i) == outcome && !v.data && v.len == 0 &&
	    rb_result_message(res, i)[0] != '\0')
		return;
	print_entry(res, i);
	FAIL("it did not fail with \"%s\", %s", rb_status_text(status),
	     rb_outcome_text(outcome));
}

/* ------------------------------------------------------------- results -- */

void rbt_want_loaded(const rb_result *res, size_t n, size_t len,
		     const char *file, int line)
{
	if (rb_result_count(res) != n || rb_result_failed(res) != 0)
		FAIL("%zu entries, %zu failed, not %zu fine ones",
		     rb_result_count(res), rb_result_failed(res), n);
	for (size_t i = 0; i < n; i++)
		rbt_want_filled(res, i, len, i, file, line);
}

static void want_sound_chunk(const rb_result *res, const rb_chunk *chunk,
			     const char *file, int line)
{
	size_t failed = 0;

	for (size_t i = 0; i < chunk->count; i++)
		if (rb_result_status(res, chunk->first + i) != RB_OK)
			failed++;
	if (chunk->entries || !chunk->message || !chunk->node)
		FAIL("the chunk at %zu lacks a text", chunk->first);
	if ((chunk->status == RB_OK) != (chunk->message[0] == '\0'))
		FAIL("the chunk at %zu is \"%s\" and says \"%s\"", chunk->first,
		     rb_status_text(chunk->status), chunk->message);
	if (chunk->status == RB_OK && failed > 0)
		FAIL("the chunk at %zu is fine, but %zu entries failed",
		     chunk->first, failed);
	if (chunk->status == RB_ERR_PARTIAL && failed == 0)
		FAIL("no entry of the chunk at %zu failed", chunk->first);
}

void rbt_want_sound(const rb_result *res, const char *file, int line)
{
	size_t next = 0, failed = 0;

	for (size_t i = 0; i < rb_result_chunks(res); i++) {
		const rb_chunk *chunk = rb_result_chunk(res, i);

		if (!chunk || chunk->first != next || chunk->count == 0)
			FAIL("chunk %zu does not begin at %zu", i, next);
		next += chunk->count;
		want_sound_chunk(res, chunk, file, line);
	}
	if (next != rb_result_count(res))
		FAIL("chunks hold %zu of %zu entries", next,
		     rb_result_count(res));
	for (size_t i = 0; i < rb_result_count(res); i++)
		if (rb_result_status(res, i) != RB_OK)
			failed++;
	if (failed != rb_result_failed(res))
		FAIL("%zu failed, not %zu", failed, rb_result_failed(res));
}

size_t rbt_count_status(const rb_result *res, rb_status status)
{
	size_t n = 0;

	for (size_t i = 0; i < rb_result_count(res); i++)
		n += rb_result_status(res, i) == status;
	return n;
}

size_t rbt_count_outcome(const rb_result *res, rb_outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < rb_result_count(res); i++)
		n += rb_result_outcome(res, i) == outcome;
	return n;
}

size_t rbt_count_nil(const rb_result *res)
{
	size_t n = 0;

	for (size_t i = 0; i < rb_result_count(res); i++)
		n += rb_result_status(res, i) == RB_OK &&
		     !rb_result_value(res, i).data;
	return n;
}

/* --------------------------------------------------------------- sizes -- */

static size_t bulk_size(size_t len)
{
	return (size_t)snprintf(NULL, 0, "$%zu\r\n", len) + len + 2;
}

size_t rbt_request_size(size_t name_len, const size_t *lens, size_t n)
{
	size_t size = (size_t)snprintf(NULL, 0, "*%zu\r\n", n + 1);

	size += bulk_size(name_len);
	for (size_t i = 0; i < n; i++)
		size += bulk_size(lens[i]);
	return size;
}

rb_options rbt_options(size_t chunk_keys, size_t window)
{
	rb_options o;

	rb_options_init(&o);
	o.chunk_keys = chunk_keys;
	o.window = window;
	o.timeout_ms = o.connect_timeout_ms = HANG_MS;
	return o;
}
