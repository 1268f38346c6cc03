/*
 * Connecting step by step to listeners that the test itself holds.
 */
#include "clock.h"
#include "connect.h"
#include "fds.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LONG_MS 60000

/* More than a queue of length 0 takes. */
#define FILLERS 8

typedef struct place {
	rbi_uri uri;
	char dir[64];
	char path[96];
	struct sockaddr_storage address;
	socklen_t len;
	int fd;
	int fillers[FILLERS];
} place;

static void open_place(place *p, const void *address, socklen_t len)
{
	const struct sockaddr *wanted = address;
	size_t i;

	for (i = 0; i < FILLERS; i++)
		p->fillers[i] = -1;
	p->fd = socket(wanted->sa_family, SOCK_STREAM, 0);
	assert_true(p->fd >= 0);
	assert_int_equal(bind(p->fd, wanted, len), 0);
	p->len = sizeof(p->address);
	assert_int_equal(
		getsockname(p->fd, (struct sockaddr *)&p->address, &p->len), 0);
}

static void open_tcp(place *p)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct sockaddr_in bound;

	memset(p, 0, sizeof(*p));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	open_place(p, &address, sizeof(address));
	memcpy(&bound, &p->address, sizeof(bound));
	p->uri.host = "127.0.0.1";
	p->uri.port = ntohs(bound.sin_port);
}

static void open_unix(place *p)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memset(p, 0, sizeof(*p));
	snprintf(p->dir, sizeof(p->dir), "/tmp/rbt-connect-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/s", p->dir);
	memcpy(address.sun_path, p->path, strlen(p->path));
	open_place(p, &address, sizeof(address));
	p->uri.path = p->path;
}

/* Takes connections until there is no room for one more. */
static void fill(place *p)
{
	size_t i;

	assert_int_equal(listen(p->fd, 0), 0);
	for (i = 0; i < FILLERS; i++) {
		int fd = socket(p->address.ss_family, SOCK_STREAM, 0);

		assert_true(fd >= 0);
		assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
		(void)connect(fd, (const struct sockaddr *)&p->address, p->len);
		p->fillers[i] = fd;
	}
}

static void close_place(place *p)
{
	size_t i;

	for (i = 0; i < FILLERS; i++) {
		if (p->fillers[i] >= 0)
			assert_int_equal(close(p->fillers[i]), 0);
	}
	assert_int_equal(close(p->fd), 0);
	if (p->uri.path != NULL) {
		assert_int_equal(unlink(p->path), 0);
		assert_int_equal(rmdir(p->dir), 0);
	}
}

/* Steps until the end. */
static rbi_connect_state step_on(rbi_connect *c)
{
	rbi_connect_state state = rbi_connect_step(c);

	while (state == RBI_CONNECT_WAITING) {
		uint64_t wait_us;
		struct pollfd fd = { .events = POLLOUT };

		fd.fd = rbi_connect_wants(c, &wait_us);
		if (wait_us == RBI_NEVER)
			assert_int_equal(poll(&fd, 1, LONG_MS), 1);
		else
			(void)poll(&fd, 1, (int)(wait_us / 1000));
		state = rbi_connect_step(c);
	}
	return state;
}

/* ------------------------------------------------------------- connected -- */

static void check_connected(place *p)
{
	rbi_connect c;
	int conn;
	int fd;

	assert_int_equal(listen(p->fd, 1), 0);
	rbi_connect_begin(&c, &p->uri);
	assert_int_equal(step_on(&c), RBI_CONNECT_DONE);
	fd = rbi_connect_take(&c);
	rbi_connect_fini(&c);
	assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	conn = accept(p->fd, NULL, NULL);
	assert_true(conn >= 0);
	assert_int_equal(send(conn, "x", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1,
			      LONG_MS),
			 1);
	if (p->uri.path == NULL) {
		socklen_t len = sizeof(int);
		int on = 0;

		assert_int_equal(
			getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
		assert_int_not_equal(on, 0);
	}
	assert_int_equal(close(conn), 0);
	assert_int_equal(close(fd), 0);
}

static void test_a_socket_is_connected_and_taken(void **state)
{
	place p;

	(void)state;
	open_unix(&p);
	check_connected(&p);
	close_place(&p);
	open_tcp(&p);
	check_connected(&p);
	close_place(&p);
}

static void test_what_is_not_taken_is_closed(void **state)
{
	int before = fds_open();
	rbi_connect c;
	place p;

	(void)state;
	open_unix(&p);
	assert_int_equal(listen(p.fd, 1), 0);
	rbi_connect_begin(&c, &p.uri);
	assert_int_equal(step_on(&c), RBI_CONNECT_DONE);
	rbi_connect_fini(&c);
	rbi_connect_fini(&c);
	close_place(&p);
	assert_int_equal(fds_open(), before);
}

/* ----------------------------------------------------------- a full queue -- */

static void test_a_full_queue_of_a_path_is_left_to_time(void **state)
{
	uint64_t wait_us = RBI_NEVER;
	rbi_connect c;
	place p;
	int conn;
	int i;

	(void)state;
	open_unix(&p);
	fill(&p);
	rbi_connect_begin(&c, &p.uri);
	for (i = 0; i < 100; i++) {
		assert_int_equal(rbi_connect_step(&c), RBI_CONNECT_WAITING);
		assert_int_equal(rbi_connect_wants(&c, &wait_us), -1);
		assert_in_range(wait_us, 1, 100000);
	}
	conn = accept(p.fd, NULL, NULL);
	assert_true(conn >= 0);
	assert_int_equal(step_on(&c), RBI_CONNECT_DONE);
	rbi_connect_fini(&c);
	assert_int_equal(close(conn), 0);
	close_place(&p);
}

static void test_connecting_can_be_given_up_in_the_middle(void **state)
{
	int before = fds_open();
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		uint64_t wait_us = 0;
		rbi_connect c;
		int steps;
		place p;

		if (i == 0)
			open_unix(&p);
		else
			open_tcp(&p);
		fill(&p);
		rbi_connect_begin(&c, &p.uri);
		/* However often it is looked at, and not later either. */
		for (steps = 0; steps < 100; steps++)
			assert_int_equal(rbi_connect_step(&c),
					 RBI_CONNECT_WAITING);
		if (i == 1) {
			assert_int_equal(rbi_connect_wants(&c, &wait_us), c.fd);
			assert_true(wait_us == RBI_NEVER);
		}
		rbi_connect_fini(&c);
		close_place(&p);
		assert_int_equal(fds_open(), before);
	}
}

static void test_nothing_is_open_before_the_first_step(void **state)
{
	int before = fds_open();
	rbi_connect c;
	place p;

	(void)state;
	open_tcp(&p);
	rbi_connect_begin(&c, &p.uri);
	rbi_connect_fini(&c);
	close_place(&p);
	assert_int_equal(fds_open(), before);
}

/* ---------------------------------------------------------------- failures -- */

static void test_no_listener_is_told(void **state)
{
	rbi_connect c;
	place p;

	(void)state;
	open_tcp(&p);
	rbi_connect_begin(&c, &p.uri);
	assert_int_equal(step_on(&c), RBI_CONNECT_FAILED);
	assert_string_equal(c.problem, strerror(ECONNREFUSED));
	rbi_connect_fini(&c);
	close_place(&p);
}

static void test_a_name_that_is_none_is_told(void **state)
{
	const rbi_uri uri = { .host = "fe80::1%nowhere", .port = 1 };
	rbi_connect c;

	(void)state;
	rbi_connect_begin(&c, &uri);
	assert_int_equal(rbi_connect_step(&c), RBI_CONNECT_FAILED);
	assert_string_not_equal(c.problem, "");
	rbi_connect_fini(&c);
}

static void test_a_path_longer_than_an_address_is_told(void **state)
{
	char path[300];
	const rbi_uri uri = { .path = path };
	rbi_connect c;

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	rbi_connect_begin(&c, &uri);
	assert_int_equal(rbi_connect_step(&c), RBI_CONNECT_FAILED);
	assert_string_equal(c.problem, strerror(ENAMETOOLONG));
	rbi_connect_fini(&c);
}

static void test_a_lack_of_descriptors_is_told(void **state)
{
	struct rlimit before;
	struct rlimit none;
	rbi_connect_state end;
	rbi_connect c;
	place p;

	(void)state;
	open_unix(&p);
	assert_int_equal(listen(p.fd, 1), 0);
	rbi_connect_begin(&c, &p.uri);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	end = rbi_connect_step(&c);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(end, RBI_CONNECT_FAILED);
	assert_string_equal(c.problem, strerror(EMFILE));
	rbi_connect_fini(&c);
	close_place(&p);
}

/* ------------------------------------------------------- several addresses -- */

/* A deaf address before the one that was looked up, as a host may have. */
static rbi_connect_state connect_to_second(place *deaf, place *second,
					   rbi_connect *c)
{
	struct addrinfo first = { .ai_family = AF_INET };
	char port[8];

	rbi_connect_begin(c, &second->uri);
	snprintf(port, sizeof(port), "%u", second->uri.port);
	first.ai_addr = (struct sockaddr *)&deaf->address;
	first.ai_addrlen = deaf->len;
	assert_int_equal(
		getaddrinfo("127.0.0.1", port,
			    &(struct addrinfo){ .ai_socktype = SOCK_STREAM },
			    &c->list),
		0);
	first.ai_next = c->list;
	c->at = &first;
	return step_on(c);
}

static void test_the_next_address_is_tried_after_one_that_failed(void **state)
{
	int before = fds_open();
	rbi_connect c;
	place second;
	place deaf;

	(void)state;
	open_tcp(&deaf);
	open_tcp(&second);
	assert_int_equal(connect_to_second(&deaf, &second, &c),
			 RBI_CONNECT_FAILED);
	assert_string_equal(c.problem, strerror(ECONNREFUSED));
	rbi_connect_fini(&c);
	assert_int_equal(listen(second.fd, 1), 0);
	assert_int_equal(connect_to_second(&deaf, &second, &c),
			 RBI_CONNECT_DONE);
	rbi_connect_fini(&c);
	close_place(&second);
	close_place(&deaf);
	assert_int_equal(fds_open(), before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_socket_is_connected_and_taken),
		cmocka_unit_test(test_what_is_not_taken_is_closed),
		cmocka_unit_test(test_a_full_queue_of_a_path_is_left_to_time),
		cmocka_unit_test(test_connecting_can_be_given_up_in_the_middle),
		cmocka_unit_test(test_nothing_is_open_before_the_first_step),
		cmocka_unit_test(test_no_listener_is_told),
		cmocka_unit_test(test_a_name_that_is_none_is_told),
		cmocka_unit_test(test_a_path_longer_than_an_address_is_told),
		cmocka_unit_test(test_a_lack_of_descriptors_is_told),
		cmocka_unit_test(
			test_the_next_address_is_tried_after_one_that_failed),
	};

	return cmocka_run_group_tests_name("connect", tests, NULL, NULL);
}
