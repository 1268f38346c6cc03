/*
 * Connecting by a listener that lives in the clock: dial looks at the time
 * whenever it waits, and there the listener does its part. So everything
 * happens in one thread, in an order that the test decides.
 */
#include "alloc.h"
#include "dial.h"
#include "unit.h"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define DEADLINE_US 1000000

typedef struct stage stage;
struct stage {
	char dir[64];
	char path[96];
	int listener;
	int filler; /* a connection of ours that takes the queue's place */
	int conn;
	uint64_t now_us;
	uint64_t step_us; /* how far each look turns the clock */
	size_t looks;
	void (*act)(stage *s); /* at each look */
	size_t received;
	size_t answer_after; /* bytes */
	rbi_uri uri;
	rbi_clock clock;
	rbi_wake *wake; /* NULL: nobody cancels */
	redisContext *ctx;
	char why[256];
};

static uint64_t look(void *arg)
{
	stage *s = arg;

	assert_true(++s->looks < 100000);
	s->now_us += s->step_us;
	if (s->act != NULL)
		s->act(s);
	return s->now_us;
}

static int connect_to(const stage *s)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, s->path, strlen(s->path));
	assert_int_equal(
		connect(fd, (const struct sockaddr *)&address, sizeof(address)),
		0);
	return fd;
}

static void listen_on(stage *s)
{
	struct sockaddr_un address;

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, s->path, strlen(s->path));
	s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(s->listener >= 0);
	assert_int_equal(bind(s->listener, (const struct sockaddr *)&address,
			      sizeof(address)),
			 0);
	assert_int_equal(listen(s->listener, 0), 0);
}

static void begin(stage *s)
{
	memset(s, 0, sizeof(*s));
	s->filler = s->conn = -1;
	snprintf(s->dir, sizeof(s->dir), "/tmp/rbt-dial-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/s", s->dir);
	listen_on(s);
	s->uri.path = s->path;
	s->clock.now_us = look;
	s->clock.arg = s;
}

static void end(stage *s)
{
	if (s->ctx != NULL)
		redisFree(s->ctx);
	if (s->filler >= 0)
		close(s->filler);
	if (s->conn >= 0)
		close(s->conn);
	assert_int_equal(close(s->listener), 0);
	assert_int_equal(unlink(s->path), 0);
	assert_int_equal(rmdir(s->dir), 0);
}

static rb_status dial(stage *s)
{
	return rbi_dial(&s->ctx, &s->uri, &rbi_alloc_default, &s->clock,
			DEADLINE_US, s->wake, s->why, sizeof(s->why));
}

/* ------------------------------------------------------------ a full queue */

/* Takes the next connection that waits. */
static void take(stage *s)
{
	if (s->conn >= 0)
		close(s->conn);
	s->conn = accept(s->listener, NULL, NULL);
	assert_true(s->conn >= 0);
}

static void take_at_the_third_look(stage *s)
{
	if (s->looks == 3)
		take(s);
}

static void test_a_full_queue_is_tried_again(void **state)
{
	stage s;

	(void)state;
	begin(&s);
	s.filler = connect_to(&s);
	s.act = take_at_the_third_look;
	assert_status(dial(&s), RB_OK);
	assert_true(s.looks >= 3);
	assert_string_equal(s.why, "");
	end(&s);
}

static void test_a_full_queue_is_tried_until_the_deadline(void **state)
{
	stage s;

	(void)state;
	begin(&s);
	s.filler = connect_to(&s);
	s.step_us = DEADLINE_US / 3;
	assert_status(dial(&s), RB_ERR_TIMEOUT);
	assert_non_null(strstr(s.why, "deadline"));
	assert_null(s.ctx);
	assert_in_range(s.now_us, DEADLINE_US, 2 * DEADLINE_US);
	end(&s);
}

/* --------------------------------------------------------------- a socket */

static void test_without_a_descriptor_it_cannot_connect(void **state)
{
	struct rlimit before;
	struct rlimit none;
	rb_status status;
	stage s;

	(void)state;
	begin(&s);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	status = dial(&s);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_status(status, RB_ERR_CONNECT);
	assert_non_null(strstr(s.why, s.path));
	assert_null(s.ctx);
	end(&s);
}

static void test_a_path_longer_than_an_address_is_told(void **state)
{
	char path[300];
	stage s;

	(void)state;
	begin(&s);
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	s.uri.path = path;
	assert_status(dial(&s), RB_ERR_CONNECT);
	assert_null(s.ctx);
	end(&s);
}

static void test_a_deadline_that_has_passed_ends_connecting(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	stage s;

	(void)state;
	begin(&s);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	s.uri.path = NULL;
	s.uri.host = "127.0.0.1";
	s.uri.port = ntohs(address.sin_port);
	s.now_us = DEADLINE_US;
	assert_status(dial(&s), RB_ERR_TIMEOUT);
	assert_non_null(strstr(s.why, "deadline"));
	assert_null(s.ctx);
	assert_int_equal(close(fd), 0);
	end(&s);
}

/* ------------------------------------------- what a socket takes in parts */

static char *long_password(size_t len)
{
	char *text = malloc(len + 1);

	assert_non_null(text);
	memset(text, 'p', len);
	text[len] = '\0';
	return text;
}

/* Takes what has come, and answers once it is all. */
static void read_and_answer(stage *s)
{
	static char buf[65536];
	ssize_t n;

	if (s->conn < 0)
		take(s);
	while ((n = recv(s->conn, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		s->received += (size_t)n;
	if (s->received != s->answer_after)
		return;
	s->answer_after = 0;
	assert_int_equal(send(s->conn, "+OK\r\n", 5, MSG_NOSIGNAL), 5);
}

static void test_a_command_larger_than_the_socket_leaves_in_parts(void **state)
{
	size_t len = (size_t)8 * 1024 * 1024;
	char *password = long_password(len);
	stage s;

	(void)state;
	begin(&s);
	s.uri.password = password;
	s.act = read_and_answer;
	/* *2 $4 AUTH $8388608 ... */
	s.answer_after = len + 4 + 4 + 6 + 10 + 2;
	assert_status(dial(&s), RB_OK);
	assert_string_equal(s.why, "");
	assert_int_equal(s.received, len + 26);
	free(password);
	end(&s);
}

static void take_and_hang_up(stage *s)
{
	if (s->conn >= 0)
		return;
	take(s);
	assert_int_equal(shutdown(s->conn, SHUT_RDWR), 0);
}

static void test_a_server_that_hangs_up_amid_a_command_is_told(void **state)
{
	char *password = long_password((size_t)8 * 1024 * 1024);
	stage s;

	(void)state;
	begin(&s);
	s.uri.password = password;
	s.act = take_and_hang_up;
	assert_status(dial(&s), RB_ERR_CONNECT);
	assert_non_null(strstr(s.why, s.path));
	assert_null(strstr(s.why, "ppp"));
	assert_null(s.ctx);
	free(password);
	end(&s);
}

static void take_speak_and_hang_up(stage *s)
{
	if (s->conn >= 0)
		return;
	take(s);
	assert_int_equal(send(s->conn, "-ERR enough\r\n", 13, MSG_NOSIGNAL),
			 13);
	assert_int_equal(shutdown(s->conn, SHUT_RDWR), 0);
}

static void test_last_words_amid_a_command_are_told(void **state)
{
	char *password = long_password((size_t)8 * 1024 * 1024);
	stage s;

	(void)state;
	begin(&s);
	s.uri.password = password;
	s.act = take_speak_and_hang_up;
	assert_status(dial(&s), RB_ERR_CONNECT);
	assert_non_null(strstr(s.why, "enough"));
	free(password);
	end(&s);
}

/* ------------------------------------------------------------ cancelling */

static void cancel_at_the_third_look(stage *s)
{
	if (s->looks == 3)
		rbi_wake_request(s->wake);
}

static void test_connecting_can_be_cancelled_while_it_waits(void **state)
{
	char *password = long_password((size_t)8 * 1024 * 1024);
	rbi_wake wake;
	int amid;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	/* For a place in the queue; for the socket to take a command. */
	for (amid = 0; amid < 2; amid++) {
		stage s;

		begin(&s);
		s.wake = &wake;
		s.act = cancel_at_the_third_look;
		if (amid)
			s.uri.password = password;
		else
			s.filler = connect_to(&s);
		assert_status(dial(&s), RB_ERR_CANCELLED);
		assert_non_null(strstr(s.why, "cancelled"));
		assert_null(s.ctx);
		/* It was heard, and holds no further call up. */
		assert_false(rbi_wake_is_requested(&wake));
		end(&s);
	}
	rbi_wake_fini(&wake);
	free(password);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_queue_is_tried_again),
		cmocka_unit_test(test_a_full_queue_is_tried_until_the_deadline),
		cmocka_unit_test(test_without_a_descriptor_it_cannot_connect),
		cmocka_unit_test(test_a_path_longer_than_an_address_is_told),
		cmocka_unit_test(
			test_a_deadline_that_has_passed_ends_connecting),
		cmocka_unit_test(
			test_a_command_larger_than_the_socket_leaves_in_parts),
		cmocka_unit_test(
			test_a_server_that_hangs_up_amid_a_command_is_told),
		cmocka_unit_test(test_last_words_amid_a_command_are_told),
		cmocka_unit_test(
			test_connecting_can_be_cancelled_while_it_waits),
	};

	return cmocka_run_group_tests_name("dial", tests, NULL, NULL);
}
