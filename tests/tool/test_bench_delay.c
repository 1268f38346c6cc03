/*
 * The distance that is not there: by a clock that the test turns, and with a
 * real server at its end.
 */
#include "delay.h"
#include "delay_way.h"
#include "live.h"
#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { NEAR = 0, FAR = 1, DELAY = 1000, BIG = 3 * 1000 * 1000 };

/* Two pairs of sockets, with the way between the inner ends. */
typedef struct line {
	int in[2];
	int out[2];
	delay_way way;
} line;

static void open_line(line *l)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, l->in), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, l->out), 0);
	for (int i = NEAR; i <= FAR; i++) {
		fcntl(l->in[i], F_SETFL, O_NONBLOCK);
		fcntl(l->out[i], F_SETFL, O_NONBLOCK);
	}
	delay_way_init(&l->way, l->in[FAR], l->out[NEAR], DELAY);
}

static void close_line(line *l)
{
	delay_way_fini(&l->way);
	for (int i = NEAR; i <= FAR; i++) {
		if (l->in[i] >= 0)
			close(l->in[i]);
		close(l->out[i]);
	}
}

static void put(line *l, const char *text, uint64_t now)
{
	size_t len = strlen(text);

	assert_int_equal(write(l->in[NEAR], text, len), len);
	assert_true(delay_way_wants_in(&l->way));
	assert_true(delay_way_take(&l->way, now));
}

static void want(line *l, const char *text, uint64_t now)
{
	char got[64] = "";
	ssize_t n;

	assert_true(delay_way_give(&l->way, now));
	n = read(l->out[FAR], got, sizeof(got) - 1);
	if (text[0] == '\0')
		assert_int_equal(n, -1);
	assert_string_equal(got, text);
}

static void test_bytes_leave_when_their_time_has_come(void **state)
{
	line l;

	(void)state;
	open_line(&l);
	assert_true(delay_way_due_ns(&l.way) == UINT64_MAX);
	put(&l, "one", 5);
	put(&l, "two", 10);
	assert_int_equal(delay_way_due_ns(&l.way), 5 + DELAY);
	assert_false(delay_way_wants_out(&l.way, 4 + DELAY));
	want(&l, "", 4 + DELAY);
	assert_true(delay_way_wants_out(&l.way, 5 + DELAY));
	want(&l, "one", 5 + DELAY);
	assert_int_equal(delay_way_due_ns(&l.way), 10 + DELAY);
	want(&l, "two", 10 + DELAY);
	close_line(&l);
}

static void test_what_is_late_leaves_together(void **state)
{
	line l;

	(void)state;
	open_line(&l);
	put(&l, "one", 5);
	put(&l, "two", 10);
	want(&l, "onetwo", 5000);
	close_line(&l);
}

static void test_an_end_comes_later_too(void **state)
{
	line l;
	char byte;

	(void)state;
	open_line(&l);
	put(&l, "x", 0);
	close(l.in[NEAR]);
	l.in[NEAR] = -1;
	assert_true(delay_way_take(&l.way, 100));
	assert_false(delay_way_wants_in(&l.way));
	want(&l, "x", DELAY);
	assert_false(l.way.done);
	assert_int_equal(delay_way_due_ns(&l.way), 100 + DELAY);
	assert_true(delay_way_give(&l.way, 100 + DELAY));
	assert_true(l.way.done);
	assert_true(delay_way_due_ns(&l.way) == UINT64_MAX);
	assert_int_equal(read(l.out[FAR], &byte, 1), 0);
	close_line(&l);
}

/* As much as was given comes out, whatever fits into the socket at a time. */
static void test_a_full_socket_is_gone_on_with(void **state)
{
	static char bytes[1 << 16];
	size_t given = 0;
	size_t got = 0;
	line l;

	(void)state;
	open_line(&l);
	for (int i = 0; i < 64; i++) {
		ssize_t n = write(l.in[NEAR], bytes, sizeof(bytes));

		given += n > 0 ? (size_t)n : 0;
		assert_true(delay_way_take(&l.way, 0));
	}
	while (l.way.held > 0) {
		ssize_t n;

		assert_true(delay_way_give(&l.way, DELAY));
		while ((n = read(l.out[FAR], bytes, sizeof(bytes))) > 0)
			got += (size_t)n;
		assert_true(delay_way_take(&l.way, 0));
	}
	assert_true(given > sizeof(bytes));
	assert_int_equal(got, given);
	close_line(&l);
}

static void test_a_reader_that_is_gone_ends_it(void **state)
{
	line l;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	open_line(&l);
	put(&l, "x", 0);
	close(l.out[FAR]);
	l.out[FAR] = dup(l.out[NEAR]);
	assert_false(delay_way_give(&l.way, DELAY));
	close_line(&l);
}

/* ------------------------------------------------------------ the process -- */

static delay *start(const char *server, uint64_t rtt_us, redisContext **ctx)
{
	delay *d = delay_start(server, rtt_us);

	assert_non_null(d);
	*ctx = redisConnect("127.0.0.1", (int)delay_port(d));
	assert_non_null(*ctx);
	assert_int_equal((*ctx)->err, 0);
	return d;
}

static void test_every_answer_takes_the_way_there_and_back(void **state)
{
	enum { PINGS = 5, RTT_US = 20000 };
	rbt_live *live = rbt_live_use(state);
	char tcp[64];
	const char *const servers[] = { rbt_server_socket(live->server), tcp };

	snprintf(tcp, sizeof(tcp), "127.0.0.1:%d",
		 rbt_server_port(live->server));
	for (size_t i = 0; i < 2; i++) {
		redisContext *ctx;
		delay *d = start(servers[i], RTT_US, &ctx);
		uint64_t before = rbt_now_us();

		for (int k = 0; k < PINGS; k++)
			rbt_want_pong(ctx);
		assert_true(rbt_now_us() - before >= PINGS * RTT_US);
		redisFree(ctx);
		delay_stop(d);
	}
}

static void test_large_values_arrive_whole(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char *value = malloc(BIG);
	redisReply *reply;
	redisContext *ctx;
	delay *d;

	assert_non_null(value);
	for (size_t i = 0; i < BIG; i++)
		value[i] = (char)(i * 7 + i / 251);
	d = start(rbt_server_socket(live->server), 4000, &ctx);
	rbt_do(ctx, "SET big %b", value, (size_t)BIG);
	reply = redisCommand(ctx, "GET big");
	assert_non_null(reply);
	assert_int_equal(reply->len, BIG);
	assert_memory_equal(reply->str, value, BIG);
	freeReplyObject(reply);
	redisFree(ctx);
	delay_stop(d);
	free(value);
}

static void test_many_connections_at_a_time(void **state)
{
	enum { MANY = 20 };
	rbt_live *live = rbt_live_use(state);
	redisContext *ctx[MANY];
	delay *d = delay_start(rbt_server_socket(live->server), 2000);

	assert_non_null(d);
	for (int i = 0; i < MANY; i++) {
		ctx[i] = redisConnect("127.0.0.1", (int)delay_port(d));
		redisAppendCommand(ctx[i], "ECHO %d", i);
		redisBufferWrite(ctx[i], &(int){ 0 });
	}
	for (int i = MANY - 1; i >= 0; i--) {
		redisReply *reply = NULL;

		assert_int_equal(redisGetReply(ctx[i], (void **)&reply),
				 REDIS_OK);
		assert_int_equal(atoi(reply->str), i);
		freeReplyObject(reply);
		redisFree(ctx[i]);
	}
	delay_stop(d);
}

static void test_no_server_is_an_end_and_no_wait(void **state)
{
	redisContext *ctx;
	delay *d = start("127.0.0.1:1", 1000, &ctx);

	(void)state;
	assert_null(redisCommand(ctx, "PING"));
	assert_int_not_equal(ctx->err, 0);
	redisFree(ctx);
	delay_stop(d);
}

static void test_what_is_no_address_is_refused(void **state)
{
	static const char *const cases[] = { "",  "host",	 ":1",	 "[]:1",
					     "/", "127.0.0.1:x", "a b:1" };
	char longest[600];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	errno = 0;
	assert_null(delay_start(longest, 1000));
	assert_int_equal(errno, EADDRNOTAVAIL);
	longest[0] = 'a';
	memcpy(longest + sizeof(longest) - 3, ":1", 3);
	assert_null(delay_start(longest, 1000));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		delay *d = strcmp(cases[i], "/") == 0 ?
				   NULL :
				   delay_start(cases[i], 1000);

		if (d != NULL)
			fail_msg("'%s' was taken", cases[i]);
	}
}

static void test_an_address_in_brackets_is_one(void **state)
{
	delay *d = delay_start("[::1]:6379", 1000);

	(void)state;
	assert_non_null(d);
	assert_true(delay_port(d) > 0);
	delay_stop(d);
	delay_stop(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_leave_when_their_time_has_come),
		cmocka_unit_test(test_what_is_late_leaves_together),
		cmocka_unit_test(test_an_end_comes_later_too),
		cmocka_unit_test(test_a_full_socket_is_gone_on_with),
		cmocka_unit_test(test_a_reader_that_is_gone_ends_it),
		RBT_LIVE(test_every_answer_takes_the_way_there_and_back),
		RBT_LIVE(test_large_values_arrive_whole),
		RBT_LIVE(test_many_connections_at_a_time),
		RBT_LIVE(test_no_server_is_an_end_and_no_wait),
		cmocka_unit_test(test_what_is_no_address_is_refused),
		cmocka_unit_test(test_an_address_in_brackets_is_one),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
