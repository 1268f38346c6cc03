#include "alloc.h"
#include "client.h"
#include "count.h"
#include "pair.h"
#include "peer.h"
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <sys/time.h>

#define LONG_MS 60000

static uint64_t hand_us;

static uint64_t read_hand(void *arg)
{
	(void)arg;
	return hand_us;
}

/* Goes on by 400 us with each look. */
static uint64_t tick_hand(void *arg)
{
	(void)arg;
	hand_us += 400;
	return hand_us;
}

static const rbi_clock still = { read_hand, NULL };
static const rbi_clock ticking = { tick_hand, NULL };

static rb_client *wrap(pair *p, const rb_options *defaults)
{
	rb_client *client = NULL;

	pair_init(p);
	assert_status(rb_client_wrap(&client, p->ctx, defaults), RB_OK);
	assert_non_null(client);
	return client;
}

static rb_client *open_at(const rbt_peer *peer, const char *before,
			  const rb_options *defaults)
{
	rb_client *client = NULL;
	char uri[128];

	snprintf(uri, sizeof(uri), "redis://%s127.0.0.1:%d", before,
		 rbt_peer_port(peer));
	assert_status(rb_client_open(&client, uri, defaults), RB_OK);
	assert_non_null(client);
	return client;
}

static rbt_peer *play(const rbt_step *script)
{
	rbt_peer *peer = rbt_peer_play(RBT_TCP, script);

	assert_non_null(peer);
	return peer;
}

/* ----------------------------------------------------------------- begin -- */

static void check_not_wrapped(redisContext *ctx, const rb_options *defaults,
			      rb_status want)
{
	rb_client *client = (rb_client *)(uintptr_t)8;

	assert_status(rb_client_wrap(&client, ctx, defaults), want);
	assert_null(client);
}

static void test_a_context_is_wrapped_and_left_open(void **state)
{
	rb_client *client;
	pair p;

	(void)state;
	client = wrap(&p, NULL);
	assert_string_equal(rb_client_error(client), "");
	rb_client_free(client);
	assert_int_equal(p.ctx->err, 0);
	assert_false(pair_is_ended(&p));
	pair_fini(&p);
}

static void test_unusable_contexts_are_not_wrapped(void **state)
{
	pair p;

	(void)state;
	check_not_wrapped(NULL, NULL, RB_ERR_INVALID);
	pair_init(&p);
	assert_status(rb_client_wrap(NULL, p.ctx, NULL), RB_ERR_INVALID);
	p.ctx->err = REDIS_ERR_EOF;
	check_not_wrapped(p.ctx, NULL, RB_ERR_INVALID);
	p.ctx->err = 0;
	p.ctx->flags &= ~REDIS_BLOCK;
	check_not_wrapped(p.ctx, NULL, RB_ERR_INVALID);
	p.ctx->flags |= REDIS_BLOCK;
	pair_fini(&p);
}

static void test_bad_defaults_are_refused(void **state)
{
	rb_client *client = NULL;
	rb_options o;
	pair p;

	(void)state;
	pair_init(&p);
	rb_options_init(&o);
	o.flags = 1u << 31;
	check_not_wrapped(p.ctx, &o, RB_ERR_INVALID);
	assert_status(rb_client_open(&client, "redis://h", &o), RB_ERR_INVALID);
	assert_null(client);
	o.flags = 0;
	o.struct_size = 0;
	check_not_wrapped(p.ctx, &o, RB_ERR_INVALID);
	pair_fini(&p);
}

static void test_without_memory_there_is_no_client(void **state)
{
	rb_client *client = NULL;
	rbt_count count;
	rb_options o;
	pair p;

	(void)state;
	pair_init(&p);
	rb_options_init(&o);
	rbt_count_init(&count);
	o.allocator = &count.allocator;
	count.fail_at = 1;
	check_not_wrapped(p.ctx, &o, RB_ERR_NOMEM);
	rbt_count_init(&count);
	for (count.fail_at = 1; count.fail_at <= 2; count.fail_at++) {
		count.asked = 0;
		assert_status(rb_client_open(&client, "redis://h", &o),
			      RB_ERR_NOMEM);
		assert_null(client);
		assert_int_equal(count.live_blocks, 0);
	}
	pair_fini(&p);
}

static void test_a_client_takes_its_memory_from_the_allocator(void **state)
{
	rb_client *client = NULL;
	rbt_count count;
	rb_options o;

	(void)state;
	rb_options_init(&o);
	rbt_count_init(&count);
	o.allocator = &count.allocator;
	assert_status(rb_client_open(&client, "redis://:pw@h", &o), RB_OK);
	assert_true(count.live_blocks > 0);
	rb_client_free(client);
	assert_int_equal(count.live_blocks, 0);
}

static void test_uris_are_checked_and_nothing_is_connected(void **state)
{
	static const rbt_step script[] = { RBT_ACCEPT, RBT_END };
	rbt_peer *peer = play(script);
	rb_client *client = NULL;

	(void)state;
	assert_status(rb_client_open(NULL, "redis://h", NULL), RB_ERR_INVALID);
	assert_status(rb_client_open(&client, NULL, NULL), RB_ERR_INVALID);
	assert_null(client);
	assert_status(rb_client_open(&client, "h:1", NULL), RB_ERR_INVALID);
	client = open_at(peer, "", NULL);
	assert_null(client->ctx);
	rb_client_free(client);
	assert_int_equal(rbt_peer_connections(peer), 0);
	rbt_peer_stop(peer);
}

static void test_nothing_may_be_freed(void **state)
{
	(void)state;
	rb_client_free(NULL);
	assert_true(strlen(rb_client_error(NULL)) > 0);
}

/* --------------------------------------------------------------- options -- */

static void test_options_of_the_call_come_first(void **state)
{
	rb_client *client;
	rb_options defaults;
	rb_options call;
	rb_options o;
	pair p;

	(void)state;
	rb_options_init(&defaults);
	defaults.chunk_keys = 7;
	defaults.window = 8;
	client = wrap(&p, &defaults);
	/* They were copied. */
	memset(&defaults, 0xff, sizeof(defaults));
	rb_options_init(&call);
	call.window = 9;
	assert_status(rbi_client_options(client, &call, &o), RB_OK);
	assert_int_equal(o.chunk_keys, 7);
	assert_int_equal(o.window, 9);
	assert_int_equal(o.chunk_args, 1000000);
	assert_status(rbi_client_options(client, NULL, &o), RB_OK);
	assert_int_equal(o.window, 8);
	rb_client_free(client);
	pair_fini(&p);
}

static void test_bad_options_of_a_call_are_named(void **state)
{
	rb_client *client;
	rb_options call;
	rb_options o;
	pair p;

	(void)state;
	client = wrap(&p, NULL);
	memset(&call, 0, sizeof(call));
	assert_status(rbi_client_options(client, &call, &o), RB_ERR_INVALID);
	assert_non_null(strstr(rb_client_error(client), "struct_size"));
	rb_client_free(client);
	pair_fini(&p);
}

static void test_a_failure_is_one_line_that_fits(void **state)
{
	char words[2000];
	rb_client *client;
	pair p;

	(void)state;
	client = wrap(&p, NULL);
	assert_status(rbi_client_fail(client, RB_ERR_IO, "%s: %d", "a", 5),
		      RB_ERR_IO);
	assert_string_equal(rb_client_error(client), "a: 5");
	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	assert_status(rbi_client_fail(client, RB_ERR_LIMIT, "%s", words),
		      RB_ERR_LIMIT);
	assert_int_equal(strlen(rb_client_error(client)),
			 sizeof(client->error) - 1);
	rb_client_free(client);
	pair_fini(&p);
}

/* -------------------------------------------------------------- deadline -- */

static void test_the_deadline_is_that_of_the_call_or_the_context(void **state)
{
	static const struct {
		uint32_t call_ms;
		struct timeval of_context;
		uint64_t want_us;
	} cases[] = {
		{ 0, { 0, 0 }, RBI_NEVER },
		{ 250, { 0, 0 }, 1000000 + 250000 },
		{ 0, { 2, 0 }, 1000000 + 2000000 },
		{ 250, { 2, 0 }, 1000000 + 250000 },
		{ 5000, { 2, 0 }, 1000000 + 5000000 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rb_client *client;
		rb_options o;
		pair p;

		client = wrap(&p, NULL);
		client->clock = &still;
		hand_us = 1000000;
		assert_int_equal(redisSetTimeout(p.ctx, cases[i].of_context),
				 REDIS_OK);
		rb_options_init(&o);
		o.timeout_ms = cases[i].call_ms;
		assert_true(rbi_client_deadline(client, &o) ==
			    cases[i].want_us);
		rb_client_free(client);
		pair_fini(&p);
	}
}

static void test_an_own_connection_has_the_deadline_of_the_call(void **state)
{
	rb_client *client = NULL;
	rb_options o;

	(void)state;
	assert_status(rb_client_open(&client, "redis://h", NULL), RB_OK);
	client->clock = &still;
	hand_us = 5;
	rb_options_init(&o);
	assert_true(rbi_client_deadline(client, &o) == RBI_NEVER);
	o.timeout_ms = 1;
	assert_int_equal(rbi_client_deadline(client, &o), 1005);
	rb_client_free(client);
}

/* --------------------------------------------------------------- connect -- */

static void test_a_wrapped_context_is_only_looked_at(void **state)
{
	rb_client *client;
	pair p;

	(void)state;
	client = wrap(&p, NULL);
	assert_status(rb_client_connect(client), RB_OK);
	assert_string_equal(rb_client_error(client), "");
	pair_say(&p, LIT("+PONG\r\n"));
	assert_status(rb_client_connect(client), RB_ERR_BUSY);
	assert_non_null(strstr(rb_client_error(client), "unread"));
	assert_int_equal(p.ctx->err, 0);
	p.ctx->err = REDIS_ERR_EOF;
	assert_status(rb_client_connect(client), RB_ERR_INVALID);
	rb_client_free(client);
	pair_fini(&p);
}

static void test_a_wrapped_context_that_ended_is_told(void **state)
{
	rb_client *client;
	pair p;

	(void)state;
	client = wrap(&p, NULL);
	pair_close_peer(&p);
	assert_status(rb_client_connect(client), RB_ERR_CONNECT);
	assert_non_null(strstr(rb_client_error(client), "closed"));
	rb_client_free(client);
	pair_fini(&p);
}

static void test_connecting_no_client_is_refused(void **state)
{
	(void)state;
	assert_status(rb_client_connect(NULL), RB_ERR_INVALID);
}

static void test_connecting_twice_connects_once(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					   RBT_END };
	rbt_peer *peer = play(script);
	rb_client *client = open_at(peer, ":pw@", NULL);

	(void)state;
	assert_status(rb_client_connect(client), RB_OK);
	assert_status(rb_client_connect(client), RB_OK);
	assert_int_equal(rbt_peer_connections(peer), 1);
	rb_client_free(client);
	rbt_peer_stop(peer);
}

static void test_a_connection_that_ended_is_made_anew(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					   RBT_WAIT,	  RBT_CLOSE,
					   RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					   RBT_END };
	rbt_peer *peer = play(script);
	rb_client *client = open_at(peer, ":pw@", NULL);
	struct pollfd pfd = { .events = POLLIN };

	(void)state;
	assert_status(rb_client_connect(client), RB_OK);
	rbt_peer_release(peer);
	/* It ends before the client looks at it again. */
	pfd.fd = client->ctx->fd;
	assert_int_equal(poll(&pfd, 1, LONG_MS), 1);
	assert_status(rb_client_connect(client), RB_OK);
	assert_true(rbt_peer_await_over(peer, LONG_MS));
	assert_int_equal(rbt_peer_connections(peer), 2);
	rb_client_free(client);
	rbt_peer_stop(peer);
}

static void test_a_context_marked_broken_is_made_anew(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("+OK\r\n"), RBT_DRAIN(LONG_MS),
		RBT_CLOSE,     RBT_EXPECT(1),	    RBT_SEND("+OK\r\n"),
		RBT_END
	};
	rbt_peer *peer = play(script);
	rb_client *client = open_at(peer, ":pw@", NULL);

	(void)state;
	assert_status(rb_client_connect(client), RB_OK);
	client->ctx->err = REDIS_ERR_OTHER;
	assert_status(rb_client_connect(client), RB_OK);
	assert_int_equal(client->ctx->err, 0);
	assert_int_equal(rbt_peer_connections(peer), 2);
	rb_client_free(client);
	rbt_peer_stop(peer);
}

static void test_a_failed_connection_is_told_without_the_password(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),	     RBT_SEND("-WRONGPASS invalid pair\r\n"),
		RBT_CLOSE,	     RBT_EXPECT(1),
		RBT_SEND("+OK\r\n"), RBT_END
	};
	rbt_peer *peer = play(script);
	rb_client *client = open_at(peer, ":tenfold@", NULL);

	(void)state;
	assert_status(rb_client_connect(client), RB_ERR_CONNECT);
	assert_non_null(strstr(rb_client_error(client), "WRONGPASS"));
	assert_null(strstr(rb_client_error(client), "tenfold"));
	assert_null(client->ctx);
	assert_status(rb_client_connect(client), RB_OK);
	assert_string_equal(rb_client_error(client), "");
	rb_client_free(client);
	rbt_peer_stop(peer);
}

static void check_silence(uint32_t connect_ms, uint32_t call_ms, rb_status want)
{
	static const rbt_step script[] = { RBT_DRAIN(LONG_MS), RBT_END };
	rbt_peer *peer = play(script);
	rb_client *client;
	rb_options o;

	rb_options_init(&o);
	o.connect_timeout_ms = connect_ms;
	o.timeout_ms = call_ms;
	client = open_at(peer, ":pw@", &o);
	client->clock = &ticking;
	assert_status(rb_client_connect(client), want);
	assert_non_null(strstr(rb_client_error(client), "deadline"));
	rb_client_free(client);
	rbt_peer_stop(peer);
}

static void test_the_time_to_connect_and_the_deadline_differ(void **state)
{
	(void)state;
	check_silence(5, 0, RB_ERR_CONNECT);
	check_silence(5, 5000, RB_ERR_CONNECT);
	check_silence(5000, 5, RB_ERR_TIMEOUT);
}

static void test_freeing_an_own_client_hangs_up(void **state)
{
	static const rbt_step script[] = { RBT_DRAIN(LONG_MS), RBT_END };
	rbt_peer *peer = play(script);
	rb_client *client = open_at(peer, "", NULL);

	(void)state;
	assert_status(rb_client_connect(client), RB_OK);
	rb_client_free(client);
	assert_true(rbt_peer_await_ends(peer, 1, LONG_MS));
	rbt_peer_stop(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_context_is_wrapped_and_left_open),
		cmocka_unit_test(test_unusable_contexts_are_not_wrapped),
		cmocka_unit_test(test_bad_defaults_are_refused),
		cmocka_unit_test(test_without_memory_there_is_no_client),
		cmocka_unit_test(
			test_a_client_takes_its_memory_from_the_allocator),
		cmocka_unit_test(
			test_uris_are_checked_and_nothing_is_connected),
		cmocka_unit_test(test_nothing_may_be_freed),
		cmocka_unit_test(test_options_of_the_call_come_first),
		cmocka_unit_test(test_bad_options_of_a_call_are_named),
		cmocka_unit_test(test_a_failure_is_one_line_that_fits),
		cmocka_unit_test(
			test_the_deadline_is_that_of_the_call_or_the_context),
		cmocka_unit_test(
			test_an_own_connection_has_the_deadline_of_the_call),
		cmocka_unit_test(test_a_wrapped_context_is_only_looked_at),
		cmocka_unit_test(test_a_wrapped_context_that_ended_is_told),
		cmocka_unit_test(test_connecting_no_client_is_refused),
		cmocka_unit_test(test_connecting_twice_connects_once),
		cmocka_unit_test(test_a_connection_that_ended_is_made_anew),
		cmocka_unit_test(test_a_context_marked_broken_is_made_anew),
		cmocka_unit_test(
			test_a_failed_connection_is_told_without_the_password),
		cmocka_unit_test(
			test_the_time_to_connect_and_the_deadline_differ),
		cmocka_unit_test(test_freeing_an_own_client_hangs_up),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
