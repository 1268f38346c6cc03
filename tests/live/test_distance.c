/*
 * A server that is far away, and one that bounds its commands a second: what
 * a batch costs in round trips and in time, through a proxy that delays and
 * that counts what comes.
 *
 * Times are bounds that hold on a slow machine as well: those from below are
 * exact, those from above wide.
 */
#include "commands.h"
#include "through.h"
#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --------------------------------------------------------- far away -- */

enum {
	DELAY_US = 58000,
	ROUND_TRIP_US = 2 * DELAY_US,
	CHUNKS = 100,
	N = CHUNKS * 1000,
	LEN = 10,
/* Code that was not optimised takes its own time for the answers, and the
 * window goes by that; a window of 4 would take 25. */
#ifdef __OPTIMIZE__
	ROUND_TRIPS = 8,
#else
	ROUND_TRIPS = 16,
#endif
	/* What a loop that awaits each chunk takes at the least. */
	LOOP_US = CHUNKS * ROUND_TRIP_US
};

/* A new client of a server that is so far away, one way. */
static void go(rbt_through *t, const rbt_entrance *at, uint64_t delay_us,
	       const rb_options *o)
{
	rbt_rule rule = { .delay_us = delay_us };

	rbt_through_proxy(t, at->family);
	rbt_proxy_rule(t->proxy, RBT_UP, &rule);
	rbt_proxy_rule(t->proxy, RBT_DOWN, &rule);
	rbt_through_client(t, at->owner, o);
}

/* Defaults, but for a deadline that ends what would hang. */
static rb_options defaults(void)
{
	return rbt_options(0, 0);
}

static rb_stats get_stats(const rbt_through *t)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(t->live->res, &stats), RB_OK);
	return stats;
}

typedef struct cost {
	uint64_t round_trips;
	uint64_t commands;
	uint64_t us;
} cost;

/* All chunks by a client that knows nothing yet. */
typedef cost transfer(rbt_through *t, const rbt_entrance *at,
		      uint64_t delay_us);

static cost read_all(rbt_through *t, const rbt_entrance *at, uint64_t delay_us)
{
	rb_options o = defaults();
	uint64_t start;
	rb_stats stats;
	cost c;

	go(t, at, delay_us, &o);
	start = rbt_now_us();
	want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_OK);
	c.us = rbt_now_us() - start;
	want_loaded(t->live->res, N, LEN);
	stats = get_stats(t);
	c.round_trips = stats.round_trips;
	c.commands = stats.commands;
	return c;
}

/* The window goes by the pace of the answers, which a busy machine makes
 * uneven: one of a few tries must show what it does when left alone. */
static void want_few_round_trips(rbt_through *t, transfer *run,
				 const rbt_entrance *at)
{
	enum { TRIES = 12 };
	uint64_t allowed = 0;
	cost c = { 1, 0, 0 };

	for (int i = 0; i < TRIES && c.round_trips > allowed; i++) {
		/* What it takes without a distance comes on top. */
		allowed = ROUND_TRIPS + 1 +
			  run(t, at, 0).us / (uint64_t)ROUND_TRIP_US;
		c = run(t, at, DELAY_US);
	}
	assert_in_range(c.round_trips, 2, allowed);
	assert_in_range(c.us, 2 * ROUND_TRIP_US, LOOP_US / 2);
	/* Not bought by smaller chunks, nor by larger ones. */
	assert_in_range(c.commands, CHUNKS * 3 / 4, CHUNKS * 5 / 4);
}

static void test_100_chunks_from_afar_cost_few_round_trips(void **state)
{
	for (size_t i = 0; i < RBT_ENTRANCES; i++) {
		rbt_through *t = rbt_through_use(state);

		rbt_live_load(t->live, N, LEN);
		want_few_round_trips(t, read_all, &rbt_entrances[i]);
	}
}

/* What the proxy counts is what a provider would bill. */
static void test_commands_are_counted_as_they_come(void **state)
{
	rbt_through *t = rbt_through_use(state);
	rb_options o = defaults();

	rbt_live_load(t->live, N, LEN);
	rbt_through_proxy(t, RBT_TCP);
	rbt_through_client(t, RBT_OWN, &o);
	want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_OK);
	assert_int_equal(rbt_proxy_commands(t->proxy), get_stats(t).commands);
	assert_int_equal(rbt_live_calls(t->live, "mget"),
			 get_stats(t).commands);
}

static void test_a_window_of_one_awaits_each_chunk(void **state)
{
	enum { FEW = 5 };
	rbt_through *t = rbt_through_use(state);
	rb_options o = rbt_options(1000, 1);
	uint64_t start;

	rbt_live_load(t->live, FEW * 1000, LEN);
	go(t, &rbt_entrances[1], DELAY_US, &o);
	start = rbt_now_us();
	want_status(t->live->rb, rbt_live_read(t->live, NULL), RB_OK);
	assert_in_range(rbt_now_us() - start, FEW * ROUND_TRIP_US, 30000000);
	assert_int_equal(get_stats(t).round_trips, FEW);
	want_loaded(t->live->res, FEW * 1000, LEN);
}

static cost write_all(rbt_through *t, const rbt_entrance *at, uint64_t delay_us)
{
	rb_options o = defaults();
	uint64_t start;
	rb_stats stats;
	rbt_pairs p;
	cost c;

	rbt_do(t->live->admin, "FLUSHALL");
	rbt_live_drop(t->live);
	rbt_pairs_init(&p, "key:", N, LEN);
	go(t, at, delay_us, &o);
	start = rbt_now_us();
	want_status(t->live->rb,
		    rb_mset_chunked(t->live->rb, p.keys.keys, p.keys.lens,
				    p.values, p.lens, N, NULL, &t->live->res),
		    RB_OK);
	c.us = rbt_now_us() - start;
	rbt_pairs_fini(&p);
	assert_int_equal(rbt_count_outcome(t->live->res, RB_ANSWERED), N);
	assert_int_equal(rbt_ask_number(t->live->admin, "DBSIZE"), N);
	stats = get_stats(t);
	c.round_trips = stats.round_trips;
	c.commands = stats.commands;
	return c;
}

static void test_100_chunks_are_written_from_afar_as_fast(void **state)
{
	rbt_through *t = rbt_through_use(state);

	want_few_round_trips(t, write_all, &rbt_entrances[3]);
}

/* ----------------------------------------------------------------- pacing -- */

enum {
	RATE = 10000,
	BATCH = 50000,
	BURST = 1000, /* one chunk */
	SECOND_US = 1000000
};

static rb_options paced(void)
{
	rb_options o = rbt_options(BURST, 0);

	o.commands_per_second = RATE;
	return o;
}

static rb_status run_pings(rbt_through *t, size_t n, const rb_options *o)
{
	static const char *argv[] = { "PING" };
	rb_command *commands = calloc(n, sizeof(*commands));
	rb_status status;

	assert_non_null(commands);
	for (size_t i = 0; i < n; i++) {
		commands[i].argc = 1;
		commands[i].argv = argv;
	}
	rbt_live_drop(t->live);
	status =
		rb_pipeline_chunked(t->live->rb, commands, n, o, &t->live->res);
	free(commands);
	return status;
}

/* No more had come at any moment than the rate allows since start_us, when
 * `before` had come. A delay on the way only makes it less. */
static void want_paced(const rbt_arrival *a, size_t n, uint64_t start_us,
		       size_t before, size_t burst)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t allowed, us = a[i].us;

		if (us < start_us)
			continue;
		allowed = burst + (us - start_us) * RATE / SECOND_US;
		if (a[i].commands - before > allowed)
			print_error("%zu commands after %llu us\n",
				    a[i].commands - before,
				    (unsigned long long)(us - start_us));
		assert_in_range(a[i].commands - before, 0, allowed);
	}
}

/* The most commands that came within a second. */
static size_t busiest_second(const rbt_arrival *a, size_t n)
{
	size_t most = 0;

	for (size_t i = 0, k = 0; k < n; k++) {
		size_t before;

		while (a[k].us - a[i].us >= SECOND_US)
			i++;
		before = i > 0 ? a[i - 1].commands : 0;
		if (a[k].commands - before > most)
			most = a[k].commands - before;
	}
	return most;
}

/* The longest that nothing came: a chunk is due each tenth of a second, so
 * what is above has been kept waiting on its way, and then comes at once. */
static uint64_t longest_gap_us(const rbt_arrival *a, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 1; i < n; i++)
		if (a[i].us - a[i - 1].us > most)
			most = a[i].us - a[i - 1].us;
	return most;
}

static void test_50000_commands_at_10000_a_second_take_their_time(void **state)
{
	rbt_arrival *a = calloc(BATCH, sizeof(*a));
	rbt_through *t = rbt_through_use(state);
	rb_options o = paced();
	uint64_t start, took;
	size_t n, late;

	assert_non_null(a);
	rbt_through_proxy(t, RBT_TCP);
	rbt_through_client(t, RBT_WRAPPED, &o);
	start = rbt_now_us();
	want_status(t->live->rb, run_pings(t, BATCH, NULL), RB_OK);
	took = rbt_now_us() - start;
	/* The first chunk goes at once. */
	assert_in_range(took, 4900000 - 1000, 40000000);
	assert_int_equal(rbt_count_outcome(t->live->res, RB_ANSWERED), BATCH);
	n = rbt_proxy_arrivals(t->proxy, a, BATCH);
	assert_in_range(n, 2, BATCH);
	assert_int_equal(a[n - 1].commands, BATCH);
	want_paced(a, n, start, 0, BURST);
	late = (size_t)(longest_gap_us(a, n) * RATE / SECOND_US);
	assert_in_range(busiest_second(a, n), RATE / 2, RATE + BURST + late);
	free(a);
}

typedef struct nap {
	size_t chunks;
	uint64_t end_us;
} nap;

/* One callback that takes its time, as a slow disk would. */
static int take_a_nap(void *arg, const rb_chunk *chunk)
{
	nap *z = arg;

	(void)chunk;
	if (++z->chunks == 5) {
		rbt_sleep_ms(700);
		z->end_us = rbt_now_us();
	}
	return 0;
}

static void test_time_not_used_is_not_saved_up(void **state)
{
	rbt_arrival *a = calloc(BATCH, sizeof(*a));
	rbt_through *t = rbt_through_use(state);
	rb_options o = paced();
	nap z = { 0, 0 };
	size_t n, before = 0;

	assert_non_null(a);
	o.on_chunk = take_a_nap;
	o.on_chunk_arg = &z;
	rbt_through_proxy(t, RBT_UNIX);
	rbt_through_client(t, RBT_WRAPPED, NULL);
	want_status(t->live->rb, run_pings(t, 20 * BURST, &o), RB_OK);
	n = rbt_proxy_arrivals(t->proxy, a, BATCH);
	assert_in_range(n, 1, BATCH);
	for (size_t i = 0; i < n && a[i].us < z.end_us; i++)
		before = a[i].commands;
	/* The chunks of 700 ms would be seven; one may have been on its way
	 * when the nap began. */
	want_paced(a, n, z.end_us, before, 2 * BURST);
	free(a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_THROUGH(test_100_chunks_from_afar_cost_few_round_trips),
		RBT_THROUGH(test_commands_are_counted_as_they_come),
		RBT_THROUGH(test_a_window_of_one_awaits_each_chunk),
		RBT_THROUGH(test_100_chunks_are_written_from_afar_as_fast),
		RBT_THROUGH(
			test_50000_commands_at_10000_a_second_take_their_time),
		RBT_THROUGH(test_time_not_used_is_not_saved_up),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
