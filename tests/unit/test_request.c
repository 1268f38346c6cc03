#include "count.h"
#include "keys.h"
#include "request.h"
#include "unit.h"

static rbi_cut cut_of(const rbi_batch *b, size_t first, size_t count)
{
	rbi_bounds bounds = {
		.keys = count,
		.args = SIZE_MAX,
		.request_bytes = SIZE_MAX / 4,
		.reply_bytes = SIZE_MAX / 4,
	};

	return rbi_plan_cut(b, first, &bounds);
}

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

static void check_appended(rbi_outbuf *out, const rbi_batch *b, size_t first,
			   size_t count)
{
	rbi_cut cut = cut_of(b, first, count);
	size_t want_size;
	size_t got_size;
	char *want = print_command(b, first, count, &want_size);
	char *got;

	assert_int_equal(cut.count, count);
	assert_int_equal(cut.request_bytes, want_size);
	assert_status(rbi_request_append(out, &cut), RB_OK);
	assert_int_equal(out->pending, want_size);
	got = gather(out, &got_size);
	assert_int_equal(got_size, want_size);
	assert_memory_equal(got, want, want_size);
	free(want);
	free(got);
}

static void check_all_counts(const rbi_batch *b)
{
	rbt_count count;
	rbi_outbuf out;
	size_t first;
	size_t n;

	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	for (first = 0; first < b->n; first++) {
		for (n = 1; n <= b->n - first; n++)
			check_appended(&out, b, first, n);
	}
	rbi_outbuf_fini(&out);
	assert_int_equal(count.live_blocks, 0);
}

static void test_small_commands_are_written_byte_for_byte(void **state)
{
	static const size_t lens[] = { 1, 0, 9, 10, 11, 99, 100, 3, 4, 5, 6 };
	rbi_batch b;
	keys k;

	(void)state;
	keys_init(&k, N_OF(lens), lens, 0);
	b = keys_mget(&k);
	check_all_counts(&b);
	b = keys_hmget(&k, "a hash", 6);
	check_all_counts(&b);
	b = keys_hmget(&k, "", 0);
	check_all_counts(&b);
	keys_fini(&k);
}

static void test_bytes_of_all_kinds_are_not_interpreted(void **state)
{
	static const char *odd[] = { "100%done",       "my key", "%s%n%b",
				     "\"q\"",	       "a%%b",	 "a\0b",
				     "x\0\r\n$-1\r\n", "\r\n",	 "\xff\xfe" };
	static const size_t lens[] = { 8, 6, 6, 3, 4, 3, 9, 2, 2 };
	rbi_batch b = { .command = { "MGET", 4 },
			.keys = odd,
			.keylens = lens,
			.n = N_OF(odd) };

	(void)state;
	check_all_counts(&b);
}

static void test_a_key_without_bytes_needs_no_pointer(void **state)
{
	static const char *none[] = { NULL, "b" };
	static const size_t lens[] = { 0, 1 };
	rbi_batch b = {
		.command = { "MGET", 4 }, .keys = none, .keylens = lens, .n = 2
	};

	(void)state;
	check_all_counts(&b);
}

static void test_large_arguments_stand_in_their_places(void **state)
{
	static const size_t lens[] = { RBI_OUTBUF_BORROW,
				       3,
				       RBI_OUTBUF_BORROW - 1,
				       RBI_OUTBUF_BORROW + 1,
				       100000,
				       0,
				       70000,
				       1 };
	rbi_batch b;
	keys k;

	(void)state;
	keys_init(&k, N_OF(lens), lens, 0);
	b = keys_mget(&k);
	check_all_counts(&b);
	b = keys_hmget(&k, k.keys[4], k.lens[4]);
	check_all_counts(&b);
	keys_fini(&k);
}

static void test_only_large_arguments_are_borrowed(void **state)
{
	static const size_t lens[] = { 10, RBI_OUTBUF_BORROW, 10 };
	struct iovec iov[8];
	rbt_count count;
	rbi_outbuf out;
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 3, lens, 0);
	b = keys_mget(&k);
	cut = cut_of(&b, 0, 3);
	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	assert_status(rbi_request_append(&out, &cut), RB_OK);
	assert_int_equal(rbi_outbuf_offer(&out, iov, 8), 3);
	assert_ptr_equal(iov[1].iov_base, k.keys[1]);
	assert_int_equal(iov[1].iov_len, lens[1]);
	assert_true(count.live_bytes < 8 * 1024);
	rbi_outbuf_fini(&out);
	keys_fini(&k);
}

static void test_commands_follow_each_other_in_order(void **state)
{
	static const size_t lens[] = { 5, 20000, 7, 8, 20001, 20002, 9 };
	rbt_count count;
	rbi_outbuf out;
	rbi_batch b;
	char *want = malloc(200000);
	size_t nwant = 0;
	char *got;
	size_t ngot;
	size_t i;
	keys k;

	(void)state;
	assert_non_null(want);
	keys_init(&k, N_OF(lens), lens, 0);
	b = keys_mget(&k);
	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	for (i = 0; i < N_OF(lens); i++) {
		rbi_cut cut = cut_of(&b, i, 1);
		size_t size;
		char *command = print_command(&b, i, 1, &size);

		assert_status(rbi_request_append(&out, &cut), RB_OK);
		memcpy(want + nwant, command, size);
		nwant += size;
		free(command);
	}
	got = gather(&out, &ngot);
	assert_int_equal(ngot, nwant);
	assert_memory_equal(got, want, nwant);
	free(got);
	free(want);
	rbi_outbuf_fini(&out);
	keys_fini(&k);
}

static void test_without_memory_nothing_is_appended(void **state)
{
	static const size_t lens[] = { 5, 20000, 3000 };
	size_t fail_at;
	rbi_batch b;
	rbi_cut cut;
	keys k;

	(void)state;
	keys_init(&k, 3, lens, 0);
	b = keys_mget(&k);
	cut = cut_of(&b, 0, 3);
	for (fail_at = 1; fail_at <= 2; fail_at++) {
		rbt_count count;
		rbi_outbuf out;

		rbt_count_init(&count);
		count.fail_at = fail_at;
		rbi_outbuf_init(&out, &count.allocator);
		assert_status(rbi_request_append(&out, &cut), RB_ERR_NOMEM);
		assert_int_equal(out.pending, 0);
		check_appended(&out, &b, 0, 3);
		rbi_outbuf_fini(&out);
		assert_int_equal(count.live_blocks, 0);
	}
	keys_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_commands_are_written_byte_for_byte),
		cmocka_unit_test(test_bytes_of_all_kinds_are_not_interpreted),
		cmocka_unit_test(test_a_key_without_bytes_needs_no_pointer),
		cmocka_unit_test(test_large_arguments_stand_in_their_places),
		cmocka_unit_test(test_only_large_arguments_are_borrowed),
		cmocka_unit_test(test_commands_follow_each_other_in_order),
		cmocka_unit_test(test_without_memory_nothing_is_appended),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
