/*
 * A whole call over several connections: nodes answer when it waits for them,
 * and time passes with each wait.
 */
#include "legs.h"

#define NODES 20

static const char *values[LEGS_MOST];

/* The nodes of the call under way; what each read of theirs is answered with;
 * NULL: nothing. */
static struct {
	int peers[NODES];
	const char *answer;
	size_t heard;
	uint64_t now_us;
	uint64_t wait_us; /* of one wait for nothing */
} play;

static void hear(int peer)
{
	rbt_request request;
	const rbt_arg *argv;
	size_t argc;
	ssize_t n;

	rbt_request_init(&request);
	n = recv(peer, rbt_request_space(&request, 65536), 65536, MSG_DONTWAIT);
	if (n > 0)
		rbt_request_filled(&request, (size_t)n);
	while (n > 0 && rbt_request_next(&request, &argc, &argv) == 1) {
		play.heard++;
		if (play.answer != NULL)
			assert_true(send(peer, play.answer, strlen(play.answer),
					 MSG_NOSIGNAL) > 0);
	}
	rbt_request_fini(&request);
}

static int play_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	size_t i;
	int ready;

	for (i = 0; i < NODES; i++) {
		if (play.peers[i] >= 0)
			hear(play.peers[i]);
	}
	ready = poll(fds, n, 0);
	if (ready == 0 && timeout_ms != 0) {
		/* Nobody can wait for ever for nothing. */
		assert_true(play.wait_us > 0);
		play.now_us += play.wait_us;
	}
	return ready;
}

static uint64_t play_now(void *arg)
{
	(void)arg;
	return play.now_us;
}

static const rbi_clock play_clock = { play_now, NULL };
static const rbi_sys play_sys = { sendmsg, recv, play_poll };

/* A call of n keys to so many nodes, whose connections are there. */
static void begin(legs *l, size_t n, unsigned nodes, bool writes,
		  const char *answer)
{
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, nodes, writes ? values : NULL);
	memset(&play, 0, sizeof(play));
	play.now_us = LEGS_BEGIN_US;
	play.answer = answer;
	l->client.clock = &play_clock;
	l->client.sys = &play_sys;
	for (i = 0; i < NODES; i++)
		play.peers[i] = -1;
	for (i = 0; i < nodes; i++) {
		rbi_link *link = rbi_pool_link(l->client.pool, i, 0);
		pair p;

		assert_non_null(link);
		pair_init(&p);
		link->ctx = p.ctx;
		play.peers[i] = p.peer;
	}
	memset(&l->fleet, 0, sizeof(l->fleet));
	l->fleet.client = &l->client;
	l->fleet.pool = l->client.pool;
	l->fleet.options = &l->options;
	l->fleet.inner = &l->array.feed;
	l->fleet.result = l->res;
	l->fleet.form = l->batch;
	l->fleet.grouped = true;
	l->fleet.deadline_us = RBI_NEVER;
}

static void end(legs *l)
{
	size_t i;

	rbi_fleet_fini(&l->fleet);
	rb_result_free(l->res);
	rbi_lane_fini(&l->client.lane);
	rbi_pool_free(l->client.pool);
	assert_int_equal(l->count.live_blocks, 0);
	for (i = 0; i < NODES; i++) {
		if (play.peers[i] >= 0)
			close(play.peers[i]);
	}
}

static const char one_value[] = "*1\r\n$1\r\nv\r\n";

/* Each entry is in one report. */
static void check_reports(const legs *l)
{
	size_t sum = 0;
	size_t i;

	assert_int_equal(l->fleet.left, 0);
	for (i = 0; i < rb_result_chunks(l->res); i++)
		sum += rb_result_chunk(l->res, i)->count;
	assert_int_equal(sum, l->batch.n);
}

static void test_every_node_is_asked(void **state)
{
	static const unsigned nodes[] = { 1, 2, 13, 14, 15, NODES };
	size_t i;
	size_t k;
	legs l;

	(void)state;
	for (i = 0; i < N_OF(nodes); i++) {
		begin(&l, LEGS_MOST, nodes[i], false, one_value);
		rbi_fleet_run(&l.fleet, NULL, 0);
		assert_status(rbi_fleet_status(&l.fleet), RB_OK);
		assert_int_equal(l.fleet.nlegs, nodes[i]);
		assert_int_equal(play.heard, LEGS_MOST);
		check_reports(&l);
		assert_int_equal(rb_result_failed(l.res), 0);
		for (k = 0; k < LEGS_MOST; k++)
			assert_string_equal(rb_result_value(l.res, k).data,
					    "v");
		end(&l);
	}
}

static void test_a_call_ends_at_its_deadline(void **state)
{
	legs l;

	(void)state;
	begin(&l, 20, 3, false, NULL);
	play.wait_us = 100000;
	l.client.pool->asked_us = LEGS_BEGIN_US + 10000000;
	l.fleet.deadline_us = LEGS_BEGIN_US + 500000;
	rbi_fleet_run(&l.fleet, NULL, 0);
	assert_status(rbi_fleet_status(&l.fleet), RB_ERR_TIMEOUT);
	assert_string_equal(l.fleet.why, "the deadline passed");
	check_reports(&l);
	assert_int_equal(legs_count(&l, RB_ERR_TIMEOUT, ""), 20);
	assert_true(play.now_us < LEGS_BEGIN_US + 700000);
	end(&l);
}

static size_t bytes_of_parts(const rb_result *res, size_t *most)
{
	const rb_result *part;
	size_t sum = 0;

	*most = 0;
	for (part = res->parts; part != NULL; part = part->parts) {
		sum += rbi_result_bytes(part);
		*most = rbi_max(*most, rbi_result_bytes(part));
	}
	return sum;
}

/* Not that of each node, but of all together. */
static void test_a_result_has_an_end(void **state)
{
	size_t most;
	size_t sum;
	legs l;

	(void)state;
	begin(&l, 60, 3, false, one_value);
	l.options.chunk_keys = 1;
	l.options.window = 1;
	rbi_fleet_run(&l.fleet, NULL, 0);
	sum = bytes_of_parts(l.res, &most);
	end(&l);
	assert_true(most < 2 * sum / 3);
	begin(&l, 60, 3, false, one_value);
	l.options.chunk_keys = 1;
	l.options.window = 1;
	l.options.max_result_bytes = 2 * sum / 3;
	rbi_fleet_run(&l.fleet, NULL, 0);
	assert_status(rbi_fleet_status(&l.fleet), RB_ERR_LIMIT);
	assert_string_equal(l.fleet.why, "the result passes max_result_bytes");
	check_reports(&l);
	assert_in_range(rb_result_failed(l.res), 1, 50);
	end(&l);
}

static void test_an_error_stops_all_nodes_if_it_is_to(void **state)
{
	legs l;

	(void)state;
	begin(&l, 40, 2, false, "-ERR no\r\n");
	l.options.flags |= RB_STOP_ON_ERROR;
	l.options.chunk_keys = 1;
	l.options.window = 1;
	rbi_fleet_run(&l.fleet, NULL, 0);
	/* It is not one of the call. */
	assert_status(rbi_fleet_status(&l.fleet), RB_OK);
	check_reports(&l);
	assert_true(play.heard < 40);
	assert_int_equal(rb_result_failed(l.res), 40);
	assert_true(legs_count(&l, RB_ERR_SKIPPED, "ERR no") > 0);
	end(&l);
}

static int allow_none(void *arg, const char *host, unsigned port)
{
	(void)arg;
	(void)host;
	(void)port;
	return 0;
}

static void test_where_nobody_may_be_asked_the_call_has_failed(void **state)
{
	legs l;

	(void)state;
	begin(&l, 20, 3, false, one_value);
	l.options.allow_node = allow_none;
	play.wait_us = 100000;
	rbi_fleet_run(&l.fleet, NULL, 0);
	assert_status(rbi_fleet_status(&l.fleet), RB_ERR_CONNECT);
	assert_non_null(strstr(l.fleet.why, "allow_node"));
	check_reports(&l);
	assert_int_equal(legs_count(&l, RB_ERR_CONNECT, "allow_node"), 20);
	assert_int_equal(play.heard, 0);
	end(&l);
}

/* ---------------------------------------------------------------- memory -- */

/* Each allocation of a call fails once: it says so or does without, and what
 * it says of each entry is true. */
static void check_memory(unsigned nodes, bool writes)
{
	const char *answer = writes ? "+OK\r\n" : one_value;
	bool failed = true;
	size_t fail_at = 0;

	while (failed) {
		rb_status status;
		size_t i;
		legs l;

		begin(&l, 30, nodes, writes, answer);
		play.wait_us = 100000;
		l.count.fail_at = l.count.asked + ++fail_at;
		rbi_fleet_run(&l.fleet, NULL, 0);
		failed = l.count.asked >= l.count.fail_at;
		status = rbi_fleet_status(&l.fleet);
		check_reports(&l);
		if (!failed)
			assert_int_equal(rb_result_failed(l.res), 0);
		if (rb_result_failed(l.res) > 0)
			assert_status(status, RB_ERR_NOMEM);
		for (i = 0; i < 30 && !writes; i++) {
			if (rb_result_status(l.res, i) == RB_OK)
				assert_string_equal(
					rb_result_value(l.res, i).data, "v");
		}
		end(&l);
	}
	assert_true(fail_at > 10);
}

static void test_without_memory_a_read_says_so(void **state)
{
	(void)state;
	check_memory(3, false);
	check_memory(NODES, false);
}

static void test_without_memory_a_write_says_so(void **state)
{
	(void)state;
	check_memory(3, true);
}

static void test_without_memory_what_was_given_out_is_told(void **state)
{
	const rbi_bounds bounds = { .keys = 10,
				    .args = SIZE_MAX,
				    .request_bytes = SIZE_MAX / 2,
				    .reply_bytes = SIZE_MAX };
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 30, 3, true, "+OK\r\n");
	l.array.loose = l.res->loose = false;
	assert_status(l.fleet.inner->ops->next(l.fleet.inner, &bounds, &p),
		      RB_OK);
	rbi_array_feed_reopen(&l.array, &p);
	rbi_array_feed_loosen(&l.array);
	l.count.fail_at = l.count.asked + 1;
	rbi_fleet_run(&l.fleet, &p, 1);
	assert_status(rbi_fleet_status(&l.fleet), RB_ERR_NOMEM);
	check_reports(&l);
	assert_int_equal(legs_count(&l, RB_ERR_SKIPPED, "out of memory"), 30);
	end(&l);
}

static void test_without_memory_nothing_is_prepared(void **state)
{
	rbt_count count;
	rb_options o;
	rb_client client;

	(void)state;
	memset(&client, 0, sizeof(client));
	rb_options_init(&o);
	rbt_count_init(&count);
	client.allocator = &count.allocator;
	count.fail_at = 1;
	assert_status(rbi_fleet_prepare(&client, &o, RBI_NEVER), RB_ERR_NOMEM);
	assert_null(client.pool);
	assert_status(rbi_fleet_prepare(&client, &o, RBI_NEVER), RB_OK);
	assert_true(client.pool->fixed);
	rbi_pool_free(client.pool);
	assert_int_equal(count.live_blocks, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_node_is_asked),
		cmocka_unit_test(test_a_call_ends_at_its_deadline),
		cmocka_unit_test(test_a_result_has_an_end),
		cmocka_unit_test(test_an_error_stops_all_nodes_if_it_is_to),
		cmocka_unit_test(
			test_where_nobody_may_be_asked_the_call_has_failed),
		cmocka_unit_test(test_without_memory_a_read_says_so),
		cmocka_unit_test(test_without_memory_a_write_says_so),
		cmocka_unit_test(
			test_without_memory_what_was_given_out_is_told),
		cmocka_unit_test(test_without_memory_nothing_is_prepared),
	};

	return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
