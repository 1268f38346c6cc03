/*
 * A wrapped context stays its caller's: in step, as it was, or broken.
 */
#include "live.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static rb_status read_one(rbt_live *live, const char *key)
{
	rbt_live_drop(live);
	return rb_mget_chunked(live->rb, &key, NULL, 1, NULL, &live->res);
}

/* Until the context has something to read, its end among it. */
static void await_readable(const redisContext *ctx)
{
	struct pollfd pfd = { .fd = ctx->fd, .events = POLLIN };

	assert_int_equal(poll(&pfd, 1, 60000), 1);
}

/* The caller's next reply, which the library must have left alone. */
static void want_reply(redisContext *ctx, const char *text)
{
	redisReply *reply = NULL;

	assert_int_equal(redisGetReply(ctx, (void **)&reply), REDIS_OK);
	assert_non_null(reply);
	assert_string_equal(reply->str, text);
	freeReplyObject(reply);
}

/* ----------------------------------------------------------------- busy -- */

static void test_unsent_commands_are_the_callers(void **state)
{
	rbt_live *live = rbt_live_use(state);

	redisAppendCommand(live->ctx, "ECHO mine");
	want_status(live->rb, read_one(live, "k"), RB_ERR_BUSY);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), "unsent");
	want_reply(live->ctx, "mine");
	want_status(live->rb, read_one(live, "k"), RB_OK);
	want_nil(live->res, 0);
	assert_int_equal(rbt_live_calls(live, "mget"), 1);
}

static void test_unread_bytes_are_the_callers(void **state)
{
	rbt_live *live = rbt_live_use(state);
	int done = 0;

	redisAppendCommand(live->ctx, "ECHO mine");
	assert_int_equal(redisBufferWrite(live->ctx, &done), REDIS_OK);
	assert_true(done);
	await_readable(live->ctx);
	want_status(live->rb, read_one(live, "k"), RB_ERR_BUSY);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), "unread");
	want_reply(live->ctx, "mine");
	want_status(live->rb, read_one(live, "k"), RB_OK);
	assert_int_equal(rbt_live_calls(live, "mget"), 1);
}

static void test_replies_already_received_are_the_callers(void **state)
{
	rbt_live *live = rbt_live_use(state);
	int done = 0;

	redisAppendCommand(live->ctx, "ECHO one");
	redisAppendCommand(live->ctx, "ECHO two");
	assert_int_equal(redisBufferWrite(live->ctx, &done), REDIS_OK);
	/* The server has read both at once, so it has answered both before it
	 * answers anyone else. */
	await_readable(live->ctx);
	rbt_do(live->admin, "PING");
	assert_int_equal(redisBufferRead(live->ctx), REDIS_OK);
	want_reply(live->ctx, "one");
	want_status(live->rb, read_one(live, "k"), RB_ERR_BUSY);
	assert_null(live->res);
	want_reply(live->ctx, "two");
	want_status(live->rb, read_one(live, "k"), RB_OK);
}

/* ---------------------------------------------------------------- multi -- */

static void test_a_queued_read_is_no_value(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 2);

	rbt_live_load(live, 100, 5);
	rbt_do(live->ctx, "MULTI");
	want_status(live->rb, rbt_live_read(live, &o), RB_ERR_PROTOCOL);
	want_words(rb_client_error(live->rb), "MULTI");
	assert_non_null(live->res);
	assert_int_equal(rb_result_failed(live->res), 100);
	want_failed(live->res, 0, RB_ERR_PROTOCOL, RB_UNKNOWN);
	want_failed(live->res, 99, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_sound(live->res);
	/* Still inside, and in step. */
	rbt_do(live->ctx, "DISCARD");
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	want_loaded(live->res, 100, 5);
	rbt_want_pong(live->ctx);
}

static void test_a_queued_hmget_is_no_value(void **state)
{
	static const char *fields[] = { "a", "b" };
	rbt_live *live = rbt_live_use(state);

	rbt_do(live->ctx, "MULTI");
	want_status(live->rb,
		    rb_hmget_chunked(live->rb, "h", 1, fields, NULL, 2, NULL,
				     &live->res),
		    RB_ERR_PROTOCOL);
	want_words(rb_client_error(live->rb), "MULTI");
	want_failed(live->res, 1, RB_ERR_PROTOCOL, RB_UNKNOWN);
	rbt_do(live->ctx, "DISCARD");
	rbt_want_pong(live->ctx);
}

/* -------------------------------------------------------------- closing -- */

static void test_a_context_closed_while_idle_is_lost(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 10, 5);
	rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
	await_readable(live->ctx);
	want_status(live->rb, rbt_live_read(live, NULL), RB_ERR_IO);
	assert_non_null(live->res);
	for (size_t i = 0; i < 10; i++)
		want_failed(live->res, i, RB_ERR_SKIPPED, RB_NOT_SENT);
	want_words(rb_client_error(live->rb), "closed");
	want_sound(live->res);
	rbt_want_broken(live->ctx, live->rb);
}

/* The same over TCP, where the end may still be on its way. */
static void test_a_killed_tcp_context_never_answers_nil(void **state)
{
	rbt_live *live = rbt_live_use(state);

	for (int i = 0; i < 20; i++) {
		rbt_live_load(live, 10, 5);
		rbt_live_wrap(live, rbt_live_tcp(live), NULL);
		want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
		rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
		want_status(live->rb, rbt_live_read(live, NULL), RB_ERR_IO);
		assert_int_equal(rb_result_failed(live->res), 10);
		want_sound(live->res);
		rbt_want_broken(live->ctx, live->rb);
	}
}

/* What hiredis's own blocking calls need: the descriptor as it was. */
static void test_the_descriptor_stays_as_it_was(void **state)
{
	rbt_live *live = rbt_live_use(state);
	int flags = fcntl(live->ctx->fd, F_GETFL);
	struct timeval before = { 0, 0 }, after = { 0, 0 };
	socklen_t size = sizeof(before);

	getsockopt(live->ctx->fd, SOL_SOCKET, SO_RCVTIMEO, &before, &size);
	rbt_live_load(live, 5000, 100);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	getsockopt(live->ctx->fd, SOL_SOCKET, SO_RCVTIMEO, &after, &size);
	assert_int_equal(fcntl(live->ctx->fd, F_GETFL), flags);
	assert_int_equal(after.tv_sec, before.tv_sec);
	assert_int_equal(live->ctx->flags & REDIS_BLOCK, REDIS_BLOCK);
}

static void test_the_context_outlives_the_client(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 100, 5);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
	rb_client_free(live->rb);
	live->rb = NULL;
	want_loaded(live->res, 100, 5);
	rbt_want_pong(live->ctx);
	rbt_live_wrap(live, live->ctx, NULL);
	want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
}

static void test_two_clients_take_turns_on_a_context(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_client *other;

	rbt_live_load(live, 100, 5);
	assert_int_equal(rb_client_wrap(&other, live->ctx, NULL), RB_OK);
	for (int i = 0; i < 5; i++) {
		want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
		rbt_live_drop(live);
		want_status(other,
			    rb_mget_chunked(other, live->keys.keys,
					    live->keys.lens, 100, NULL,
					    &live->res),
			    RB_OK);
		want_loaded(live->res, 100, 5);
	}
	rb_client_free(other);
}

static void test_the_caller_and_the_library_take_turns(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char text[32], answer[32];

	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "value-%d", i);
		rbt_do(live->ctx, "SET k %s", text);
		want_status(live->rb, read_one(live, "k"), RB_OK);
		want_bytes(live->res, 0, text, strlen(text));
		rbt_ask(live->ctx, answer, sizeof(answer), "GET k");
		assert_string_equal(answer, text);
	}
}

/* ---------------------------------------------------------------- RESP3 -- */

static int connect_raw(const rbt_live *live)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	in.sin_port = htons((uint16_t)rbt_server_port(live->server));
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

/* Sends lines, and reads until the answer of the ECHO behind them, which not
 * every hiredis could. */
static void say_raw(int fd, const char *lines)
{
	static const char end[] = "$3\r\nend\r\n";
	char buf[8192];
	size_t len = 0;
	ssize_t n;

	assert_int_equal(send(fd, lines, strlen(lines), MSG_NOSIGNAL),
			 strlen(lines));
	assert_int_equal(send(fd, "ECHO end\r\n", 10, MSG_NOSIGNAL), 10);
	do {
		n = recv(fd, buf + len, sizeof(buf) - 1 - len, 0);
		assert_true(n > 0);
		len += (size_t)n;
	} while (len < sizeof(end) - 1 || memcmp(buf + len - (sizeof(end) - 1),
						 end, sizeof(end) - 1) != 0);
	buf[len] = '\0';
	assert_int_not_equal(buf[0], '-');
	assert_null(strstr(buf, "\n-"));
}

static void wrap_resp3(rbt_live *live, const char *lines)
{
	int fd = connect_raw(live);

	say_raw(fd, lines);
	rbt_live_wrap(live, redisConnectFd(fd), NULL);
}

static void test_resp3_is_read_with_its_own_nil(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(7, 0);

	rbt_live_load(live, 100, 5);
	rbt_do(live->admin, "DEL %s", live->keys.keys[41]);
	wrap_resp3(live, "HELLO 3\r\n");
	want_status(live->rb, rbt_live_read(live, &o), RB_OK);
	for (size_t i = 0; i < 100; i++) {
		if (i == 41)
			want_nil(live->res, i);
		else
			want_filled(live->res, i, 5, i);
	}
}

static void test_pushes_between_calls_are_no_answers(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_load(live, 100, 5);
	wrap_resp3(live, "HELLO 3\r\nCLIENT TRACKING ON\r\n");
	for (int round = 0; round < 10; round++) {
		want_status(live->rb, rbt_live_read(live, NULL), RB_OK);
		want_loaded(live->res, 100, 5);
		/* Tells the reader that its keys have changed. */
		for (size_t i = 0; i < 100; i += 10)
			rbt_do(live->admin, "APPEND %s %b", live->keys.keys[i],
			       "", (size_t)0);
		await_readable(live->ctx);
	}
}

static void test_pushes_amid_answers_are_no_answers(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(10, 4);

	rbt_live_load(live, 2000, 50);
	wrap_resp3(live, "HELLO 3\r\n"
			 "CLIENT TRACKING ON BCAST PREFIX noise:\r\n");
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 100; i++)
			redisAppendCommand(live->admin, "SET noise:%d x", i);
		for (int i = 0; i < 100; i++) {
			redisReply *reply = NULL;

			/* Half of them before the read, half during it. */
			if (i == 50)
				want_status(live->rb, rbt_live_read(live, &o),
					    RB_OK);
			redisGetReply(live->admin, (void **)&reply);
			freeReplyObject(reply);
		}
		want_loaded(live->res, 2000, 50);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_unsent_commands_are_the_callers),
		RBT_LIVE(test_unread_bytes_are_the_callers),
		RBT_LIVE(test_replies_already_received_are_the_callers),
		RBT_LIVE(test_a_queued_read_is_no_value),
		RBT_LIVE(test_a_queued_hmget_is_no_value),
		RBT_LIVE(test_a_context_closed_while_idle_is_lost),
		RBT_LIVE(test_a_killed_tcp_context_never_answers_nil),
		RBT_LIVE(test_the_descriptor_stays_as_it_was),
		RBT_LIVE(test_the_context_outlives_the_client),
		RBT_LIVE(test_two_clients_take_turns_on_a_context),
		RBT_LIVE(test_the_caller_and_the_library_take_turns),
		RBT_LIVE(test_resp3_is_read_with_its_own_nil),
		RBT_LIVE(test_pushes_between_calls_are_no_answers),
		RBT_LIVE(test_pushes_amid_answers_are_no_answers),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
