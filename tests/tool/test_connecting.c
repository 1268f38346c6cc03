/*
 * The clients that connections make: to the server itself, to one of its nodes,
 * and what a signal does meanwhile.
 */
#include "args.h"
#include "connection.h"
#include "signals.h"
#include "tuning.h"

#include "bystander.h"
#include "cluster.h"
#include "tick.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 20000, TOO_LATE_US = 1000000 };

/* Takes a command line, as a command does. Its arguments are overwritten. */
static connection *take_options(rb_options *o, char **argv)
{
	static const args_usage usage = { "try", "", NULL };
	connection *c = connection_new();
	const args_group group = connection_group(c);
	args_rest rest;
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	tuning_init(o);
	assert_int_equal(args_parse(&usage, &group, 1, argc, argv, &rest),
			 EXITS_FINE);
	return c;
}

static void want_key(rb_client *client, const char *key, int64_t n)
{
	rb_result *res = NULL;

	assert_int_equal(rb_exists_chunked(client, &key, NULL, 1, NULL, &res),
			 RB_OK);
	assert_int_equal(rb_result_total(res), n);
	rb_result_free(res);
}

static void test_a_second_client_is_at_the_same_place(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char name[] = "try";
	char db[] = "-n3";
	char password[] = "-apw";
	char port_option[32];
	char place[64];
	char *argv[] = { name, db, password, port_option, NULL };
	rb_options o;
	rb_client *first;
	rb_client *second;
	connection *c;

	rbt_bystander_do(b, "ACL SETUSER default resetpass >pw");
	snprintf(port_option, sizeof(port_option), "-p%s", b->port);
	snprintf(place, sizeof(place), "127.0.0.1:%s", b->port);
	c = take_options(&o, argv);
	assert_string_equal(password, "-a**");
	assert_int_equal(connection_open(c, &o, &first), EXITS_FINE);
	assert_int_equal(connection_open_node(c, NULL, 0, &o, &second),
			 EXITS_FINE);
	assert_false(connection_is_cluster(c));
	assert_string_equal(connection_name(c), place);
	want_key(first, "three", 1);
	want_key(second, "three", 1);
	signals_watch(NULL);
	rb_client_free(first);
	rb_client_free(second);
	connection_free(c);
}

static void test_a_node_of_a_cluster_is_reached_as_the_same_user(void **state)
{
	rbt_cluster_options options = { .primaries = 2,
					.user = "ann",
					.password = "p/w" };
	char name[] = "try";
	char cluster[] = "-c";
	char uri[64];
	char u[] = "-u";
	char *argv[] = { name, cluster, u, uri, NULL };
	rbt_cluster *nodes;
	rb_client *all;
	rb_options o;
	connection *c;

	(void)rbt_bystander_use(state);
	nodes = rbt_cluster_start(&options);
	if (nodes == NULL)
		fail_msg("%s", rbt_cluster_why_not());
	snprintf(uri, sizeof(uri), "redis://ann:p%%2Fw@127.0.0.1:%d",
		 rbt_cluster_port(nodes, 0));
	c = take_options(&o, argv);
	assert_int_equal(connection_open(c, &o, &all), EXITS_FINE);
	assert_true(connection_is_cluster(c));
	want_key(all, "a", 0);
	for (size_t i = 0; i < 2; i++) {
		rb_client *one;
		int port = rbt_cluster_port(nodes, i);
		uint64_t before = rbt_cluster_calls_at(nodes, i, "ping");
		const char *argument = "PING";
		const rb_command ping = { 1, &argument, NULL };
		rb_result *res = NULL;

		assert_int_equal(connection_open_node(c, "127.0.0.1",
						      (unsigned)port, &o, &one),
				 EXITS_FINE);
		assert_int_equal(rb_pipeline_chunked(one, &ping, 1, NULL, &res),
				 RB_OK);
		assert_true(rbt_cluster_calls_at(nodes, i, "ping") > before);
		rb_result_free(res);
		rb_client_free(one);
	}
	signals_watch(NULL);
	rb_client_free(all);
	connection_free(c);
	rbt_cluster_stop(nodes);
}

static void test_a_node_that_is_not_there_is_said(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char name[] = "try";
	char port_option[32];
	char *argv[] = { name, port_option, NULL };
	rb_options o;
	rb_client *first;
	rb_client *node;
	connection *c;

	snprintf(port_option, sizeof(port_option), "-p%s", b->port);
	c = take_options(&o, argv);
	assert_string_equal(connection_name(c), "the server");
	assert_int_equal(connection_open(c, &o, &first), EXITS_FINE);
	assert_int_equal(connection_open_node(c, "127.0.0.1", 1, &o, &node),
			 EXITS_SERVER);
	assert_null(node);
	want_key(first, "zero", 1);
	signals_watch(NULL);
	rb_client_free(first);
	connection_free(c);
}

/* --------------------------------------------------------------- signals -- */

/* A port that takes connections and says nothing on them. */
static int listen_mute(char *port, size_t size)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(port, size, "-p%d", ntohs(a.sin_port));
	return fd;
}

static int ended(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void want_ended_while_connecting(int number)
{
	char port[32];
	int fd = listen_mute(port, sizeof(port));
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t sent;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("REDISCLI_AUTH", "secret", 1);
		execl(rbt_tool(), rbt_tool(), "exists", port, "k",
		      (char *)NULL);
		_exit(127);
	}
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	sent = rbt_now_us();
	kill(pid, number);
	assert_int_equal(ended(pid), 128 + number);
	assert_true(rbt_now_us() - sent < TOO_LATE_US);
	close(fd);
}

static void test_a_signal_ends_the_connecting(void **state)
{
	(void)state;
	want_ended_while_connecting(SIGINT);
	want_ended_while_connecting(SIGTERM);
}

/* A child with two clients, of which the second is in a call that blocks. */
static int call_with_both(const rbt_bystander *b)
{
	const char *blpop[] = { "BLPOP", "nothing", "0" };
	const rb_command command = { 3, blpop, NULL };
	char uri[64];
	rb_result *res = NULL;
	rb_client *first;
	rb_client *second;
	rb_status status;

	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%s", b->port);
	signals_init();
	if (rb_client_open(&first, uri, NULL) != RB_OK ||
	    rb_client_open(&second, uri, NULL) != RB_OK)
		return 1;
	signals_watch(first);
	signals_watch_also(second);
	status = rb_pipeline_chunked(second, &command, 1, NULL, &res);
	rb_result_free(res);
	signals_unwatch(second);
	rb_client_free(second);
	signals_watch(NULL);
	rb_client_free(first);
	return status == RB_ERR_CANCELLED ? 0 : 2;
}

static void await_blocked(const rbt_bystander *b)
{
	uint64_t until = rbt_now_us() + 1000ull * PATIENCE_MS;

	for (;;) {
		redisReply *r = redisCommand(b->admin, "INFO clients");
		bool blocked;

		assert_non_null(r);
		blocked = strstr(r->str, "blocked_clients:1") != NULL;
		freeReplyObject(r);
		if (blocked)
			return;
		assert_true(rbt_now_us() < until);
	}
}

static void test_a_signal_cancels_each_client_that_is_watched(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		exit(call_with_both(b));
	await_blocked(b);
	kill(pid, SIGTERM);
	assert_int_equal(ended(pid), 0);
}

#define CASE(test) cmocka_unit_test_setup(test, rbt_bystander_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_second_client_is_at_the_same_place),
		CASE(test_a_node_of_a_cluster_is_reached_as_the_same_user),
		CASE(test_a_node_that_is_not_there_is_said),
		CASE(test_a_signal_ends_the_connecting),
		CASE(test_a_signal_cancels_each_client_that_is_watched),
	};

	unsetenv("REDIS_URL");
	unsetenv("REDISCLI_AUTH");
	return cmocka_run_group_tests(tests, rbt_bystander_open,
				      rbt_bystander_close);
}
