#include "alloc.h"
#include "count.h"
#include "outbuf.h"
#include "unit.h"

#define PIECES 8

typedef struct fixture {
	rbt_count count;
	rbi_outbuf out;
} fixture;

static void begin(fixture *f)
{
	rbt_count_init(&f->count);
	rbi_outbuf_init(&f->out, &f->count.allocator);
}

static void end(fixture *f)
{
	rbi_outbuf_fini(&f->out);
	assert_int_equal(f->count.live_blocks, 0);
}

static void append_own(fixture *f, const char *text, size_t len)
{
	char *p = rbi_outbuf_reserve(&f->out, len, 0);

	assert_non_null(p);
	memcpy(p, text, len);
	rbi_outbuf_wrote(&f->out, p + len);
}

static void append_borrow(fixture *f, const char *text, size_t len)
{
	/* As a command does: its header, the borrow, and the end. */
	char *p = rbi_outbuf_reserve(&f->out, 2, 1);

	assert_non_null(p);
	*p++ = '<';
	rbi_outbuf_wrote(&f->out, p);
	rbi_outbuf_borrow(&f->out, text, len);
	*p++ = '>';
	rbi_outbuf_wrote(&f->out, p);
}

/* Takes at most n bytes of what is offered in at most max pieces, as a socket
 * does; how many. */
static size_t drain(fixture *f, char *to, size_t n, int max)
{
	struct iovec iov[PIECES];
	int pieces = rbi_outbuf_offer(&f->out, iov, max);
	size_t took = 0;
	int i;

	assert_in_range(pieces, 0, max);
	for (i = 0; i < pieces; i++) {
		size_t len = iov[i].iov_len;

		assert_true(len > 0);
		if (len > n - took)
			len = n - took;
		memcpy(to + took, iov[i].iov_base, len);
		took += len;
	}
	rbi_outbuf_sent(&f->out, took);
	return took;
}

/* All that waits, in portions of n bytes. */
static size_t drain_all(fixture *f, char *to, size_t n, int max)
{
	size_t all = 0;

	while (f->out.pending > 0) {
		size_t before = f->out.pending;
		size_t took = drain(f, to + all, n, max);

		assert_true(took > 0);
		assert_int_equal(f->out.pending, before - took);
		all += took;
	}
	return all;
}

static void append_sample(fixture *f)
{
	append_own(f, "one", 3);
	append_borrow(f, "BORROWED", 8);
	append_borrow(f, "AGAIN", 5);
	append_own(f, "two", 3);
	append_borrow(f, "LAST", 4);
}

static const char sample[] = "one<BORROWED><AGAIN>two<LAST>";

static void test_nothing_waits_in_the_beginning(void **state)
{
	struct iovec iov[PIECES];
	fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(f.out.pending, 0);
	assert_int_equal(rbi_outbuf_offer(&f.out, iov, PIECES), 0);
	assert_int_equal(f.count.asked, 0);
	end(&f);
}

static void test_own_and_borrowed_bytes_leave_in_order(void **state)
{
	char to[64];
	fixture f;
	size_t n;

	(void)state;
	begin(&f);
	append_sample(&f);
	assert_int_equal(f.out.pending, sizeof(sample) - 1);
	n = drain_all(&f, to, sizeof(to), PIECES);
	assert_int_equal(n, sizeof(sample) - 1);
	assert_memory_equal(to, sample, n);
	end(&f);
}

static void test_partial_write_keeps_order(void **state)
{
	char to[64];
	fixture f;
	size_t portion;
	int max;

	(void)state;
	for (portion = 1; portion < sizeof(sample); portion++) {
		for (max = 1; max <= PIECES; max++) {
			size_t n;

			begin(&f);
			append_sample(&f);
			n = drain_all(&f, to, portion, max);
			assert_int_equal(n, sizeof(sample) - 1);
			assert_memory_equal(to, sample, n);
			end(&f);
		}
	}
}

static void test_a_borrow_is_not_copied(void **state)
{
	static const char large[] = "as if it were large";
	struct iovec iov[PIECES];
	fixture f;

	(void)state;
	begin(&f);
	append_borrow(&f, large, sizeof(large));
	assert_int_equal(rbi_outbuf_offer(&f.out, iov, PIECES), 3);
	assert_ptr_equal(iov[1].iov_base, large);
	assert_int_equal(iov[1].iov_len, sizeof(large));
	end(&f);
}

static void test_offering_takes_nothing(void **state)
{
	struct iovec first[PIECES];
	struct iovec again[PIECES];
	fixture f;
	int n;

	(void)state;
	begin(&f);
	append_sample(&f);
	n = rbi_outbuf_offer(&f.out, first, PIECES);
	assert_int_equal(rbi_outbuf_offer(&f.out, again, PIECES), n);
	assert_memory_equal(first, again, (size_t)n * sizeof(first[0]));
	assert_int_equal(f.out.pending, sizeof(sample) - 1);
	end(&f);
}

static void test_no_more_leaves_than_waits(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	append_own(&f, "abc", 3);
	rbi_outbuf_sent(&f.out, 1000);
	assert_int_equal(f.out.pending, 0);
	append_own(&f, "def", 3);
	assert_int_equal(f.out.pending, 3);
	end(&f);
}

static void test_clear_drops_what_waits_and_keeps_the_memory(void **state)
{
	char to[64];
	fixture f;
	size_t asked;
	size_t n;

	(void)state;
	begin(&f);
	append_sample(&f);
	rbi_outbuf_clear(&f.out);
	assert_int_equal(f.out.pending, 0);
	asked = f.count.asked;
	append_sample(&f);
	assert_int_equal(f.count.asked, asked);
	n = drain_all(&f, to, 1, 1);
	assert_int_equal(n, sizeof(sample) - 1);
	assert_memory_equal(to, sample, n);
	end(&f);
}

static void test_the_room_in_front_is_used_again(void **state)
{
	char text[600];
	char to[2000];
	fixture f;
	size_t asked;
	int i;

	(void)state;
	begin(&f);
	memset(text, 'x', sizeof(text));
	append_own(&f, text, sizeof(text));
	asked = f.count.asked;
	for (i = 0; i < 100; i++) {
		/* Never empty, so that only moving makes room. */
		assert_int_equal(drain(&f, to, 590, 1), 590);
		append_own(&f, text, 590);
	}
	assert_int_equal(f.count.asked, asked);
	end(&f);
}

static void test_without_memory_what_waits_still_leaves(void **state)
{
	char to[64];
	fixture f;
	size_t n;

	(void)state;
	begin(&f);
	append_sample(&f);
	f.count.fail_at = 1;
	f.count.fail_on = 1;
	f.count.asked = 0;
	assert_null(rbi_outbuf_reserve(&f.out, 100000, 0));
	assert_null(rbi_outbuf_reserve(&f.out, 1, 100000));
	assert_null(rbi_outbuf_reserve(&f.out, 100000, 100000));
	assert_int_equal(f.out.pending, sizeof(sample) - 1);
	n = drain_all(&f, to, 3, 2);
	assert_memory_equal(to, sample, n);
	end(&f);
}

static void test_impossible_sizes_are_refused(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	append_own(&f, "abc", 3);
	assert_null(rbi_outbuf_reserve(&f.out, SIZE_MAX, 0));
	assert_null(rbi_outbuf_reserve(&f.out, SIZE_MAX / 2, 0));
	assert_null(rbi_outbuf_reserve(&f.out, 1, SIZE_MAX));
	assert_null(rbi_outbuf_reserve(&f.out, 1, SIZE_MAX / 4));
	assert_int_equal(f.out.pending, 3);
	end(&f);
}

/* Against a plain copy of all bytes. */
static void run_random(uint64_t seed)
{
	static const char source[] = "the quick brown fox jumps over the dog";
	char want[40000];
	char got[40000];
	size_t nwant = 0;
	size_t ngot = 0;
	fixture f;
	int i;

	begin(&f);
	for (i = 0; i < 500; i++) {
		size_t len = 1 + random_below(&seed, sizeof(source) - 1);

		switch (random_below(&seed, 3)) {
		case 0:
			append_own(&f, source, len);
			memcpy(want + nwant, source, len);
			nwant += len;
			break;
		case 1:
			append_borrow(&f, source, len);
			want[nwant++] = '<';
			memcpy(want + nwant, source, len);
			nwant += len;
			want[nwant++] = '>';
			break;
		default:
			ngot += drain(&f, got + ngot, 2 * len,
				      1 + (int)random_below(&seed, PIECES));
			break;
		}
		assert_int_equal(f.out.pending, nwant - ngot);
	}
	ngot += drain_all(&f, got + ngot, 1000, PIECES);
	assert_int_equal(ngot, nwant);
	assert_memory_equal(got, want, nwant);
	end(&f);
}

static void test_any_order_of_appends_and_writes_keeps_the_bytes(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 50; seed++)
		run_random(seed);
}

static void test_a_borrow_may_be_the_last_that_waits(void **state)
{
	char all[16];
	fixture f;
	char *p;

	(void)state;
	begin(&f);
	p = rbi_outbuf_reserve(&f.out, 1, 1);
	assert_non_null(p);
	*p++ = '<';
	rbi_outbuf_wrote(&f.out, p);
	rbi_outbuf_borrow(&f.out, LIT("BORROWED"));
	assert_int_equal(drain_all(&f, all, 3, PIECES), 9);
	assert_memory_equal(all, "<BORROWED", 9);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_waits_in_the_beginning),
		cmocka_unit_test(test_own_and_borrowed_bytes_leave_in_order),
		cmocka_unit_test(test_partial_write_keeps_order),
		cmocka_unit_test(test_a_borrow_is_not_copied),
		cmocka_unit_test(test_offering_takes_nothing),
		cmocka_unit_test(test_no_more_leaves_than_waits),
		cmocka_unit_test(
			test_clear_drops_what_waits_and_keeps_the_memory),
		cmocka_unit_test(test_the_room_in_front_is_used_again),
		cmocka_unit_test(test_without_memory_what_waits_still_leaves),
		cmocka_unit_test(test_impossible_sizes_are_refused),
		cmocka_unit_test(
			test_any_order_of_appends_and_writes_keeps_the_bytes),
		cmocka_unit_test(test_a_borrow_may_be_the_last_that_waits),
	};

	return cmocka_run_group_tests_name("outbuf", tests, NULL, NULL);
}
