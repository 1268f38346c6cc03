/*
 * Asking a cluster which node serves which slot. The cluster is a peer, and
 * the clock is turned by hand.
 */
#include "alloc.h"
#include "count.h"
#include "options.h"
#include "peer.h"
#include "scout.h"
#include "unit.h"

#include <stdio.h>

#define BEGIN_US 3000000

static uint64_t now_us;

static uint64_t read_hand(void *arg)
{
	(void)arg;
	return now_us;
}

static const rbi_clock hand = { read_hand, NULL };

/* Waits for the peer, which will say something; or else time passes. */
static int turn(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	assert_true(timeout_ms >= 0);
	if (fds[0].fd < 0) {
		now_us += (uint64_t)timeout_ms * 1000;
		return 0;
	}
	return poll(fds, n, 10000);
}

/* Nothing ever comes. */
static int turn_in_vain(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	(void)fds;
	(void)n;
	now_us += (uint64_t)timeout_ms * 1000 + 1;
	return 0;
}

typedef struct fixture {
	rbt_count count;
	rb_client client;
	rb_options options;
	rbi_seed seeds[2];
	rbt_peer *peer;
	rbi_sys sys;
	size_t early; /* so many answers are that it is not ready */
	size_t asked;
} fixture;

static void answer(void *arg, size_t argc, const rbt_arg *argv,
		   rbt_reply *reply)
{
	fixture *f = arg;
	char text[160];

	(void)argc;
	(void)argv;
	if (f->asked++ < f->early) {
		rbt_reply_text(reply, "*0\r\n");
		return;
	}
	snprintf(text, sizeof(text),
		 "*2\r\n*3\r\n:0\r\n:99\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n"
		 "*3\r\n:100\r\n:200\r\n*2\r\n$5\r\nother\r\n:1\r\n",
		 rbt_peer_port(f->peer));
	rbt_reply_text(reply, text);
}

static void begin(fixture *f, rbt_handler *handler)
{
	rbt_peer_options o = { .handler = handler, .handler_arg = f };
	rb_client *client = &f->client;
	rb_options none;

	memset(f, 0, sizeof(*f));
	now_us = BEGIN_US;
	rbt_count_init(&f->count);
	rb_options_init(&none);
	rb_options_init(&f->options);
	rbi_options_fill(&f->options, &none);
	f->peer = rbt_peer_start(&o);
	assert_non_null(f->peer);
	f->sys = rbi_sys_default;
	f->sys.poll = turn;
	client->allocator = &f->count.allocator;
	client->clock = &hand;
	client->sys = &f->sys;
	client->plain = rbi_transport_plain();
	client->own = client->uri.cluster = true;
	client->wake.fds[0] = client->wake.fds[1] = -1;
	strcpy(client->node, "cluster");
	f->seeds[0].host = "127.0.0.1";
	f->seeds[0].port = (unsigned)rbt_peer_port(f->peer);
	client->uri.seeds = f->seeds;
	client->uri.nseeds = 1;
	client->pool = rbi_pool_new(client->allocator, NULL, 0);
	assert_non_null(client->pool);
}

static void end(fixture *f)
{
	rbi_pool_free(f->client.pool);
	assert_int_equal(f->count.live_blocks, 0);
	rbt_peer_stop(f->peer);
}

static rb_status ask(fixture *f, uint64_t deadline_us, uint64_t patience_us)
{
	return rbi_scout_wait(&f->client, f->client.pool, &f->options,
			      deadline_us, patience_us);
}

static void check_learned(const fixture *f)
{
	const rbi_slotmap *map = &f->client.pool->map;

	assert_true(f->client.pool->known);
	assert_int_equal(map->nnodes, 2);
	assert_int_equal(map->owner[99], 0);
	assert_int_equal(map->owner[100], 1);
	assert_int_equal(map->owner[201], RBI_NO_NODE);
}

static void test_the_map_is_learned(void **state)
{
	fixture f;

	(void)state;
	begin(&f, answer);
	f.client.pool->stale = true;
	assert_status(ask(&f, RBI_NEVER, 0), RB_OK);
	check_learned(&f);
	assert_false(f.client.pool->stale);
	end(&f);
	assert_int_equal(f.asked, 1);
}

static void test_it_is_asked_no_more_than_once_a_second(void **state)
{
	struct pollfd fd;
	rbi_scout s;
	fixture f;

	(void)state;
	begin(&f, answer);
	rbi_scout_init(&s, &f.client, f.client.pool, &f.options);
	assert_true(rbi_scout_next(&s) == 0);
	assert_true(rbi_scout_wants(&s, &fd, now_us) == RBI_NEVER);
	assert_int_equal(fd.fd, -1);
	rbi_scout_begin(&s, now_us);
	assert_int_equal(s.state, RBI_SCOUT_ASKING);
	assert_true(rbi_scout_next(&s) == BEGIN_US + 1000000);
	/* It may end at any moment. */
	rbi_scout_fini(&s);
	assert_int_equal(s.state, RBI_SCOUT_IDLE);
	assert_int_equal(rbi_scout_step(&s, now_us), RBI_SCOUT_IDLE);
	rbi_scout_begin(&s, BEGIN_US + 999999);
	assert_int_equal(s.state, RBI_SCOUT_IDLE);
	rbi_scout_begin(&s, BEGIN_US + 1000000);
	assert_int_equal(s.state, RBI_SCOUT_ASKING);
	rbi_scout_fini(&s);
	end(&f);
}

static void test_a_cluster_that_forms_is_asked_until_it_is_ready(void **state)
{
	fixture f;

	(void)state;
	begin(&f, answer);
	f.early = 3;
	assert_status(ask(&f, RBI_NEVER, 1000000), RB_OK);
	check_learned(&f);
	assert_true(now_us == BEGIN_US + 3 * 200000);
	end(&f);
	assert_int_equal(f.asked, 4);
}

static void test_it_is_not_asked_for_ever(void **state)
{
	fixture f;

	(void)state;
	begin(&f, answer);
	f.early = SIZE_MAX;
	assert_status(ask(&f, RBI_NEVER, 1000000), RB_ERR_SERVER);
	assert_non_null(strstr(f.client.error, "the cluster is not ready"));
	assert_true(now_us == BEGIN_US + 1000000);
	assert_false(f.client.pool->known);
	/* Nor twice, if one attempt is all. */
	now_us = BEGIN_US;
	f.options.attempts = 1;
	assert_status(ask(&f, RBI_NEVER, 1000000), RB_ERR_SERVER);
	assert_true(now_us == BEGIN_US);
	end(&f);
}

static void say_nothing(void *arg, size_t argc, const rbt_arg *argv,
			rbt_reply *reply)
{
	(void)arg;
	(void)argc;
	(void)argv;
	(void)reply;
}

static void test_who_does_not_answer_is_left(void **state)
{
	fixture f;

	(void)state;
	begin(&f, say_nothing);
	f.sys.poll = turn_in_vain;
	f.options.connect_timeout_ms = 3000;
	assert_status(ask(&f, RBI_NEVER, 0), RB_ERR_CONNECT);
	assert_non_null(strstr(f.client.error, "the deadline for connecting"));
	assert_in_range(now_us - BEGIN_US, 3000000, 3100000);
	/* One of several holds up the others for a second each. */
	now_us = BEGIN_US;
	f.seeds[1] = f.seeds[0];
	f.client.uri.nseeds = 2;
	assert_status(ask(&f, RBI_NEVER, 0), RB_ERR_CONNECT);
	assert_in_range(now_us - BEGIN_US, 2000000, 2100000);
	end(&f);
}

static void test_it_ends_with_the_call(void **state)
{
	fixture f;

	(void)state;
	begin(&f, say_nothing);
	f.sys.poll = turn_in_vain;
	assert_status(ask(&f, BEGIN_US + 500, 0), RB_ERR_TIMEOUT);
	atomic_store(&f.client.wake.requested, 1);
	assert_status(ask(&f, RBI_NEVER, 0), RB_ERR_CANCELLED);
	assert_string_equal(f.client.error, "cluster: cancelled");
	assert_false(rbi_wake_is_requested(&f.client.wake));
	end(&f);
}

static void test_without_memory_it_says_so(void **state)
{
	bool failed = true;
	size_t fail_at = 0;

	(void)state;
	while (failed) {
		rb_status status;
		fixture f;

		begin(&f, answer);
		f.count.fail_at = f.count.asked + ++fail_at;
		status = ask(&f, RBI_NEVER, 0);
		failed = f.count.asked >= f.count.fail_at;
		if (status == RB_OK) {
			check_learned(&f);
		} else {
			assert_true(failed);
			assert_status(status, RB_ERR_NOMEM);
			assert_non_null(
				strstr(f.client.error, "out of memory"));
			assert_false(f.client.pool->known);
		}
		end(&f);
	}
	assert_true(fail_at > 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_map_is_learned),
		cmocka_unit_test(test_it_is_asked_no_more_than_once_a_second),
		cmocka_unit_test(
			test_a_cluster_that_forms_is_asked_until_it_is_ready),
		cmocka_unit_test(test_it_is_not_asked_for_ever),
		cmocka_unit_test(test_who_does_not_answer_is_left),
		cmocka_unit_test(test_it_ends_with_the_call),
		cmocka_unit_test(test_without_memory_it_says_so),
	};

	return cmocka_run_group_tests_name("scout", tests, NULL, NULL);
}
