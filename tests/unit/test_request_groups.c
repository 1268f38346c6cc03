/*
 * The bytes of chunks that are cut by slots, and where ASKING stands in them.
 */
#include "count.h"
#include "groups.h"
#include "request.h"

/* All that waits in out, gathered, to be freed. */
static char *gather(rbi_outbuf *out, size_t *size)
{
	char *buf = malloc(out->pending + 1);
	struct iovec iov[5];

	assert_non_null(buf);
	*size = 0;
	while (out->pending > 0) {
		int n = rbi_outbuf_offer(out, iov, 5);
		size_t took = 0;
		int i;

		for (i = 0; i < n; i++) {
			memcpy(buf + *size + took, iov[i].iov_base,
			       iov[i].iov_len);
			took += iov[i].iov_len;
		}
		assert_true(took > 0);
		rbi_outbuf_sent(out, took);
		*size += took;
	}
	return buf;
}

static void check_appended(rbi_outbuf *out, const rbi_cut *cut,
			   const char *name)
{
	size_t want_size;
	size_t got_size;
	char *want = print_cut(cut, &want_size, NULL);
	char *got;

	assert_status(rbi_request_append(out, cut), RB_OK);
	assert_int_equal(cut->request_bytes, want_size);
	assert_int_equal(out->pending, want_size);
	got = gather(out, &got_size);
	assert_int_equal(got_size, want_size);
	if (memcmp(got, want, want_size) != 0)
		fail_msg("%s: %.*s", name, (int)got_size, got);
	free(want);
	free(got);
}

/* ---------------------------------------------------------------- a few -- */

typedef struct byte_case {
	const char *name;
	rbi_form form;
	bool transaction;
	bool alone;
	bool asking;
	const char *slots;
	size_t count;
	const char *want;
} byte_case;

#define ASKING "*1\r\n$6\r\nASKING\r\n"
#define MULTI "*1\r\n$5\r\nMULTI\r\n"
#define EXEC "*1\r\n$4\r\nEXEC\r\n"
#define GET(k) "*2\r\n$3\r\nGET\r\n$1\r\n" k "\r\n"
#define MGET1(k) "*2\r\n$4\r\nMGET\r\n$1\r\n" k "\r\n"
#define MGET2(k, l) "*3\r\n$4\r\nMGET\r\n$1\r\n" k "\r\n$1\r\n" l "\r\n"

static void check_bytes(const byte_case *c)
{
	static const char *names[] = { "a", "b", "c", "d" };
	uint16_t slots[4] = { 0 };
	rbi_batch b = {
		.form = c->form,
		.command = { "MGET", 4 },
		.single = { "GET", 3 },
		.transaction = c->transaction,
		.keys = names,
		.n = 4,
	};
	rbi_outbuf out;
	rbt_count count;
	rbi_cut cut;
	size_t size;
	char *got;
	size_t i;

	for (i = 0; c->slots[i] != '\0'; i++)
		slots[i] = (uint16_t)c->slots[i];
	b.slots = i > 0 ? slots : NULL;
	cut = groups_whole(&b, 0, c->alone, c->asking);
	cut = rbi_plan_part(&cut, 0, c->count);
	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	assert_status(rbi_request_append(&out, &cut), RB_OK);
	got = gather(&out, &size);
	got[size] = '\0';
	if (strcmp(got, c->want) != 0)
		fail_msg("%s: %s", c->name, got);
	assert_int_equal(size, cut.request_bytes);
	free(got);
	rbi_outbuf_fini(&out);
}

static void test_groups_and_asking_stand_where_they_should(void **state)
{
	static const byte_case cases[] = {
		{ "groups", RBI_FORM_GATHER, false, false, false, "xxyz", 4,
		  MGET2("a", "b") GET("c") GET("d") },
		{ "asking", RBI_FORM_GATHER, false, false, true, "xyyz", 4,
		  ASKING GET("a") ASKING MGET2("b", "c") ASKING GET("d") },
		{ "no slots", RBI_FORM_GATHER, false, false, false, "", 2,
		  MGET2("a", "b") },
		{ "one without slots", RBI_FORM_GATHER, false, false, false, "",
		  1, MGET1("a") },
		{ "asking without slots", RBI_FORM_GATHER, false, false, true,
		  "", 2, ASKING MGET2("a", "b") },
		{ "alone", RBI_FORM_GATHER, false, true, true, "xxx", 3,
		  ASKING GET("a") ASKING GET("b") ASKING GET("c") },
		{ "each", RBI_FORM_EACH, false, false, true, "xx", 2,
		  ASKING MGET1("a") ASKING MGET1("b") },
		{ "each, in a transaction", RBI_FORM_EACH, true, false, true,
		  "xx", 2, ASKING MULTI MGET1("a") MGET1("b") EXEC },
		{ "in a transaction", RBI_FORM_GATHER, true, false, true, "xx",
		  2, ASKING MULTI MGET2("a", "b") EXEC },
		{ "alone, in a transaction", RBI_FORM_GATHER, true, true, true,
		  "xx", 2, ASKING MULTI GET("a") GET("b") EXEC },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_bytes(&cases[i]);
}

/* -------------------------------------------------------------- of chance -- */

static rbi_cut some_cut(const rbi_batch *b, uint64_t *seed)
{
	rbi_bounds bounds = {
		.keys = 1 + random_below(seed, 50),
		.args = 1 + random_below(seed, 12),
		.request_bytes = SIZE_MAX / 4,
		.reply_bytes = SIZE_MAX / 4,
	};
	rbi_cut cut = groups_whole(b, random_below(seed, b->n),
				   random_below(seed, 3) == 0,
				   random_below(seed, 2) == 0);

	return rbi_plan_cut_again(&cut, &bounds);
}

static void check_kinds(size_t n, size_t most, uint64_t *seed)
{
	kind kinds[GROUPS_KINDS];
	rbt_count count;
	rbi_outbuf out;
	groups g;
	rbi_cut cut;
	size_t i;

	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	groups_init(&g, n, most, seed);
	groups_kinds(&g, kinds);
	for (i = 0; i < GROUPS_KINDS; i++) {
		if (random_below(seed, 2) == 0)
			kinds[i].batch.single = (rb_slice){ "ONE", 3 };
		cut = some_cut(&kinds[i].batch, seed);
		check_appended(&out, &cut, kinds[i].name);
	}
	groups_words(&g, seed);
	cut = groups_whole(&kinds[5].batch, 0, false, true);
	check_appended(&out, &cut, "commands with MULTI");
	groups_fini(&g);
	rbi_outbuf_fini(&out);
	assert_int_equal(count.live_blocks, 0);
}

static void test_chunks_of_groups_are_written_byte_for_byte(void **state)
{
	uint64_t seed = 41;
	int round;

	(void)state;
	for (round = 0; round < 300; round++)
		check_kinds(1 + random_below(&seed, 40),
			    round % 10 == 0 ? 2 * RBI_OUTBUF_BORROW : 120,
			    &seed);
}

/* ---------------------------------------------------------------- memory -- */

static void test_what_stands_in_each_group_is_copied(void **state)
{
	static const size_t lens[] = { 10, RBI_OUTBUF_BORROW, 10 };
	static const uint16_t slots[] = { 1, 2, 3 };
	size_t len = 60000;
	char *fixed = calloc(len, 1);
	struct iovec iov[8];
	rbt_count count;
	rbi_outbuf out;
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	assert_non_null(fixed);
	keys_init(&k, 3, lens, 0);
	b = keys_hmget(&k, fixed, len);
	b.slots = slots;
	cut = groups_whole(&b, 0, false, false);
	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	assert_status(rbi_request_append(&out, &cut), RB_OK);
	assert_int_equal(rbi_outbuf_offer(&out, iov, 8), 3);
	assert_ptr_equal(iov[1].iov_base, k.keys[1]);
	rbi_outbuf_fini(&out);
	keys_fini(&k);
	free(fixed);
}

static void test_without_memory_no_group_is_appended(void **state)
{
	static const size_t lens[] = { 5, 2 * RBI_OUTBUF_BORROW, 3000 };
	static const uint16_t slots[] = { 1, 1, 3 };
	size_t fail_at;
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 3, lens, 0);
	b = keys_mget(&k);
	b.slots = slots;
	cut = groups_whole(&b, 0, false, true);
	for (fail_at = 1; fail_at <= 2; fail_at++) {
		rbt_count count;
		rbi_outbuf out;

		rbt_count_init(&count);
		count.fail_at = fail_at;
		rbi_outbuf_init(&out, &count.allocator);
		assert_status(rbi_request_append(&out, &cut), RB_ERR_NOMEM);
		assert_int_equal(out.pending, 0);
		check_appended(&out, &cut, "afterwards");
		rbi_outbuf_fini(&out);
		assert_int_equal(count.live_blocks, 0);
	}
	keys_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_groups_and_asking_stand_where_they_should),
		cmocka_unit_test(
			test_chunks_of_groups_are_written_byte_for_byte),
		cmocka_unit_test(test_what_stands_in_each_group_is_copied),
		cmocka_unit_test(test_without_memory_no_group_is_appended),
	};

	return cmocka_run_group_tests_name("request: groups", tests, NULL,
					   NULL);
}
