/*
 * Random RESP2 streams, read by our reader and by hiredis's own: both must
 * see the same replies. Seeds are fixed, so that a failure comes again.
 */
#include "transcript.h"
#include "unit.h"

#include <hiredis/hiredis.h>

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
		s->cap = s->cap > 0 ? 2 * s->cap : 1024;
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
	int len = snprintf(head, sizeof(head), "%c%lld\r\n", type, n);

	put(s, head, (size_t)len);
}

static void put_bulk(stream *s, uint64_t *seed)
{
	static const size_t lens[] = { 0, 1, 2, 3, 9, 10, 11, 99, 100, 3000 };
	size_t len = lens[random_below(seed, N_OF(lens))];
	char data[3000];
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = (char)next_random(seed);
	put_head(s, '$', (long long)len);
	put(s, data, len);
	put(s, "\r\n", 2);
}

static void put_line(stream *s, uint64_t *seed, char type)
{
	char line[80];
	size_t len = random_below(seed, 70);
	size_t i;

	line[0] = type;
	for (i = 1; i <= len; i++)
		line[i] = (char)(' ' + random_below(seed, 95));
	line[i++] = '\r';
	line[i++] = '\n';
	put(s, line, i);
}

static void put_integer(stream *s, uint64_t *seed)
{
	unsigned shift = (unsigned)random_below(seed, 64);

	put_head(s, ':', (long long)next_random(seed) >> shift);
}

static void put_reply(stream *s, uint64_t *seed, int depth)
{
	size_t kind = random_below(seed, depth < DEPTH ? 10 : 8);
	size_t n;

	switch (kind) {
	case 0:
		put_head(s, '$', -1);
		return;
	case 1:
		put_head(s, '*', -1);
		return;
	case 2:
		put_line(s, seed, '+');
		return;
	case 3:
		put_line(s, seed, '-');
		return;
	case 4:
		put_integer(s, seed);
		return;
	case 8:
	case 9:
		n = random_below(seed, 6);
		put_head(s, '*', (long long)n);
		while (n-- > 0)
			put_reply(s, seed, depth + 1);
		return;
	default:
		put_bulk(s, seed);
		return;
	}
}

/* ----------------------------------------------------------- the oracle -- */

static void say_reply(transcript *t, const redisReply *reply, unsigned depth,
		      bool last);

static void say_elements(transcript *t, const redisReply *reply, unsigned depth,
			 bool last)
{
	size_t i;

	for (i = 0; i < reply->elements; i++)
		say_reply(t, reply->element[i], depth + 1,
			  last && i + 1 == reply->elements);
}

/* In the words of our own transcripts; last: it is the end of an answer. */
static void say_reply(transcript *t, const redisReply *reply, unsigned depth,
		      bool last)
{
	size_t len = (size_t)reply->len;

	switch (reply->type) {
	case REDIS_REPLY_STRING:
		say_word(t, "bulk");
		say_data(t, reply->str, len);
		break;
	case REDIS_REPLY_STATUS:
		say_word(t, "simple");
		say_data(t, reply->str, len);
		break;
	case REDIS_REPLY_ERROR:
		say_word(t, "error");
		say_data(t, reply->str, len);
		break;
	case REDIS_REPLY_INTEGER:
		say_word(t, "integer");
		say_number(t, reply->integer);
		say_bytes(t, "=", 1);
		say_number(t, reply->integer);
		break;
	case REDIS_REPLY_NIL:
		say_word(t, "nil");
		break;
	case REDIS_REPLY_ARRAY:
		say_word(t, "array");
		say_number(t, (long long)reply->elements);
		say_end(t, depth, last && reply->elements == 0);
		say_elements(t, reply, depth, last);
		return;
	default:
		fail_msg("hiredis read a reply of type %d", reply->type);
	}
	say_end(t, depth, last);
}

static void read_oracle(transcript *t, const stream *s)
{
	redisReader *reader = redisReaderCreate();
	void *reply;

	assert_non_null(reader);
	assert_int_equal(redisReaderFeed(reader, s->bytes, s->len), REDIS_OK);
	for (;;) {
		assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
		if (reply == NULL)
			break;
		say_reply(t, reply, 0, true);
		freeReplyObject(reply);
	}
	redisReaderFree(reader);
	say_word(t, "idle");
}

/* hiredis has one nil only. */
static void forget_nil_arrays(transcript *t)
{
	char *at;

	while ((at = strstr(t->text, " nil-array@")) != NULL) {
		memmove(at + 4, at + 10, strlen(at + 10) + 1);
		t->len -= 6;
	}
	if (strncmp(t->text, "nil-array@", 10) == 0)
		memmove(t->text + 3, t->text + 9, strlen(t->text + 9) + 1);
}

/* ---------------------------------------------------------------------- */

static void read_ours(transcript *t, const stream *s, uint64_t *seed,
		      size_t portion)
{
	size_t at = 0;

	while (at < s->len) {
		size_t n = 1 + random_below(seed, portion);

		if (n > s->len - at)
			n = s->len - at;
		transcript_feed(t, s->bytes + at, n);
		at += n;
	}
	transcript_end(t);
	forget_nil_arrays(t);
}

static void compare(uint64_t seed, bool run, size_t portion)
{
	uint64_t dice = seed;
	stream s = { NULL, 0, 0 };
	transcript ours;
	transcript theirs;
	int i;

	transcript_init(&ours, (size_t)1 << 29, run);
	transcript_init(&theirs, 0, false);
	for (i = 0; i < 10; i++)
		put_reply(&s, &dice, 0);
	read_oracle(&theirs, &s);
	read_ours(&ours, &s, &dice, portion);
	if (strcmp(ours.text, theirs.text) != 0)
		fail_msg("seed %llu, portions of %zu:\n%s\nhiredis:\n%s",
			 (unsigned long long)seed, portion, ours.text,
			 theirs.text);
	transcript_fini(&ours);
	transcript_fini(&theirs);
	free(s.bytes);
}

static void test_random_streams_are_read_as_hiredis_does(void **state)
{
	static const size_t portions[] = { 1, 7, 40, 1000, 1000000 };
	uint64_t seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 100; seed++) {
		for (i = 0; i < N_OF(portions); i++) {
			compare(seed, false, portions[i]);
			compare(seed, true, portions[i]);
		}
	}
}

/* Whatever comes: no crash, no endless loop, no byte read outside. */
static void test_damaged_streams_do_no_harm(void **state)
{
	uint64_t seed;
	size_t broken = 0;

	(void)state;
	for (seed = 1; seed <= 400; seed++) {
		uint64_t dice = seed;
		stream s = { NULL, 0, 0 };
		transcript t;

		put_reply(&s, &dice, 0);
		put_reply(&s, &dice, 0);
		s.bytes[random_below(&dice, s.len)] ^=
			(char)(1u << random_below(&dice, 8));
		transcript_init(&t, 1000, seed % 2 == 0);
		read_ours(&t, &s, &dice, 100);
		broken += t.broken;
		transcript_fini(&t);
		free(s.bytes);
	}
	assert_in_range(broken, 10, 399);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_streams_are_read_as_hiredis_does),
		cmocka_unit_test(test_damaged_streams_do_no_harm),
	};

	return cmocka_run_group_tests_name("reader_oracle", tests, NULL, NULL);
}
