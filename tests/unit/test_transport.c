#include "clock.h"
#include "pair.h"
#include "tick.h"
#include "transport.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/uio.h>

/* ---------------------------------------------------------------- check -- */

static void check_refused(redisContext *ctx, const char *words)
{
	const char *problem = NULL;

	assert_status(rbi_transport_check(ctx, &problem), RB_ERR_INVALID);
	assert_non_null(problem);
	if (strstr(problem, words) == NULL)
		fail_msg("%s: %s", words, problem);
}

static void test_a_connected_context_is_fine(void **state)
{
	const char *problem = "unset";
	pair p;

	(void)state;
	pair_init(&p);
	assert_status(rbi_transport_check(p.ctx, &problem), RB_OK);
	assert_null(problem);
	pair_fini(&p);
}

static void test_unusable_contexts_are_told_apart(void **state)
{
	static const struct {
		int set;
		int clear;
		const char *words;
	} cases[] = {
		{ 0, REDIS_CONNECTED, "not connected" },
		{ 0, REDIS_BLOCK, "non-blocking" },
		{ REDIS_DISCONNECTING, 0, "closed" },
		{ REDIS_FREEING, 0, "closed" },
		{ REDIS_SUBSCRIBED, 0, "subscriptions" },
		{ REDIS_MONITORING, 0, "MONITOR" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		int flags;
		pair p;

		pair_init(&p);
		flags = p.ctx->flags;
		p.ctx->flags = (flags | cases[i].set) & ~cases[i].clear;
		check_refused(p.ctx, cases[i].words);
		p.ctx->flags = flags;
		pair_fini(&p);
	}
}

static void test_no_context_is_refused(void **state)
{
	(void)state;
	check_refused(NULL, "NULL");
}

static void test_a_context_in_error_is_refused(void **state)
{
	pair p;

	(void)state;
	pair_init(&p);
	p.ctx->err = REDIS_ERR_IO;
	assert_true(rbi_transport_is_broken(p.ctx));
	check_refused(p.ctx, "error");
	p.ctx->err = 0;
	assert_false(rbi_transport_is_broken(p.ctx));
	pair_fini(&p);
}

/* ----------------------------------------------------------------- take -- */

static rb_status take(rbi_transport *t, const pair *p, const char **problem)
{
	*problem = NULL;
	return rbi_transport_take(t, p->ctx, NULL, rbi_transport_plain(),
				  problem);
}

static void check_busy(const pair *p, const char *words)
{
	const char *problem;
	rbi_transport t = { .wake = NULL };

	assert_status(take(&t, p, &problem), RB_ERR_BUSY);
	assert_non_null(strstr(problem, words));
	assert_int_equal(p->ctx->err, 0);
}

static void test_a_quiet_context_is_taken(void **state)
{
	const char *problem;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	pair_init(&p);
	assert_status(take(&t, &p, &problem), RB_OK);
	assert_int_equal(t.fd, p.ctx->fd);
	assert_int_equal(t.error, 0);
	pair_fini(&p);
}

static void test_unsent_commands_are_the_callers(void **state)
{
	char byte;
	int done = 0;
	pair p;

	(void)state;
	pair_init(&p);
	assert_int_equal(redisAppendCommand(p.ctx, "PING"), REDIS_OK);
	check_busy(&p, "unsent");
	assert_int_equal(recv(p.peer, &byte, 1, MSG_DONTWAIT), -1);
	while (!done)
		assert_int_equal(redisBufferWrite(p.ctx, &done), REDIS_OK);
	assert_int_equal(recv(p.peer, &byte, 1, MSG_DONTWAIT), 1);
	pair_fini(&p);
}

static void test_replies_in_the_socket_are_the_callers(void **state)
{
	redisReply *reply = NULL;
	pair p;

	(void)state;
	pair_init(&p);
	pair_say(&p, LIT("+PONG\r\n"));
	check_busy(&p, "unread");
	assert_int_equal(redisGetReply(p.ctx, (void **)&reply), REDIS_OK);
	assert_string_equal(reply->str, "PONG");
	freeReplyObject(reply);
	pair_fini(&p);
}

static void test_replies_in_the_reader_are_the_callers(void **state)
{
	static const char *const rests[] = { "+PONG\r\n", "$5\r\nab",
					     "*2\r\n:1\r\n" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rests); i++) {
		void *reply = NULL;
		pair p;

		pair_init(&p);
		pair_say(&p, LIT(":1\r\n"));
		pair_say(&p, rests[i], strlen(rests[i]));
		assert_int_equal(redisBufferRead(p.ctx), REDIS_OK);
		assert_int_equal(redisGetReplyFromReader(p.ctx, &reply),
				 REDIS_OK);
		freeReplyObject(reply);
		check_busy(&p, "unread");
		pair_fini(&p);
	}
}

static void test_a_reply_begun_in_the_reader_is_the_callers(void **state)
{
	void *reply = NULL;
	pair p;

	(void)state;
	pair_init(&p);
	pair_say(&p, LIT("*2\r\n:1\r\n"));
	assert_int_equal(redisBufferRead(p.ctx), REDIS_OK);
	assert_int_equal(redisGetReplyFromReader(p.ctx, &reply), REDIS_OK);
	assert_null(reply);
	check_busy(&p, "unread");
	pair_fini(&p);
}

static void test_a_context_that_was_used_up_is_taken(void **state)
{
	const char *problem;
	void *reply = NULL;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	pair_init(&p);
	assert_int_equal(redisAppendCommand(p.ctx, "PING"), REDIS_OK);
	pair_say(&p, LIT("+PONG\r\n"));
	assert_int_equal(redisGetReply(p.ctx, &reply), REDIS_OK);
	freeReplyObject(reply);
	assert_status(take(&t, &p, &problem), RB_OK);
	pair_fini(&p);
}

static void test_a_push_that_waits_does_not_make_it_busy(void **state)
{
	const char *problem;
	char byte = 0;
	size_t moved;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	pair_init(&p);
	pair_say(&p, LIT(">1\r\n+x\r\n"));
	assert_status(take(&t, &p, &problem), RB_OK);
	assert_int_equal(rbi_transport_recv(&t, &byte, 1, &moved), RBI_IO_DONE);
	assert_int_equal(byte, '>');
	pair_fini(&p);
}

static void test_a_connection_that_ended_is_told(void **state)
{
	const char *problem;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	pair_init(&p);
	pair_close_peer(&p);
	assert_status(take(&t, &p, &problem), RB_ERR_IO);
	assert_int_equal(t.error, 0);
	assert_null(problem);
	pair_fini(&p);
}

static int recv_error;
static int recv_calls;

static ssize_t fail_recv(int fd, void *buf, size_t len, int flags)
{
	(void)fd;
	(void)buf;
	(void)len;
	(void)flags;
	recv_calls++;
	errno = recv_error;
	if (recv_error == EINTR && recv_calls >= 3)
		errno = EAGAIN;
	return -1;
}

static void test_an_error_of_the_connection_is_told(void **state)
{
	const rbi_sys sys = { sendmsg, fail_recv, poll };
	const char *problem = NULL;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	pair_init(&p);
	recv_error = ECONNRESET;
	assert_status(rbi_transport_take(&t, p.ctx, &sys, rbi_transport_plain(),
					 &problem),
		      RB_ERR_IO);
	assert_int_equal(t.error, ECONNRESET);
	pair_fini(&p);
}

static void test_a_signal_while_looking_is_no_end(void **state)
{
	const rbi_sys sys = { sendmsg, fail_recv, poll };
	const char *problem = NULL;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	pair_init(&p);
	recv_error = EINTR;
	recv_calls = 0;
	assert_status(rbi_transport_take(&t, p.ctx, &sys, rbi_transport_plain(),
					 &problem),
		      RB_OK);
	assert_int_equal(recv_calls, 3);
	pair_fini(&p);
}

static void test_taking_leaves_the_descriptor_as_it_was(void **state)
{
	struct timeval tv = { 7, 0 };
	const char *problem;
	rbi_transport t = { .wake = NULL };
	int flags;
	pair p;

	(void)state;
	pair_init(&p);
	assert_int_equal(redisSetTimeout(p.ctx, tv), REDIS_OK);
	flags = fcntl(p.ctx->fd, F_GETFL);
	assert_status(take(&t, &p, &problem), RB_OK);
	assert_int_equal(fcntl(p.ctx->fd, F_GETFL), flags);
	assert_int_equal(rbi_transport_timeout_ms(p.ctx), 7000);
	pair_fini(&p);
}

/* ------------------------------------------------------------------ I/O -- */

static void take_ok(rbi_transport *t, pair *p)
{
	const char *problem;

	pair_init(p);
	assert_status(take(t, p, &problem), RB_OK);
}

static void test_all_pieces_are_sent_in_order(void **state)
{
	char one[] = "one ";
	char two[] = "two ";
	char three[] = "three";
	struct iovec iov[] = { { one, 4 }, { two, 4 }, { three, 5 } };
	char got[32];
	size_t moved = 0;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	take_ok(&t, &p);
	assert_int_equal(rbi_transport_send(&t, iov, 3, &moved), RBI_IO_DONE);
	assert_int_equal(moved, 13);
	assert_int_equal(recv(p.peer, got, sizeof(got), 0), 13);
	assert_memory_equal(got, "one two three", 13);
	pair_fini(&p);
}

static void test_a_full_socket_is_for_later(void **state)
{
	char block[65536];
	struct iovec iov = { block, sizeof(block) };
	rbi_io io = RBI_IO_DONE;
	size_t moved = 0;
	size_t all = 0;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	memset(block, 'x', sizeof(block));
	take_ok(&t, &p);
	while (io == RBI_IO_DONE) {
		io = rbi_transport_send(&t, &iov, 1, &moved);
		all += io == RBI_IO_DONE ? moved : 0;
		assert_true(all < (size_t)1 << 30);
	}
	assert_int_equal(io, RBI_IO_LATER);
	assert_true(all > 0);
	pair_fini(&p);
}

static void test_an_empty_socket_is_for_later(void **state)
{
	size_t moved = 0;
	rbi_transport t = { .wake = NULL };
	char byte;
	pair p;

	(void)state;
	take_ok(&t, &p);
	assert_int_equal(rbi_transport_recv(&t, &byte, 1, &moved),
			 RBI_IO_LATER);
	pair_fini(&p);
}

static void test_what_came_is_received_up_to_the_end(void **state)
{
	char buf[16];
	size_t moved = 0;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	take_ok(&t, &p);
	pair_say(&p, LIT("abcde"));
	pair_close_peer(&p);
	assert_int_equal(rbi_transport_recv(&t, buf, 3, &moved), RBI_IO_DONE);
	assert_int_equal(moved, 3);
	assert_int_equal(rbi_transport_recv(&t, buf + 3, 13, &moved),
			 RBI_IO_DONE);
	assert_int_equal(moved, 2);
	assert_memory_equal(buf, "abcde", 5);
	assert_int_equal(rbi_transport_recv(&t, buf, 3, &moved), RBI_IO_END);
	pair_fini(&p);
}

static void test_writing_to_nobody_is_an_error_and_no_signal(void **state)
{
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	size_t moved = 0;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
	take_ok(&t, &p);
	pair_close_peer(&p);
	assert_int_equal(rbi_transport_send(&t, &iov, 1, &moved), RBI_IO_ERROR);
	assert_int_equal(t.error, EPIPE);
	pair_fini(&p);
}

static ssize_t fail_send(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	(void)msg;
	(void)flags;
	errno = recv_error;
	return -1;
}

static void test_errors_are_told_from_what_will_pass(void **state)
{
	static const struct {
		int error;
		rbi_io want;
	} cases[] = {
		{ EINTR, RBI_IO_LATER },       { EAGAIN, RBI_IO_LATER },
		{ EWOULDBLOCK, RBI_IO_LATER }, { ECONNRESET, RBI_IO_ERROR },
		{ EPIPE, RBI_IO_ERROR },       { ETIMEDOUT, RBI_IO_ERROR },
	};
	const rbi_sys sys = { fail_send, fail_recv, poll };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	size_t moved = 77;
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_transport t = { .sys = &sys, .fd = -1 };

		recv_error = cases[i].error;
		recv_calls = 0;
		assert_int_equal(rbi_transport_recv(&t, &byte, 1, &moved),
				 cases[i].want);
		assert_int_equal(rbi_transport_send(&t, &iov, 1, &moved),
				 cases[i].want);
		if (cases[i].want == RBI_IO_ERROR)
			assert_int_equal(t.error, cases[i].error);
		assert_int_equal(moved, 77);
	}
}

/* ----------------------------------------------------------------- wait -- */

static struct pollfd polled;
static int polled_ms;

static int record_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	assert_in_range(n, 1, 2);
	polled = fds[0];
	polled_ms = timeout_ms;
	errno = EINTR;
	return -1;
}

static void test_waits_are_rounded_up_to_milliseconds(void **state)
{
	static const struct {
		uint64_t wait_us;
		int want_ms;
	} cases[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ 999, 1 },
		{ 1000, 1 },
		{ 1001, 2 },
		{ 3600000000u, 3600000 },
		{ UINT64_MAX - 1, 3600000 },
		{ RBI_NEVER, -1 },
	};
	const rbi_sys sys = { sendmsg, recv, record_poll };
	rbi_transport t = { .sys = &sys, .fd = 5 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_transport_wait(&t, false, cases[i].wait_us);
		assert_int_equal(polled_ms, cases[i].want_ms);
	}
}

static void test_writing_is_waited_for_only_when_asked(void **state)
{
	const rbi_sys sys = { sendmsg, recv, record_poll };
	rbi_transport t = { .sys = &sys, .fd = 5 };

	(void)state;
	rbi_transport_wait(&t, false, 0);
	assert_int_equal(polled.fd, 5);
	assert_int_equal(polled.events, POLLIN);
	rbi_transport_wait(&t, true, 0);
	assert_int_equal(polled.events, POLLIN | POLLOUT);
}

static void test_bytes_end_a_wait(void **state)
{
	rbi_transport t = { .wake = NULL };
	char byte = 0;
	size_t moved;
	pair p;

	(void)state;
	take_ok(&t, &p);
	pair_say(&p, LIT("x"));
	rbi_transport_wait(&t, false, RBI_NEVER);
	assert_int_equal(rbi_transport_recv(&t, &byte, 1, &moved), RBI_IO_DONE);
	pair_fini(&p);
}

static void test_a_wait_without_bytes_ends_with_its_time(void **state)
{
	uint64_t begin;
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	take_ok(&t, &p);
	begin = rbt_now_us();
	rbi_transport_wait(&t, false, 3000);
	assert_true(rbt_now_us() - begin >= 3000);
	pair_fini(&p);
}

/* ---------------------------------------------------------------- break -- */

static void test_breaking_ends_the_conversation_for_both(void **state)
{
	static const struct {
		rb_status status;
		int err;
	} cases[] = {
		{ RB_ERR_PROTOCOL, REDIS_ERR_PROTOCOL },
		{ RB_ERR_IO, REDIS_ERR_EOF },
		{ RB_ERR_NOMEM, REDIS_ERR_OOM },
		{ RB_ERR_SERVER, REDIS_ERR_OTHER },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_transport t = { .wake = NULL };
		char byte;
		pair p;

		take_ok(&t, &p);
		rbi_transport_break(&t, cases[i].status, "the reason");
		assert_int_equal(p.ctx->err, cases[i].err);
		assert_string_equal(p.ctx->errstr, "the reason");
		assert_true(rbi_transport_is_broken(p.ctx));
		assert_true(pair_is_ended(&p));
		/* A late answer can reach nobody. */
		assert_true(send(p.peer, "x", 1, MSG_NOSIGNAL) < 0 ||
			    recv(p.ctx->fd, &byte, 1, MSG_DONTWAIT) <= 0);
		assert_null(redisCommand(p.ctx, "PING"));
		pair_fini(&p);
	}
}

static void test_a_late_context_is_broken_too(void **state)
{
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	take_ok(&t, &p);
	rbi_transport_break(&t, RB_ERR_TIMEOUT, "late");
	assert_int_not_equal(p.ctx->err, 0);
	assert_null(redisCommand(p.ctx, "PING"));
	pair_fini(&p);
}

static void test_a_long_reason_is_cut(void **state)
{
	char words[1000];
	rbi_transport t = { .wake = NULL };
	pair p;

	(void)state;
	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	take_ok(&t, &p);
	rbi_transport_break(&t, RB_ERR_IO, words);
	assert_int_equal(strlen(p.ctx->errstr), sizeof(p.ctx->errstr) - 1);
	pair_fini(&p);
}

/* ---------------------------------------------------------------- words -- */

static void test_the_command_timeout_is_read_from_the_socket(void **state)
{
	static const struct {
		struct timeval tv;
		uint32_t want_ms;
	} cases[] = {
		{ { 0, 0 }, 0 },	{ { 1, 500000 }, 1500 },
		{ { 0, 200000 }, 200 }, { { 3600, 0 }, 3600000 },
		{ { 2000000, 0 }, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		pair p;

		pair_init(&p);
		assert_int_equal(redisSetTimeout(p.ctx, cases[i].tv), REDIS_OK);
		assert_int_equal(rbi_transport_timeout_ms(p.ctx),
				 cases[i].want_ms);
		pair_fini(&p);
	}
}

static void test_the_node_is_named_as_far_as_it_is_known(void **state)
{
	char host[] = "example.net";
	char address[] = "::1";
	char path[] = "/run/x.sock";
	char buf[64];
	redisContext ctx;

	(void)state;
	memset(&ctx, 0, sizeof(ctx));
	ctx.connection_type = REDIS_CONN_TCP;
	ctx.tcp.port = 7000;
	ctx.tcp.host = host;
	rbi_transport_node(&ctx, buf, sizeof(buf));
	assert_string_equal(buf, "example.net:7000");
	ctx.tcp.host = address;
	rbi_transport_node(&ctx, buf, sizeof(buf));
	assert_string_equal(buf, "[::1]:7000");
	ctx.connection_type = REDIS_CONN_UNIX;
	ctx.unix_sock.path = path;
	rbi_transport_node(&ctx, buf, sizeof(buf));
	assert_string_equal(buf, "/run/x.sock");
	rbi_transport_node(&ctx, buf, 5);
	assert_string_equal(buf, "/run");
}

static void test_a_bare_descriptor_has_a_name_too(void **state)
{
	char want[64];
	char buf[64];
	pair p;

	(void)state;
	pair_init(&p);
	snprintf(want, sizeof(want), "descriptor %d", p.ctx->fd);
	rbi_transport_node(p.ctx, buf, sizeof(buf));
	assert_string_equal(buf, want);
	pair_fini(&p);
}

static void test_errors_have_the_systems_words(void **state)
{
	char buf[128];

	(void)state;
	rbi_transport_error_text(ECONNRESET, buf, sizeof(buf));
	assert_string_equal(buf, strerror(ECONNRESET));
	rbi_transport_error_text(123456, buf, sizeof(buf));
	assert_non_null(strstr(buf, "123456"));
}

static void test_closing_nothing_is_fine(void **state)
{
	(void)state;
	rbi_transport_close(NULL);
}

static void test_closing_an_own_context_hangs_up(void **state)
{
	pair p;

	(void)state;
	pair_init(&p);
	rbi_transport_close(p.ctx);
	assert_true(pair_is_ended(&p));
	pair_close_peer(&p);
}

static void test_a_context_without_a_descriptor_is_not_connected(void **state)
{
	pair p;
	int fd;

	(void)state;
	pair_init(&p);
	fd = p.ctx->fd;
	p.ctx->fd = -1;
	check_refused(p.ctx, "not connected");
	assert_int_equal(rbi_transport_timeout_ms(p.ctx), 0);
	p.ctx->fd = fd;
	pair_fini(&p);
}

/* As a context is whose buffers were given up for lack of memory. */
static void test_a_context_without_buffers_has_nothing_waiting(void **state)
{
	const char *problem;
	redisReader *reader;
	rbi_transport t;
	char *obuf;
	pair p;

	(void)state;
	pair_init(&p);
	obuf = p.ctx->obuf;
	reader = p.ctx->reader;
	p.ctx->obuf = NULL;
	p.ctx->reader = NULL;
	assert_status(take(&t, &p, &problem), RB_OK);
	p.ctx->obuf = obuf;
	p.ctx->reader = reader;
	pair_fini(&p);
}

static void test_a_reply_that_was_not_fetched_is_the_callers(void **state)
{
	void *reply = NULL;
	pair p;

	(void)state;
	pair_init(&p);
	/* All bytes are taken, and the aggregate still wants an element. */
	assert_int_equal(redisReaderFeed(p.ctx->reader, LIT("*1\r\n")),
			 REDIS_OK);
	assert_int_equal(redisReaderGetReply(p.ctx->reader, &reply), REDIS_OK);
	assert_null(reply);
	check_busy(&p, "unread");
	assert_int_equal(redisReaderFeed(p.ctx->reader, LIT(":1\r\n")),
			 REDIS_OK);
	assert_int_equal(redisReaderGetReply(p.ctx->reader, &reply), REDIS_OK);
	freeReplyObject(reply);
	/* What hiredis keeps of a reply that it could not hand over. */
	p.ctx->reader->reply = &p;
	check_busy(&p, "unread");
	p.ctx->reader->reply = NULL;
	pair_fini(&p);
}

static void test_a_unix_context_without_a_path_has_a_name_too(void **state)
{
	char buf[64];
	pair p;
	enum redisConnectionType type;

	(void)state;
	pair_init(&p);
	type = p.ctx->connection_type;
	p.ctx->connection_type = REDIS_CONN_UNIX;
	rbi_transport_node(p.ctx, buf, sizeof(buf));
	assert_non_null(strstr(buf, "descriptor"));
	p.ctx->connection_type = type;
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_connected_context_is_fine),
		cmocka_unit_test(test_unusable_contexts_are_told_apart),
		cmocka_unit_test(test_no_context_is_refused),
		cmocka_unit_test(test_a_context_in_error_is_refused),
		cmocka_unit_test(test_a_quiet_context_is_taken),
		cmocka_unit_test(test_unsent_commands_are_the_callers),
		cmocka_unit_test(test_replies_in_the_socket_are_the_callers),
		cmocka_unit_test(test_replies_in_the_reader_are_the_callers),
		cmocka_unit_test(
			test_a_reply_begun_in_the_reader_is_the_callers),
		cmocka_unit_test(test_a_context_that_was_used_up_is_taken),
		cmocka_unit_test(test_a_push_that_waits_does_not_make_it_busy),
		cmocka_unit_test(test_a_connection_that_ended_is_told),
		cmocka_unit_test(test_an_error_of_the_connection_is_told),
		cmocka_unit_test(test_a_signal_while_looking_is_no_end),
		cmocka_unit_test(test_taking_leaves_the_descriptor_as_it_was),
		cmocka_unit_test(test_all_pieces_are_sent_in_order),
		cmocka_unit_test(test_a_full_socket_is_for_later),
		cmocka_unit_test(test_an_empty_socket_is_for_later),
		cmocka_unit_test(test_what_came_is_received_up_to_the_end),
		cmocka_unit_test(
			test_writing_to_nobody_is_an_error_and_no_signal),
		cmocka_unit_test(test_errors_are_told_from_what_will_pass),
		cmocka_unit_test(test_waits_are_rounded_up_to_milliseconds),
		cmocka_unit_test(test_writing_is_waited_for_only_when_asked),
		cmocka_unit_test(test_bytes_end_a_wait),
		cmocka_unit_test(test_a_wait_without_bytes_ends_with_its_time),
		cmocka_unit_test(test_breaking_ends_the_conversation_for_both),
		cmocka_unit_test(test_a_late_context_is_broken_too),
		cmocka_unit_test(test_a_long_reason_is_cut),
		cmocka_unit_test(
			test_the_command_timeout_is_read_from_the_socket),
		cmocka_unit_test(test_the_node_is_named_as_far_as_it_is_known),
		cmocka_unit_test(test_a_bare_descriptor_has_a_name_too),
		cmocka_unit_test(test_errors_have_the_systems_words),
		cmocka_unit_test(test_closing_nothing_is_fine),
		cmocka_unit_test(test_closing_an_own_context_hangs_up),
		cmocka_unit_test(
			test_a_context_without_a_descriptor_is_not_connected),
		cmocka_unit_test(
			test_a_context_without_buffers_has_nothing_waiting),
		cmocka_unit_test(
			test_a_reply_that_was_not_fetched_is_the_callers),
		cmocka_unit_test(
			test_a_unix_context_without_a_path_has_a_name_too),
	};

	return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
