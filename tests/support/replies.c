#include "replies.h"

#include "want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FAIL(...)                         \
	do {                              \
		print_error(__VA_ARGS__); \
		print_error("\n");        \
		_fail(file, line);        \
	} while (0)

/* Numbers of hiredis 1.x, which the library gives with any hiredis. */
enum {
	TYPE_DOUBLE = 7,
	TYPE_BOOL = 8,
	TYPE_MAP = 9,
	TYPE_SET = 10,
	TYPE_BIGNUM = 13,
	TYPE_VERB = 14
};

typedef struct text {
	char *buf;
	size_t len;
	size_t cap;
} text;

static void put(text *t, const char *bytes, size_t n)
{
	if (t->cap - t->len < n + 1) {
		t->cap = 2 * (t->cap + n) + 64;
		t->buf = realloc(t->buf, t->cap);
		assert_non_null(t->buf);
	}
	memcpy(t->buf + t->len, bytes, n);
	t->len += n;
	t->buf[t->len] = '\0';
}

static void put_text(text *t, const char *s)
{
	put(t, s, strlen(s));
}

static void put_number(text *t, char type, long long number)
{
	char digits[40];

	snprintf(digits, sizeof(digits), "%c%lld", type, number);
	put_text(t, digits);
}

/* Bytes that cannot be printed as \xhh. */
static void put_string(text *t, const redisReply *reply)
{
	char hex[8];

	if (!reply->str) {
		put_text(t, "NULL");
		return;
	}
	for (size_t i = 0; i < (size_t)reply->len; i++) {
		unsigned char c = (unsigned char)reply->str[i];

		snprintf(hex, sizeof(hex), c < 32 || c > 126 ? "\\x%02x" : "%c",
			 c);
		put_text(t, hex);
	}
	if (reply->str[reply->len] != '\0')
		put_text(t, "(without its NUL)");
}

static void put_reply(text *t, const redisReply *reply);

static void put_elements(text *t, const char *open, const redisReply *reply)
{
	put_text(t, open);
	for (size_t i = 0; i < reply->elements; i++) {
		if (i > 0)
			put_text(t, ", ");
		put_reply(t, reply->element[i]);
	}
	put_text(t, "]");
}

static void put_typed(text *t, const char *type, const redisReply *reply)
{
	put_text(t, type);
	put_string(t, reply);
}

static void put_reply(text *t, const redisReply *reply)
{
	switch (reply ? reply->type : -1) {
	case -1:
		put_text(t, "none");
		break;
	case REDIS_REPLY_STRING:
		put_typed(t, "\"", reply);
		put_text(t, "\"");
		break;
	case REDIS_REPLY_STATUS:
		put_typed(t, "+", reply);
		break;
	case REDIS_REPLY_ERROR:
		put_typed(t, "-", reply);
		break;
	case REDIS_REPLY_INTEGER:
		put_number(t, ':', reply->integer);
		break;
	case REDIS_REPLY_NIL:
		put_text(t, "nil");
		break;
	case REDIS_REPLY_ARRAY:
		put_elements(t, "[", reply);
		break;
	case TYPE_MAP:
		put_elements(t, "%[", reply);
		break;
	case TYPE_SET:
		put_elements(t, "~[", reply);
		break;
	case TYPE_DOUBLE:
		put_typed(t, ",", reply);
		break;
	case TYPE_BIGNUM:
		put_typed(t, "(", reply);
		break;
	case TYPE_VERB:
		put_typed(t, "=", reply);
		break;
	case TYPE_BOOL:
		put_number(t, '#', reply->integer);
		break;
	default:
		put_number(t, '?', reply->type);
		break;
	}
}

char *rbt_reply_print(const redisReply *reply)
{
	text t = { NULL, 0, 0 };

	put_reply(&t, reply);
	return t.buf;
}

void rbt_want_reply(const rb_result *res, size_t i, const char *wanted,
		    const char *file, int line)
{
	char *got = rbt_reply_print(rb_result_reply(res, i));
	bool is_error = wanted[0] == '-';
	rb_status status = is_error ? RB_ERR_SERVER : RB_OK;
	rb_outcome outcome = is_error ? RB_REJECTED : RB_ANSWERED;

	if (strcmp(got, wanted) != 0)
		FAIL("reply %zu is %.2000s, not %.2000s", i, got, wanted);
	free(got);
	if (rb_result_status(res, i) != status ||
	    rb_result_outcome(res, i) != outcome)
		FAIL("entry %zu with reply %.200s is \"%s\", %s", i, wanted,
		     rb_status_text(rb_result_status(res, i)),
		     rb_outcome_text(rb_result_outcome(res, i)));
	if (is_error && strcmp(rb_result_message(res, i), wanted + 1) != 0)
		FAIL("entry %zu says \"%s\" of %s", i,
		     rb_result_message(res, i), wanted);
	if (!is_error && rb_result_message(res, i)[0] != '\0')
		FAIL("entry %zu is fine and says \"%s\"", i,
		     rb_result_message(res, i));
}

void rbt_want_refused(const rb_result *res, size_t i, const char *words,
		      const char *file, int line)
{
	rbt_want_failed(res, i, RB_ERR_SERVER, RB_REJECTED, file, line);
	rbt_want_words(rb_result_message(res, i), words, file, line);
}

void rbt_want_written(const rb_result *res, size_t i, rb_outcome outcome,
		      const char *file, int line)
{
	rb_slice v = rb_result_value(res, i);

	if (rb_result_status(res, i) == RB_OK &&
	    rb_result_outcome(res, i) == outcome && !v.data && v.len == 0 &&
	    rb_result_message(res, i)[0] == '\0')
		return;
	FAIL("entry %zu of %zu: %s, %s, \"%s\", not ok and %s", i,
	     rb_result_count(res), rb_status_text(rb_result_status(res, i)),
	     rb_outcome_text(rb_result_outcome(res, i)),
	     rb_result_message(res, i), rb_outcome_text(outcome));
}

void rbt_want_chunk(const rb_result *res, size_t i, size_t count,
		    rb_status status, rb_outcome outcome, const char *file,
		    int line)
{
	const rb_chunk *chunk = rb_result_chunk(res, i);

	if (!chunk)
		FAIL("there is no chunk %zu of %zu", i, rb_result_chunks(res));
	if (chunk->count == count && chunk->status == status &&
	    chunk->outcome == outcome)
		return;
	FAIL("chunk %zu: %zu entries, \"%s\", %s, \"%s\", not %zu, \"%s\", %s",
	     i, chunk->count, rb_status_text(chunk->status),
	     rb_outcome_text(chunk->outcome), chunk->message, count,
	     rb_status_text(status), rb_outcome_text(outcome));
}
