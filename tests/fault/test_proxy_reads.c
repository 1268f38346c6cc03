/*
 * Reads through a proxy that ends the line, or lets it fall silent: values
 * that came are exact, no other entry has one, and none is nil.
 */
#include "through.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* All answers are alike: "*10" and ten times "$100" with 100 bytes. */
enum {
	N = 100,
	LEN = 100,
	CHUNK = 10,
	ENTRY_BYTES = 6 + LEN + 2,
	CHUNK_BYTES = 5 + CHUNK * ENTRY_BYTES,
	ALL_BYTES = N / CHUNK * CHUNK_BYTES,
	PLACES = 40
};

/* Place i of those where answers are cut: from the first byte to the last but
 * one, at all kinds of bytes. */
static uint64_t place(size_t i)
{
	return i + 1 == PLACES ? ALL_BYTES - 1 :
				 1 + i * (ALL_BYTES / PLACES) + i % 11;
}

/* Entries whose chunk's answer lies within so many bytes; those which lie
 * within them by themselves. */
static size_t whole_chunks(uint64_t bytes)
{
	return (size_t)(bytes / CHUNK_BYTES) * CHUNK;
}

static size_t whole_entries(uint64_t bytes)
{
	size_t rest = (size_t)(bytes % CHUNK_BYTES);

	return whole_chunks(bytes) + (rest > 5 ? (rest - 5) / ENTRY_BYTES : 0);
}

static rb_options options(uint32_t timeout_ms)
{
	rb_options o = rbt_options(CHUNK, 3);

	o.attempts = 1;
	if (timeout_ms > 0)
		o.timeout_ms = timeout_ms;
	return o;
}

static void begin(rbt_through *t, const rbt_entrance *at, uint32_t timeout_ms)
{
	rb_options o = options(timeout_ms);

	rbt_through_proxy(t, at->family);
	rbt_through_client(t, at->owner, &o);
}

static void set_rule(rbt_through *t, rbt_way way, rbt_fault fault,
		     uint64_t after)
{
	rbt_rule rule = { .fault = fault, .after = after };

	rbt_proxy_rule(t->proxy, way, &rule);
}

/* Without rules, and with a new context if that was broken. */
static void want_recovered(rbt_through *t, const rbt_entrance *at)
{
	rb_options o = options(0);

	rbt_proxy_rule(t->proxy, RBT_UP, NULL);
	rbt_proxy_rule(t->proxy, RBT_DOWN, NULL);
	if (at->owner == RBT_WRAPPED)
		rbt_through_client(t, RBT_WRAPPED, &o);
	want_status(t->live->rb, rbt_live_read(t->live, &o), RB_OK);
	want_loaded(t->live->res, N, LEN);
}

/* ----------------------------------------------------------------- ended -- */

static void test_answers_cut_anywhere_keep_what_came_before(void **state)
{
	for (size_t k = 0; k < RBT_ENTRANCES; k++) {
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		for (size_t i = 0; i < PLACES; i++) {
			uint64_t at = place(i);

			begin(t, &rbt_entrances[k], 0);
			set_rule(t, RBT_DOWN, RBT_FAULT_CLOSE, at);
			want_status(t->live->rb, rbt_live_read(t->live, NULL),
				    RB_ERR_IO);
			want_torn(t->live->res, N, LEN, whole_chunks(at),
				  whole_entries(at), RB_ERR_IO);
			rbt_through_want_decided(t);
		}
		want_recovered(t, &rbt_entrances[k]);
	}
}

static void test_answers_cut_behind_their_last_byte_are_whole(void **state)
{
	for (size_t k = 0; k < RBT_ENTRANCES; k++) {
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		begin(t, &rbt_entrances[k], 0);
		set_rule(t, RBT_DOWN, RBT_FAULT_CLOSE, ALL_BYTES);
		want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_OK);
		want_loaded(t->live->res, N, LEN);
		want_recovered(t, &rbt_entrances[k]);
	}
}

/* What a reset overtakes on its way may be lost with it. */
static void test_a_reset_anywhere_spoils_no_value(void **state)
{
	for (size_t k = 0; k < RBT_ENTRANCES; k++) {
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		for (size_t i = 0; i < PLACES; i++) {
			uint64_t at = place(i);

			begin(t, &rbt_entrances[k], 0);
			set_rule(t, RBT_DOWN, RBT_FAULT_RESET, at);
			want_status(t->live->rb, rbt_live_read(t->live, NULL),
				    RB_ERR_IO);
			want_torn(t->live->res, N, LEN, 0, whole_entries(at),
				  RB_ERR_IO);
			rbt_through_want_decided(t);
		}
		want_recovered(t, &rbt_entrances[k]);
	}
}

static void test_requests_cut_anywhere_are_answered_as_far_as_they_came(
	void **state)
{
	/* "*11" "$4" "MGET" and ten times "$12" "key:00000000" */
	const size_t request = 5 + 4 + 6 + CHUNK * (5 + 14);

	for (size_t k = 0; k < RBT_ENTRANCES; k++) {
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		for (size_t i = 0; i < PLACES; i++) {
			uint64_t at = 1 + i * (request * 10 / PLACES) + i % 5;
			size_t came = (size_t)(at / request) * CHUNK;

			begin(t, &rbt_entrances[k], 0);
			set_rule(t, RBT_UP, RBT_FAULT_CLOSE, at);
			want_status(t->live->rb, rbt_live_read(t->live, NULL),
				    RB_ERR_IO);
			want_torn(t->live->res, N, LEN, 0, came, RB_ERR_IO);
			rbt_through_want_decided(t);
		}
		want_recovered(t, &rbt_entrances[k]);
	}
}

static void test_a_loss_of_the_first_connection_leaves_the_second_alone(
	void **state)
{
	rbt_rule rule = { .fault = RBT_FAULT_CLOSE, .after = 3000 };

	for (size_t k = 0; k < RBT_ENTRANCES; k++) {
		rbt_through *t = rbt_through_use(state);
		rb_options o = options(0);

		if (rbt_entrances[k].owner == RBT_WRAPPED)
			continue;
		rbt_live_load(t->live, N, LEN);
		begin(t, &rbt_entrances[k], 0);
		rbt_proxy_rule_of(t->proxy, 1, RBT_DOWN, &rule);
		o.window = 64;
		want_status(t->live->rb, rbt_live_read(t->live, &o), RB_ERR_IO);
		want_torn(t->live->res, N, LEN, whole_chunks(3000),
			  whole_entries(3000), RB_ERR_IO);
		want_status(t->live->rb, rbt_live_read(t->live, &o), RB_OK);
		want_loaded(t->live->res, N, LEN);
		assert_int_equal(rbt_proxy_connections(t->proxy), 2);
	}
}

/* ---------------------------------------------------------------- silent -- */

enum { DEADLINE_MS = 200, EARLIEST_US = 190000, LATEST_US = 8000000 };

/* A read that is ended by its deadline. Which values had come by then depends
 * on the machine, but for those that cannot have come. */
static void want_silence(rbt_through *t, size_t most)
{
	uint64_t start;

	/* So that there is a result, however slow the machine. */
	want_status(t->live->rb, rb_client_connect(t->live->rb), RB_OK);
	start = rbt_now_us();
	want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_ERR_TIMEOUT);
	assert_in_range(rbt_now_us() - start, EARLIEST_US, LATEST_US);
	want_words(rb_client_error(t->live->rb), "deadline");
	want_torn(t->live->res, N, LEN, 0, most, RB_ERR_TIMEOUT);
	rbt_through_want_decided(t);
}

typedef struct silence_row {
	rbt_way way;
	rbt_fault fault;
	uint64_t after;
	size_t most; /* entries that can be answered */
} silence_row;

static const silence_row silences[] = {
	{ RBT_UP, RBT_FAULT_SWALLOW, 0, 0 },
	{ RBT_UP, RBT_FAULT_SWALLOW, 700, 30 },
	{ RBT_DOWN, RBT_FAULT_SWALLOW, 0, 0 },
	{ RBT_DOWN, RBT_FAULT_SWALLOW, 2 * CHUNK_BYTES + 50, 20 },
	{ RBT_UP, RBT_FAULT_STALL, 0, 0 },
	{ RBT_DOWN, RBT_FAULT_STALL, 0, 0 },
	{ RBT_DOWN, RBT_FAULT_STALL, CHUNK_BYTES + 300, 12 },
	{ RBT_DOWN, RBT_FAULT_HALF_OPEN, 3, 0 },
	{ RBT_DOWN, RBT_FAULT_HALF_OPEN, CHUNK_BYTES + 300, 12 },
	{ RBT_UP, RBT_FAULT_HALF_OPEN, 700, 30 },
};

static void test_silence_of_any_kind_ends_with_the_deadline(void **state)
{
	for (size_t i = 0; i < COUNT(silences); i++) {
		const silence_row *row = &silences[i];
		const rbt_entrance *at = &rbt_entrances[i % RBT_ENTRANCES];
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		begin(t, at, DEADLINE_MS);
		set_rule(t, row->way, row->fault, row->after);
		want_silence(t, row->most);
		want_recovered(t, at);
	}
}

static void test_a_black_hole_leaves_chunks_in_flight_unknown(void **state)
{
	static const rbt_way ways[] = { RBT_UP, RBT_DOWN };

	for (size_t i = 0; i < 2 * RBT_ENTRANCES; i++) {
		const rbt_entrance *at = &rbt_entrances[i / 2];
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		begin(t, at, DEADLINE_MS);
		set_rule(t, ways[i % 2], RBT_FAULT_SWALLOW, 0);
		want_silence(t, 0);
		/* The window was 3 chunks. */
		for (size_t k = 0; k < 3 * CHUNK; k++)
			want_failed(t->live->res, k, RB_ERR_TIMEOUT,
				    RB_UNKNOWN);
		for (size_t k = 3 * CHUNK; k < N; k++)
			want_failed(t->live->res, k, RB_ERR_SKIPPED,
				    RB_NOT_SENT);
	}
}

static void test_a_line_that_takes_no_more_is_given_up_at_the_deadline(
	void **state)
{
	for (size_t i = 0; i < RBT_ENTRANCES; i++) {
		rbt_proxy_options p = { .family = rbt_entrances[i].family,
					.rcvbuf = 4096 };
		rbt_through *t = rbt_through_use(state);
		rb_options o = rbt_options(1000000, 1);
		uint64_t start;

		o.timeout_ms = DEADLINE_MS;
		o.attempts = 1;
		o.chunk_request_bytes = (size_t)64 * 1024 * 1024;
		rbt_through_start(t, &p);
		rbt_through_client(t, rbt_entrances[i].owner, &o);
		set_rule(t, RBT_UP, RBT_FAULT_STALL, 1000);
		rbt_keys_fini(&t->live->keys);
		assert_true(
			rbt_keys_init(&t->live->keys, "a-longer-key:", 500000));
		start = rbt_now_us();
		want_status(t->live->rb, rbt_live_read(t->live, NULL),
			    RB_ERR_TIMEOUT);
		assert_in_range(rbt_now_us() - start, EARLIEST_US, LATEST_US);
		assert_int_equal(rbt_count_outcome(t->live->res, RB_NOT_SENT),
				 500000);
		rbt_through_want_decided(t);
	}
}

/* --------------------------------------------------------------- streams -- */

typedef struct story {
	const rbt_keys *keys;
	size_t asked;
	size_t taken; /* all of them in order */
	size_t good;
	bool fine;
} story;

static int next_key(void *arg, rb_slice *key)
{
	story *s = arg;

	if (s->asked == s->keys->n)
		return 0;
	key->data = s->keys->keys[s->asked];
	key->len = s->keys->lens[s->asked++];
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	story *s = arg;

	s->fine = s->fine && first == s->taken;
	for (size_t i = 0; i < n; i++, s->taken++) {
		s->fine = s->fine && keys[i].len == s->keys->lens[s->taken] &&
			  memcmp(keys[i].data, s->keys->keys[s->taken],
				 keys[i].len) == 0;
		if (statuses[i] != RB_OK) {
			s->fine = s->fine && !values[i].data;
			continue;
		}
		s->good++;
		s->fine = s->fine && rbt_value_is(values[i].data, values[i].len,
						  LEN, s->taken);
	}
	return 0;
}

static void test_a_stream_cut_anywhere_tells_of_each_entry_once(void **state)
{
	for (size_t k = 0; k < RBT_ENTRANCES; k++) {
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		for (size_t i = 0; i < PLACES; i += 3) {
			story s = { .keys = &t->live->keys, .fine = true };
			uint64_t at = place(i);

			begin(t, &rbt_entrances[k], 0);
			set_rule(t, RBT_DOWN, RBT_FAULT_CLOSE, at);
			want_status(t->live->rb,
				    rb_mget_stream(t->live->rb, next_key, &s,
						   take, &s, NULL, NULL),
				    RB_ERR_IO);
			assert_true(s.fine);
			assert_int_equal(s.taken, s.asked);
			assert_in_range(s.good, whole_chunks(at),
					whole_entries(at));
			rbt_through_want_decided(t);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_THROUGH(test_answers_cut_anywhere_keep_what_came_before),
		RBT_THROUGH(test_answers_cut_behind_their_last_byte_are_whole),
		RBT_THROUGH(test_a_reset_anywhere_spoils_no_value),
		RBT_THROUGH(
			test_requests_cut_anywhere_are_answered_as_far_as_they_came),
		RBT_THROUGH(
			test_a_loss_of_the_first_connection_leaves_the_second_alone),
		RBT_THROUGH(test_silence_of_any_kind_ends_with_the_deadline),
		RBT_THROUGH(test_a_black_hole_leaves_chunks_in_flight_unknown),
		RBT_THROUGH(
			test_a_line_that_takes_no_more_is_given_up_at_the_deadline),
		RBT_THROUGH(
			test_a_stream_cut_anywhere_tells_of_each_entry_once),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
