/*
 * The bytes of writes, in every form.
 */
#include "count.h"
#include "request.h"
#include "writes.h"

static rbi_cut cut_of(const rbi_batch *b, size_t first, size_t count)
{
	rbi_bounds bounds = { .keys = count,
			      .args = SIZE_MAX,
			      .request_bytes = SIZE_MAX / 4,
			      .reply_bytes = SIZE_MAX / 4 };

	return rbi_plan_cut(b, first, &bounds);
}

/* What waits in out is these bytes, whatever each send takes of it. */
static void check_offered(rbi_outbuf *out, const char *want, size_t size,
			  uint64_t *seed)
{
	size_t at = 0;

	assert_int_equal(out->pending, size);
	while (out->pending > 0) {
		struct iovec iov[3];
		int n = rbi_outbuf_offer(out, iov, 3);
		size_t took = 0;
		int i;

		for (i = 0; i < n; i++) {
			size_t part = iov[i].iov_len;

			if (i == n - 1)
				part = 1 + random_below(seed, part);
			assert_true(part <= size - at - took);
			assert_memory_equal(iov[i].iov_base, want + at + took,
					    part);
			took += part;
		}
		assert_true(took > 0);
		rbi_outbuf_sent(out, took);
		at += took;
	}
	assert_int_equal(at, size);
}

static void check_kinds(size_t n, size_t most, uint64_t *seed)
{
	kind kinds[WRITES_KINDS];
	rbt_count count;
	rbi_outbuf out;
	writes w;
	size_t i;

	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	writes_init(&w, n, most, seed);
	writes_kinds(&w, kinds);
	for (i = 0; i < WRITES_KINDS; i++) {
		const rbi_batch *b = &kinds[i].batch;
		size_t first = 0;

		while (first < n) {
			size_t c = 1 + random_below(seed, n - first);
			rbi_cut cut = cut_of(b, first, c);
			size_t size;
			char *want = print_chunk(b, first, c, &size);

			assert_int_equal(cut.count, c);
			assert_int_equal(cut.request_bytes, size);
			assert_status(rbi_request_append(&out, &cut), RB_OK);
			check_offered(&out, want, size, seed);
			free(want);
			first += c;
		}
	}
	writes_fini(&w);
	rbi_outbuf_fini(&out);
	assert_int_equal(count.live_blocks, 0);
}

static void test_the_bytes_of_writes_are_as_reckoned(void **state)
{
	uint64_t seed = 4711;
	int round;

	(void)state;
	for (round = 0; round < 30; round++)
		check_kinds(1 + random_below(&seed, 120),
			    1 + random_below(&seed, 150), &seed);
}

static void test_large_arguments_lie_between_the_right_bytes(void **state)
{
	uint64_t seed = 1234;
	int round;

	(void)state;
	for (round = 0; round < 10; round++)
		check_kinds(12, 3 * RBI_OUTBUF_BORROW, &seed);
}

static void test_several_chunks_wait_one_behind_the_other(void **state)
{
	uint64_t seed = 8;
	kind kinds[WRITES_KINDS];
	char *want = NULL;
	size_t size = 0;
	rbt_count count;
	rbi_outbuf out;
	writes w;
	size_t i;

	(void)state;
	rbt_count_init(&count);
	rbi_outbuf_init(&out, &count.allocator);
	writes_init(&w, 5, RBI_OUTBUF_BORROW + 100, &seed);
	writes_kinds(&w, kinds);
	for (i = 0; i < WRITES_KINDS; i++) {
		rbi_cut cut = cut_of(&kinds[i].batch, 1, 3);
		size_t more;
		char *bytes = print_chunk(&kinds[i].batch, 1, 3, &more);

		want = realloc(want, size + more);
		assert_non_null(want);
		memcpy(want + size, bytes, more);
		size += more;
		free(bytes);
		assert_status(rbi_request_append(&out, &cut), RB_OK);
	}
	check_offered(&out, want, size, &seed);
	free(want);
	writes_fini(&w);
	rbi_outbuf_fini(&out);
}

static void test_without_memory_nothing_is_appended(void **state)
{
	uint64_t seed = 17;
	size_t at;
	kind kinds[WRITES_KINDS];
	writes w;
	size_t i;

	(void)state;
	writes_init(&w, 20, RBI_OUTBUF_BORROW + 2000, &seed);
	writes_kinds(&w, kinds);
	for (i = 0; i < WRITES_KINDS; i++) {
		rbi_cut cut = cut_of(&kinds[i].batch, 0, 20);
		rb_status status = RB_ERR_NOMEM;

		for (at = 1; status == RB_ERR_NOMEM; at++) {
			rbt_count count;
			rbi_outbuf out;

			rbt_count_init(&count);
			count.fail_at = at;
			rbi_outbuf_init(&out, &count.allocator);
			status = rbi_request_append(&out, &cut);
			assert_int_equal(out.pending,
					 status == RB_OK ? cut.request_bytes :
							   0);
			rbi_outbuf_fini(&out);
			assert_int_equal(count.live_blocks, 0);
		}
		assert_true(at > 2);
	}
	writes_fini(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_bytes_of_writes_are_as_reckoned),
		cmocka_unit_test(
			test_large_arguments_lie_between_the_right_bytes),
		cmocka_unit_test(test_several_chunks_wait_one_behind_the_other),
		cmocka_unit_test(test_without_memory_nothing_is_appended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
