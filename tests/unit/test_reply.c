/*
 * Replies built from tokens, against those that hiredis's own reader builds of
 * the same bytes.
 */
#include "alloc.h"
#include "count.h"
#include "replies.h"
#include "reply.h"
#include "unit.h"

#include <stdio.h>

/* hiredis 0.14 takes no more than 7. */
#define DEPTH 5

typedef struct stream {
	char *bytes;
	size_t len;
	size_t cap;
} stream;

static void put(stream *s, const char *bytes, size_t len)
{
	while (s->cap - s->len < len) {
		s->cap = 2 * s->cap + 1024;
		s->bytes = realloc(s->bytes, s->cap);
		assert_non_null(s->bytes);
	}
	if (len > 0)
		memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
}

static void put_head(stream *s, char type, long long n)
{
	char head[32];

	put(s, head, (size_t)sprintf(head, "%c%lld\r\n", type, n));
}

static void put_text(stream *s, uint64_t *seed, char type)
{
	char text[64];
	size_t len = random_below(seed, 40);
	size_t i;

	text[0] = type;
	for (i = 1; i <= len; i++)
		text[i] = (char)(' ' + random_below(seed, 94));
	put(s, text, len + 1);
	put(s, "\r\n", 2);
}

static void put_bulk(stream *s, uint64_t *seed)
{
	char data[300];
	size_t len = random_below(seed, 12) == 0 ? 300 : random_below(seed, 20);
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = (char)next_random(seed);
	put_head(s, '$', (long long)len);
	put(s, data, len);
	put(s, "\r\n", 2);
}

static void put_reply(stream *s, uint64_t *seed, size_t depth)
{
	size_t n = random_below(seed, 6);
	size_t i;

	switch (random_below(seed, depth < DEPTH ? 9 : 6)) {
	case 0:
		put_text(s, seed, '+');
		return;
	case 1:
		put_text(s, seed, '-');
		return;
	case 2:
		put_head(s, ':', (long long)next_random(seed));
		return;
	case 3:
		put(s, LIT("$-1\r\n"));
		return;
	case 4:
		put(s, LIT("*-1\r\n"));
		return;
	case 5:
		put_bulk(s, seed);
		return;
	default:
		put_head(s, '*', (long long)n);
		for (i = 0; i < n; i++)
			put_reply(s, seed, depth + 1);
		return;
	}
}

/* ------------------------------------------------------------- two ways -- */

/* Takes all replies of the stream out of hiredis's reader, as one text. */
static char *by_hiredis(const stream *s)
{
	redisReader *reader = redisReaderCreate();
	char *all = calloc(1, 8 * s->len + 64);
	size_t at = 0;

	assert_true(reader && all);
	assert_int_equal(redisReaderFeed(reader, s->bytes, s->len), REDIS_OK);
	for (;;) {
		void *reply = NULL;
		char *text;

		assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
		if (reply == NULL)
			break;
		text = rbt_reply_print(reply);
		at += (size_t)sprintf(all + at, "%s\n", text);
		free(text);
		freeReplyObject(reply);
	}
	redisReaderFree(reader);
	return all;
}

/* The same by ours, with the bytes arriving in two pieces, the first of cut
 * bytes. They lie where they are, as received bytes do. */
static char *by_ours(const stream *s, size_t cut)
{
	char *bytes = exact_copy(s->bytes, s->len);
	char *all = calloc(1, 8 * s->len + 64);
	const struct redisReply *list[64];
	rbi_reply_builder builder;
	rbi_slabs memory;
	rbi_reader reader;
	size_t n = 0;
	size_t at = 0;
	size_t i;

	assert_non_null(all);
	rbi_slabs_init(&memory, &rbi_alloc_default);
	rbi_reply_init(&builder, &memory);
	rbi_reader_init(&reader, 100000);
	rbi_reader_window(&reader, bytes, bytes + cut);
	for (;;) {
		const struct redisReply *whole;
		rbi_token token;
		rbi_token_kind k = rbi_reader_next(&reader, &token);

		assert_int_not_equal(k, RBI_TOKEN_BROKEN);
		if (k == RBI_TOKEN_MORE && reader.end == bytes + s->len)
			break;
		if (k == RBI_TOKEN_MORE) {
			rbi_reader_window(&reader, reader.pos, bytes + s->len);
			continue;
		}
		assert_status(rbi_reply_take(&builder, k, &token, &whole),
			      RB_OK);
		assert_int_equal(whole != NULL, token.last);
		if (whole != NULL) {
			assert_true(n < N_OF(list));
			list[n++] = whole;
		}
	}
	/* Only now: what came later must not have changed what came first. */
	for (i = 0; i < n; i++) {
		char *text = rbt_reply_print(list[i]);

		at += (size_t)sprintf(all + at, "%s\n", text);
		free(text);
	}
	rbi_slabs_fini(&memory);
	free(bytes);
	return all;
}

static void test_replies_are_what_hiredis_makes_cut_at_every_byte(void **state)
{
	uint64_t seed = 20261201;
	int round;

	(void)state;
	for (round = 0; round < 150; round++) {
		stream s = { NULL, 0, 0 };
		size_t n = 1 + random_below(&seed, 8);
		char *want;
		size_t cut;
		size_t i;

		for (i = 0; i < n; i++)
			put_reply(&s, &seed, 0);
		want = by_hiredis(&s);
		for (cut = 0; cut <= s.len; cut++) {
			char *got = by_ours(&s, cut);

			assert_string_equal(got, want);
			free(got);
		}
		free(want);
		free(s.bytes);
	}
}

static void test_types_of_resp3_are_numbered_as_hiredis_does(void **state)
{
	static const struct {
		const char *bytes, *want;
	} rows[] = {
		{ "_\r\n", "nil\n" },
		{ "#t\r\n", "#1\n" },
		{ "#f\r\n", "#0\n" },
		{ ",1.5\r\n", ",1.5\n" },
		{ ",inf\r\n", ",inf\n" },
		{ "(1234567890123456789012\r\n", "(1234567890123456789012\n" },
		{ "=7\r\ntxt:abc\r\n", "=abc\n" },
		{ "=4\r\ntxt:\r\n", "=\n" },
		{ "%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n", "%[+a, :1, +b, %[]]\n" },
		{ "~3\r\n+a\r\n_\r\n*1\r\n#t\r\n", "~[+a, nil, [#1]]\n" },
		{ "!5\r\nERR x\r\n", "-ERR x\n" },
		{ "*1\r\n!5\r\nERR x\r\n", "[-ERR x]\n" },
		{ ">2\r\n+a\r\n+b\r\n:1\r\n", ":1\n" },
		{ "*2\r\n|1\r\n+k\r\n+v\r\n:1\r\n:2\r\n", "[:1, :2]\n" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		stream s = { NULL, 0, 0 };
		size_t cut;

		put(&s, rows[i].bytes, strlen(rows[i].bytes));
		for (cut = 0; cut <= s.len; cut++) {
			char *got = by_ours(&s, cut);

			assert_string_equal(got, rows[i].want);
			free(got);
		}
		free(s.bytes);
	}
}

/* -------------------------------------------------------------- memory -- */

static void test_announced_elements_take_nothing_until_they_come(void **state)
{
	const rbi_token head = { .number = 1000000000 };
	const struct redisReply *whole;
	rbi_reply_builder builder;
	rbi_slabs memory;
	rbt_count count;
	int i;

	(void)state;
	rbt_count_init(&count);
	rbi_slabs_init(&memory, &count.allocator);
	rbi_reply_init(&builder, &memory);
	for (i = 0; i < RBI_READER_DEPTH; i++) {
		assert_status(rbi_reply_take(&builder, RBI_TOKEN_ARRAY, &head,
					     &whole),
			      RB_OK);
		assert_null(whole);
	}
	assert_in_range(count.live_bytes, 1, 100000);
	rbi_slabs_fini(&memory);
	assert_int_equal(count.live_blocks, 0);
}

static void test_a_lack_of_memory_is_told(void **state)
{
	const rbi_token head = { .number = 2000 };
	const rbi_token one = { .number = 1, .data = NULL };
	rb_status status = RB_ERR_NOMEM;
	size_t at;

	(void)state;
	for (at = 1; status != RB_OK; at++) {
		const struct redisReply *whole = NULL;
		rbi_reply_builder builder;
		rbi_slabs memory;
		rbt_count count;
		int i;

		rbt_count_init(&count);
		count.fail_at = at;
		rbi_slabs_init(&memory, &count.allocator);
		rbi_reply_init(&builder, &memory);
		status = rbi_reply_take(&builder, RBI_TOKEN_ARRAY, &head,
					&whole);
		for (i = 0; i < 2000 && status == RB_OK; i++)
			status = rbi_reply_take(&builder, RBI_TOKEN_INTEGER,
						&one, &whole);
		if (status == RB_OK)
			assert_int_equal(whole->elements, 2000);
		else
			assert_status(status, RB_ERR_NOMEM);
		rbi_slabs_fini(&memory);
		assert_int_equal(count.live_blocks, 0);
	}
	assert_true(at > 3);
}

/* --------------------------------------------------------------- looking -- */

static void test_only_an_array_has_a_first_element(void **state)
{
	redisReply nil = { .type = REDIS_REPLY_NIL };
	redisReply one = { .type = REDIS_REPLY_INTEGER };
	redisReply *elements[] = { &nil, &one };
	redisReply list = { .type = REDIS_REPLY_ARRAY,
			    .elements = 2,
			    .element = elements };

	(void)state;
	assert_false(rbi_reply_has_element(NULL));
	assert_false(rbi_reply_has_element(&one));
	assert_false(rbi_reply_has_element(&list));
	elements[0] = &one;
	assert_true(rbi_reply_has_element(&list));
	list.elements = 0;
	assert_false(rbi_reply_has_element(&list));
}

/* One reply and the memory that it lies in. */
typedef struct built {
	rbi_slabs memory;
	char *bytes;
	const struct redisReply *reply;
} built;

static void build(built *b, const char *text)
{
	rbi_reply_builder builder;
	rbi_reader reader;
	rbi_token token;

	b->bytes = exact_copy(text, strlen(text));
	b->reply = NULL;
	rbi_slabs_init(&b->memory, &rbi_alloc_default);
	rbi_reply_init(&builder, &b->memory);
	rbi_reader_init(&reader, 100);
	rbi_reader_window(&reader, b->bytes, b->bytes + strlen(text));
	while (b->reply == NULL) {
		rbi_token_kind k = rbi_reader_next(&reader, &token);

		assert_status(rbi_reply_take(&builder, k, &token, &b->reply),
			      RB_OK);
	}
}

static void unbuild(built *b)
{
	rbi_slabs_fini(&b->memory);
	free(b->bytes);
}

static void test_a_reply_tells_what_it_is(void **state)
{
	static const struct {
		const char *bytes;
		size_t count;
		bool integer;
		int64_t number;
		bool error;
		bool nil;
		const char *text;
	} rows[] = {
		{ ":-7\r\n", .integer = true, .number = -7 },
		{ "#t\r\n", .count = 0 },
		{ "_\r\n", .nil = true },
		{ "$-1\r\n", .nil = true },
		{ "*-1\r\n", .nil = true },
		{ "-ERR x\r\n", .error = true, .text = "ERR x" },
		{ "!5\r\nERR x\r\n", .error = true, .text = "ERR x" },
		{ "+OK\r\n", .text = "OK" },
		{ "$0\r\n\r\n", .text = "" },
		{ "$3\r\nabc\r\n", .text = "abc" },
		{ "*0\r\n", .count = 0 },
		{ "*2\r\n:1\r\n:2\r\n", .count = 2 },
		{ "~1\r\n:1\r\n", .count = 1 },
		{ "%2\r\n:1\r\n:2\r\n:3\r\n:4\r\n", .count = 4 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		int64_t number = 99;
		built b;

		build(&b, rows[i].bytes);
		assert_int_equal(rbi_reply_count(b.reply), rows[i].count);
		assert_int_equal(rbi_reply_integer(b.reply, &number),
				 rows[i].integer);
		assert_true(number == rows[i].number);
		assert_int_equal(rbi_reply_is_error(b.reply), rows[i].error);
		assert_int_equal(rbi_reply_is_nil(b.reply), rows[i].nil);
		if (rows[i].text == NULL)
			assert_null(rbi_reply_text(b.reply).data);
		else
			assert_string_equal(rbi_reply_text(b.reply).data,
					    rows[i].text);
		assert_int_equal(rbi_reply_text(b.reply).len,
				 rows[i].text == NULL ? 0 :
							strlen(rows[i].text));
		unbuild(&b);
	}
}

static void test_elements_are_found_at_any_depth(void **state)
{
	const struct redisReply *inner;
	int64_t number;
	built b;

	(void)state;
	build(&b, "*2\r\n*2\r\n$1\r\na\r\n:5\r\n%1\r\n+k\r\n+v\r\n");
	inner = rbi_reply_element(b.reply, 0);
	assert_string_equal(rbi_reply_text(rbi_reply_element(inner, 0)).data,
			    "a");
	assert_true(rbi_reply_integer(rbi_reply_element(inner, 1), &number));
	assert_int_equal(number, 5);
	inner = rbi_reply_element(b.reply, 1);
	assert_string_equal(rbi_reply_text(rbi_reply_element(inner, 1)).data,
			    "v");
	assert_null(rbi_reply_element(inner, 2));
	assert_null(rbi_reply_element(b.reply, 2));
	assert_null(rbi_reply_element(b.reply, SIZE_MAX));
	unbuild(&b);
}

static void test_what_is_not_there_has_nothing(void **state)
{
	built b;
	int64_t number = 99;

	(void)state;
	build(&b, ":1\r\n");
	assert_null(rbi_reply_element(b.reply, 0));
	assert_null(rbi_reply_element(NULL, 0));
	assert_int_equal(rbi_reply_count(NULL), 0);
	assert_false(rbi_reply_integer(NULL, &number));
	assert_true(number == 0);
	assert_false(rbi_reply_is_error(NULL));
	assert_false(rbi_reply_is_nil(NULL));
	assert_null(rbi_reply_text(NULL).data);
	assert_int_equal(rbi_reply_text(NULL).len, 0);
	unbuild(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_replies_are_what_hiredis_makes_cut_at_every_byte),
		cmocka_unit_test(
			test_types_of_resp3_are_numbered_as_hiredis_does),
		cmocka_unit_test(
			test_announced_elements_take_nothing_until_they_come),
		cmocka_unit_test(test_a_lack_of_memory_is_told),
		cmocka_unit_test(test_only_an_array_has_a_first_element),
		cmocka_unit_test(test_a_reply_tells_what_it_is),
		cmocka_unit_test(test_elements_are_found_at_any_depth),
		cmocka_unit_test(test_what_is_not_there_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
