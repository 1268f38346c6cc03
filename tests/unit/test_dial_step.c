/*
 * Dialing step by step: many at once in one loop, and given up at any moment.
 */
#include "alloc.h"
#include "count.h"
#include "dial.h"
#include "fds.h"
#include "hole.h"
#include "peer.h"
#include "unit.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LONG_MS 60000

/* A peer and what dials it. */
typedef struct call {
	rbt_peer *peer;
	rbi_uri uri;
	rbi_dialer d;
} call;

static void parse(rbi_uri *uri, const char *before, int port,
		  const char *behind)
{
	const char *problem = NULL;
	char text[256];

	snprintf(text, sizeof(text), "redis://%s127.0.0.1:%d%s", before, port,
		 behind);
	assert_status(rbi_uri_parse(uri, text, &rbi_alloc_default, &problem),
		      RB_OK);
}

static void begin_by(call *c, const rbt_step *script, const char *before,
		     const char *behind, const rb_allocator *a)
{
	const rbt_peer_options o = { .script = script, .record = 4096 };

	c->peer = rbt_peer_start(&o);
	assert_non_null(c->peer);
	parse(&c->uri, before, rbt_peer_port(c->peer), behind);
	rbi_dialer_begin(&c->d, &c->uri, a, true);
}

static void begin(call *c, const rbt_step *script, const char *before,
		  const char *behind)
{
	begin_by(c, script, before, behind, &rbi_alloc_default);
}

static void end(call *c)
{
	rbi_dialer_fini(&c->d);
	rbi_uri_fini(&c->uri, &rbi_alloc_default);
	rbt_peer_stop(c->peer);
}

/* Waits for what one of them wants; those that are over want nothing. */
static void wait_for(call *calls, size_t n)
{
	struct pollfd fds[16];
	uint64_t most_us = (uint64_t)LONG_MS * 1000;
	size_t i;

	assert_true(n <= N_OF(fds));
	for (i = 0; i < n; i++) {
		uint64_t wait_us = RBI_NEVER;

		memset(&fds[i], 0, sizeof(fds[i]));
		fds[i].fd = -1;
		if (calls[i].d.state == RBI_DIALER_WAITING)
			wait_us = rbi_dialer_wants(&calls[i].d, &fds[i]);
		if (wait_us < most_us)
			most_us = wait_us;
	}
	assert_true(poll(fds, (nfds_t)n, (int)(most_us / 1000)) > 0 ||
		    most_us < (uint64_t)LONG_MS * 1000);
}

/* Steps all of them until call i is over. */
static rbi_dialer_state await_end(call *calls, size_t n, size_t i)
{
	for (;;) {
		size_t at;

		for (at = 0; at < n; at++)
			(void)rbi_dialer_step(&calls[at].d);
		if (calls[i].d.state != RBI_DIALER_WAITING)
			return calls[i].d.state;
		wait_for(calls, n);
	}
}

/* Steps until the end, or until the handshake has come to this stage. */
static void await_stage(call *c, rbi_dialer_stage stage)
{
	while (rbi_dialer_step(&c->d) == RBI_DIALER_WAITING &&
	       c->d.stage < stage)
		wait_for(c, 1);
}

#define OK_ONCE RBT_EXPECT(1), RBT_SEND("+OK\r\n")

/* ------------------------------------------------------------- the context -- */

static void check_sent(const rbt_peer *peer, const char *want)
{
	char sent[4096];
	size_t n = rbt_peer_recorded(peer, sent, sizeof(sent));

	assert_int_equal(n, strlen(want));
	assert_memory_equal(sent, want, n);
}

static void test_readonly_is_sent_behind_auth_and_select(void **state)
{
	static const rbt_step script[] = { OK_ONCE, OK_ONCE, OK_ONCE, RBT_END };
	redisContext *ctx;
	call c;

	(void)state;
	begin(&c, script, "ann:tenfold@", "/3");
	assert_int_equal(await_end(&c, 1, 0), RBI_DIALER_DONE);
	assert_int_equal(rbi_dialer_step(&c.d), RBI_DIALER_DONE);
	ctx = rbi_dialer_take(&c.d);
	assert_null(rbi_dialer_take(&c.d));
	check_sent(c.peer, "*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$7\r\ntenfold\r\n"
			   "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
			   "*1\r\n$8\r\nREADONLY\r\n");
	rbi_dialer_fini(&c.d);
	assert_int_equal(ctx->err, 0);
	assert_true((ctx->flags & REDIS_CONNECTED) != 0);
	assert_int_equal(send(ctx->fd, "x", 1, MSG_NOSIGNAL), 1);
	redisFree(ctx);
	end(&c);
}

static void test_readonly_may_be_all_that_is_sent(void **state)
{
	static const rbt_step script[] = { OK_ONCE, RBT_END };
	call c;

	(void)state;
	begin(&c, script, "", "");
	assert_int_equal(await_end(&c, 1, 0), RBI_DIALER_DONE);
	check_sent(c.peer, "*1\r\n$8\r\nREADONLY\r\n");
	end(&c);
}

/* -------------------------------------------------------------- refusals -- */

#define FIRST(text)                                    \
	{                                              \
		RBT_EXPECT(1), RBT_SEND(text), RBT_END \
	}

#define SECOND(text)                                            \
	{                                                       \
		OK_ONCE, RBT_EXPECT(1), RBT_SEND(text), RBT_END \
	}

#define THIRD(text)                                                      \
	{                                                                \
		OK_ONCE, OK_ONCE, RBT_EXPECT(1), RBT_SEND(text), RBT_END \
	}

static void test_a_refusal_is_told_from_a_failure(void **state)
{
	static const struct {
		rbt_step script[8];
		bool refused;
		const char *words;
	} rows[] = {
		{ FIRST("-WRONGPASS no\r\n"), true, "AUTH failed: WRONGPASS" },
		{ FIRST("-ERR unknown command, with args beginning with: "
			"'tenfold' \r\n"),
		  true, "AUTH failed" },
		{ SECOND("-ERR SELECT is not allowed in cluster mode\r\n"),
		  true, "SELECT failed: ERR SELECT is not" },
		{ THIRD("-ERR This instance has cluster support disabled\r\n"),
		  true, "READONLY failed: ERR This instance" },
		{ FIRST("-ERR max number of clients reached\r\n"), false,
		  "AUTH failed: ERR max number of clients" },
		{ FIRST("-LOADING Redis is loading the dataset\r\n"), false,
		  "AUTH failed: LOADING" },
		{ FIRST("-ERR Protocol error: unauthenticated bulk length\r\n"),
		  true, "AUTH failed: ERR Protocol error" },
		{ SECOND("-BUSY Redis is busy running a script\r\n"), false,
		  "SELECT failed: BUSY" },
		{ THIRD("+QUEUED\r\n"), false, "READONLY failed: an unexp" },
		{ THIRD("$2\r\nOK\r\n"), false, "READONLY failed: an unexp" },
		{ THIRD("+OK\r\n+OK\r\n"), false, "READONLY failed: unexp" },
		{ THIRD("*1000000\r\n"), false, "READONLY failed: its answer" },
		{ THIRD("x"), false, "READONLY failed: " },
		{ { OK_ONCE, OK_ONCE, RBT_EXPECT(1), RBT_CLOSE, RBT_END },
		  false,
		  "READONLY failed: it closed the connection" },
		{ { OK_ONCE, RBT_EXPECT(1), RBT_RESET, RBT_END },
		  false,
		  "SELECT failed: " },
		{ { OK_ONCE, RBT_EXPECT(1), RBT_SEND("+O"), RBT_CLOSE,
		    RBT_END },
		  false,
		  "SELECT failed: it closed the connection" },
	};
	int before = fds_open();
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		char node[32];
		call c;

		begin(&c, rows[i].script, ":tenfold@", "/3");
		assert_int_equal(await_end(&c, 1, 0), RBI_DIALER_FAILED);
		assert_int_equal(rbi_dialer_step(&c.d), RBI_DIALER_FAILED);
		assert_status(c.d.status, RB_ERR_CONNECT);
		assert_int_equal(c.d.refused, rows[i].refused);
		snprintf(node, sizeof(node), "127.0.0.1:%d: ", c.uri.port);
		assert_memory_equal(c.d.why, node, strlen(node));
		if (strstr(c.d.why, rows[i].words) == NULL)
			fail_msg("\"%s\" is not in: %s", rows[i].words,
				 c.d.why);
		assert_null(strstr(c.d.why, "tenfold"));
		assert_null(rbi_dialer_take(&c.d));
		end(&c);
	}
	assert_int_equal(fds_open(), before);
}

/* ------------------------------------------------------------ many at once -- */

enum { MANY = 8 };

static void begin_many(call *calls, const rbt_step *script)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		begin(&calls[i], script, ":tenfold@", "");
}

static void end_many(call *calls)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		end(&calls[i]);
}

static void test_one_loop_dials_many_that_answer_in_any_order(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1),
					   RBT_WAIT,
					   RBT_TRICKLE("+OK\r\n", 0),
					   RBT_EXPECT(1),
					   RBT_TRICKLE("+OK\r\n", 0),
					   RBT_END };
	call calls[MANY];
	size_t i;

	(void)state;
	begin_many(calls, script);
	/* Each says nothing before the one behind it was done with. */
	for (i = MANY; i > 0; i--) {
		rbt_peer_release(calls[i - 1].peer);
		assert_int_equal(await_end(calls, MANY, i - 1),
				 RBI_DIALER_DONE);
		if (i > 1)
			assert_int_equal(calls[i - 2].d.state,
					 RBI_DIALER_WAITING);
	}
	end_many(calls);
}

static void test_one_that_fails_leaves_the_others_alone(void **state)
{
	static const rbt_step fine[] = { OK_ONCE, OK_ONCE, RBT_END };
	static const rbt_step refusing[] = { RBT_EXPECT(1),
					     RBT_SEND("-ERR no\r\n"), RBT_END };
	static const rbt_step closing[] = { RBT_ACCEPT, RBT_CLOSE, RBT_END };
	static const rbt_step *const scripts[] = { fine, refusing, closing };
	call calls[MANY];
	size_t i;

	(void)state;
	for (i = 0; i < MANY; i++)
		begin(&calls[i], scripts[i % 3], ":tenfold@", "");
	for (i = 0; i < MANY; i++)
		assert_int_equal(await_end(calls, MANY, i),
				 i % 3 == 0 ? RBI_DIALER_DONE :
					      RBI_DIALER_FAILED);
	end_many(calls);
}

static void test_one_that_is_not_heard_of_holds_nobody_up(void **state)
{
	static const rbt_step script[] = { OK_ONCE, OK_ONCE, RBT_END };
	int before = fds_open();
	call calls[MANY];
	size_t i;
	hole h;

	(void)state;
	hole_dig(&h);
	memset(&calls[0], 0, sizeof(calls[0]));
	parse(&calls[0].uri, ":tenfold@", h.port, "");
	rbi_dialer_begin(&calls[0].d, &calls[0].uri, &rbi_alloc_default, false);
	for (i = 1; i < MANY; i++)
		begin(&calls[i], script, ":tenfold@", "");
	for (i = 1; i < MANY; i++)
		assert_int_equal(await_end(calls, MANY, i), RBI_DIALER_DONE);
	assert_int_equal(calls[0].d.state, RBI_DIALER_WAITING);
	assert_int_equal(calls[0].d.stage, RBI_DIALER_CONNECT);
	end_many(calls);
	hole_fill(&h);
	assert_int_equal(fds_open(), before);
}

/* --------------------------------------------------------------- given up -- */

static void test_it_can_be_given_up_at_any_stage(void **state)
{
	static const rbt_step script[] = { OK_ONCE, OK_ONCE, OK_ONCE, RBT_END };
	int before = fds_open();
	int stage;

	(void)state;
	for (stage = RBI_DIALER_CONNECT; stage <= RBI_DIALER_READY; stage++) {
		rbt_count count;
		call c;

		rbt_count_init(&count);
		begin_by(&c, script, ":tenfold@", "/3", &count.allocator);
		await_stage(&c, (rbi_dialer_stage)stage);
		assert_true(c.d.stage >= (rbi_dialer_stage)stage);
		rbi_dialer_fini(&c.d);
		assert_int_equal(count.live_blocks, 0);
		rbi_dialer_fini(&c.d);
		end(&c);
		assert_int_equal(fds_open(), before);
	}
}

static void test_a_lack_of_memory_is_no_refusal_and_leaves_nothing(void **state)
{
	static const rbt_step script[] = { OK_ONCE, OK_ONCE, OK_ONCE, RBT_END };
	rbi_dialer_state end_state = RBI_DIALER_FAILED;
	int before = fds_open();
	size_t at;

	(void)state;
	for (at = 1; end_state != RBI_DIALER_DONE; at++) {
		rbt_count count;
		call c;

		rbt_count_init(&count);
		count.fail_at = at;
		begin_by(&c, script, ":tenfold@", "/3", &count.allocator);
		end_state = await_end(&c, 1, 0);
		if (end_state == RBI_DIALER_FAILED) {
			assert_status(c.d.status, RB_ERR_NOMEM);
			assert_false(c.d.refused);
			assert_non_null(strstr(c.d.why, "memory"));
		}
		assert_int_equal(count.live_blocks, 0);
		end(&c);
		assert_int_equal(fds_open(), before);
	}
	assert_true(at > 6);
}

/* ---------------------------------------------------------- byte for byte -- */

static size_t sends;

/* Every second one finds no room, and the others take a byte. */
static ssize_t send_a_byte(int fd, const struct msghdr *msg, int flags)
{
	if (sends++ % 2 == 0) {
		errno = EAGAIN;
		return -1;
	}
	return send(fd, msg->msg_iov->iov_base, 1, flags);
}

static ssize_t recv_a_byte(int fd, void *buf, size_t len, int flags)
{
	assert_true(len > 0);
	return recv(fd, buf, 1, flags);
}

static void test_a_handshake_may_move_byte_for_byte(void **state)
{
	static const rbt_step script[] = { OK_ONCE, OK_ONCE, OK_ONCE, RBT_END };
	static const rbi_sys sys = { .send = send_a_byte, .recv = recv_a_byte };
	call c;

	(void)state;
	begin(&c, script, ":tenfold@", "/3");
	c.d.transport.sys = &sys;
	assert_int_equal(await_end(&c, 1, 0), RBI_DIALER_DONE);
	check_sent(c.peer, "*2\r\n$4\r\nAUTH\r\n$7\r\ntenfold\r\n"
			   "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
			   "*1\r\n$8\r\nREADONLY\r\n");
	end(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readonly_is_sent_behind_auth_and_select),
		cmocka_unit_test(test_readonly_may_be_all_that_is_sent),
		cmocka_unit_test(test_a_refusal_is_told_from_a_failure),
		cmocka_unit_test(
			test_one_loop_dials_many_that_answer_in_any_order),
		cmocka_unit_test(test_one_that_fails_leaves_the_others_alone),
		cmocka_unit_test(test_one_that_is_not_heard_of_holds_nobody_up),
		cmocka_unit_test(test_it_can_be_given_up_at_any_stage),
		cmocka_unit_test(
			test_a_lack_of_memory_is_no_refusal_and_leaves_nothing),
		cmocka_unit_test(test_a_handshake_may_move_byte_for_byte),
	};

	return cmocka_run_group_tests_name("dial step", tests, NULL, NULL);
}
