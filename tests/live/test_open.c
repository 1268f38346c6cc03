/*
 * Clients that connect by themselves.
 */
#include "live.h"
#include "tick.h"

#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A user and a password that need percent signs, as in a format of a URI. */
#define USER "ann%%3ab"
#define PASSWORD "p%%40ss%%3aw%%2f%%25+"

static void make_user(const rbt_live *live)
{
	rbt_do(live->admin, "ACL SETUSER ann:b reset on >%s ~* +@all",
	       "p@ss:w/%+");
}

/* Key "where" tells databases apart. */
static void fill_databases(const rbt_live *live)
{
	rbt_do(live->admin, "SET where zero");
	rbt_do(live->admin, "SELECT 3");
	rbt_do(live->admin, "SET where three");
	rbt_do(live->admin, "SELECT 0");
}

static rb_status read_where(rbt_live *live)
{
	static const char *keys[] = { "where" };

	rbt_live_drop(live);
	return rb_mget_chunked(live->rb, keys, NULL, 1, NULL, &live->res);
}

static void want_where(rbt_live *live, const char *text)
{
	want_status(live->rb, read_where(live), RB_OK);
	want_bytes(live->res, 0, text, strlen(text));
}

static void test_a_uri_without_more_reads_database_0(void **state)
{
	rbt_live *live = rbt_live_use(state);
	int port = rbt_server_port(live->server);

	fill_databases(live);
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d", port);
	want_where(live, "zero");
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d/", port);
	want_where(live, "zero");
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d/0", port);
	want_where(live, "zero");
	rbt_live_open_uri(live, NULL, "unix://%s",
			  rbt_server_socket(live->server));
	want_where(live, "zero");
}

static void test_a_uri_names_a_database(void **state)
{
	rbt_live *live = rbt_live_use(state);

	fill_databases(live);
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d/3",
			  rbt_server_port(live->server));
	want_where(live, "three");
	want_where(live, "three");
	rbt_live_open_uri(live, NULL, "unix://%s?db=3",
			  rbt_server_socket(live->server));
	want_where(live, "three");
}

static void test_a_uri_names_user_and_password(void **state)
{
	rbt_live *live = rbt_live_use(state);

	fill_databases(live);
	make_user(live);
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_open_uri(live, NULL,
			  "redis://" USER ":" PASSWORD "@127.0.0.1:%d/3",
			  rbt_server_port(live->server));
	want_where(live, "three");
	rbt_live_open_uri(live, NULL, "unix://" USER ":" PASSWORD "@%s?db=3",
			  rbt_server_socket(live->server));
	want_where(live, "three");
}

static void test_a_uri_may_have_a_password_alone(void **state)
{
	rbt_live *live = rbt_live_use(state);

	fill_databases(live);
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_open_uri(live, NULL, "redis://:secret@127.0.0.1:%d",
			  rbt_server_port(live->server));
	want_where(live, "zero");
	rbt_live_open_uri(live, NULL, "unix://:secret@%s",
			  rbt_server_socket(live->server));
	want_where(live, "zero");
}

static void test_connecting_happens_when_it_is_asked_for(void **state)
{
	rbt_live *live = rbt_live_use(state);
	uint64_t before =
		rbt_live_info(live, "stats", "total_connections_received");

	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	assert_int_equal(
		rbt_live_info(live, "stats", "total_connections_received"),
		before);
	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	assert_string_equal(rb_client_error(live->rb), "");
	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	want_status(live->rb, read_where(live), RB_OK);
	want_status(live->rb, read_where(live), RB_OK);
	/* One for all of this. */
	assert_int_equal(
		rbt_live_info(live, "stats", "total_connections_received"),
		before + 1);
}

static void test_connecting_a_wrapped_context_checks_it(void **state)
{
	rbt_live *live = rbt_live_use(state);

	want_status(live->rb, rb_client_connect(live->rb), RB_OK);
	redisAppendCommand(live->ctx, "PING");
	want_status(live->rb, rb_client_connect(live->rb), RB_ERR_BUSY);
	live->ctx->err = REDIS_ERR_OTHER;
	want_status(live->rb, rb_client_connect(live->rb), RB_ERR_INVALID);
}

/* ------------------------------------------------------------- failures -- */

/* Cannot be connected, in these words, and has no result. */
static void want_unconnected(rbt_live *live, const char *words)
{
	want_status(live->rb, read_where(live), RB_ERR_CONNECT);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), words);
	want_status(live->rb, rb_client_connect(live->rb), RB_ERR_CONNECT);
	want_words(rb_client_error(live->rb), words);
}

static void test_a_wrong_password_is_said_but_not_shown(void **state)
{
	rbt_live *live = rbt_live_use(state);
	int port = rbt_server_port(live->server);

	make_user(live);
	rbt_live_open_uri(live, NULL, "redis://" USER ":hunter2@127.0.0.1:%d",
			  port);
	want_unconnected(live, "WRONGPASS");
	want_words(rb_client_error(live->rb), "AUTH");
	want_words(rb_client_error(live->rb), "127.0.0.1");
	want_no_words(rb_client_error(live->rb), "hunter2");
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_open_uri(live, NULL, "redis://:hunter2@127.0.0.1:%d", port);
	want_unconnected(live, "WRONGPASS");
	want_no_words(rb_client_error(live->rb), "hunter2");
}

static void test_a_database_that_is_not_there_is_said(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d/99",
			  rbt_server_port(live->server));
	want_unconnected(live, "SELECT");
	want_words(rb_client_error(live->rb), "out of range");
}

static void test_a_password_that_is_not_needed_is_said(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_open_uri(live, NULL, "redis://:hunter2@127.0.0.1:%d",
			  rbt_server_port(live->server));
	want_unconnected(live, "AUTH");
	want_no_words(rb_client_error(live->rb), "hunter2");
}

static void test_a_port_where_nobody_listens_is_said(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	rbt_live_kill(live);
	want_unconnected(live, "refused");
}

static void test_a_socket_path_that_is_dead_is_said(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_open_uri(live, NULL, "unix://%s/none",
			  rbt_server_dir(live->server));
	want_unconnected(live, "No such file");
	rbt_live_open_uri(live, NULL, "unix://%s",
			  rbt_server_socket(live->server));
	rbt_live_kill(live);
	want_unconnected(live, "refused");
}

static void test_a_socket_path_above_an_address_is_refused(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_client *rb = live->rb;
	char uri[200] = "unix:///";

	memset(uri + 8, 'x', 150);
	want_words(rb_uri_problem(uri), "too long");
	assert_int_equal(rb_client_open(&rb, uri, NULL), RB_ERR_INVALID);
	assert_null(rb);
}

/* A system without a hosts file may not even know itself. */
static bool is_known(const char *host)
{
	struct addrinfo *list;

	if (getaddrinfo(host, NULL, NULL, &list) != 0)
		return false;
	freeaddrinfo(list);
	return true;
}

static void test_a_host_is_tried_at_each_address(void **state)
{
	rbt_live *live = rbt_live_use(state);

	/* The server listens at one of those that this may have. */
	fill_databases(live);
	rbt_live_open_uri(live, NULL, "redis://localhost:%d/3",
			  rbt_server_port(live->server));
	if (is_known("localhost"))
		want_where(live, "three");
	else
		want_unconnected(live, "localhost");
}

static void test_an_ipv6_address_is_told_in_brackets(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_open_uri(live, NULL, "redis://[::1]:%d",
			  rbt_server_port(live->server));
	want_unconnected(live, "[::1]:");
}

static void test_a_host_that_has_no_address_is_said(void **state)
{
	rbt_live *live = rbt_live_use(state);

	/* Too long for a name, so that no name server is asked. */
	rbt_live_open_uri(live, NULL, "redis://%s",
			  "a123456789a123456789a123456789a123456789a123456789"
			  "a123456789a123456789.invalid");
	want_status(live->rb, read_where(live), RB_ERR_CONNECT);
	assert_null(live->res);
	want_words(rb_client_error(live->rb), ".invalid");
}

static void want_not_run(const rb_result *res)
{
	rb_outcome outcome = rb_result_outcome(res, 0);

	assert_int_not_equal(rb_result_status(res, 0), RB_OK);
	assert_true(outcome == RB_REJECTED || outcome == RB_NOT_SENT);
}

static void test_a_server_without_room_is_said(void **state)
{
	rbt_live *live = rbt_live_use(state);

	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d",
			  rbt_server_port(live->server));
	rbt_do(live->admin, "CONFIG SET maxclients 1");
	/* Now the refusal is there before the command, now behind it, and now
	 * behind it at first and before it when it is tried again. */
	for (int i = 0; i < 50; i++) {
		rb_status status = read_where(live);

		if (status != RB_ERR_CONNECT && status != RB_ERR_SERVER)
			want_status(live->rb, status, RB_ERR_IO);
		want_words(rb_client_error(live->rb),
			   "max number of clients reached");
		if (status == RB_ERR_CONNECT)
			assert_null(live->res);
		else
			want_not_run(live->res);
	}
	rbt_do(live->admin, "CONFIG SET maxclients 100");
	want_status(live->rb, read_where(live), RB_OK);
	want_nil(live->res, 0);
}

static void test_a_server_that_does_not_answer_is_given_up(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);
	uint64_t start;
	rb_status status;

	o.connect_timeout_ms = 300;
	rbt_live_open_uri(live, &o, "redis://:pw@127.0.0.1:%d",
			  rbt_server_port(live->server));
	rbt_live_stop(live);
	start = rbt_now_us();
	status = read_where(live);
	assert_in_range(rbt_now_us() - start, 280000, 5000000);
	want_status(live->rb, status, RB_ERR_CONNECT);
	/* The deadline of the call, if that is sooner. */
	o.connect_timeout_ms = 20000;
	o.timeout_ms = 300;
	rbt_live_open_uri(live, &o, "redis://:pw@127.0.0.1:%d",
			  rbt_server_port(live->server));
	start = rbt_now_us();
	status = read_where(live);
	assert_in_range(rbt_now_us() - start, 280000, 5000000);
	want_status(live->rb, status, RB_ERR_TIMEOUT);
	assert_null(live->res);
}

/* ------------------------------------------------------------- dialling -- */

static void kill_others(const rbt_live *live)
{
	rbt_do(live->admin, "CLIENT KILL TYPE normal SKIPME yes");
}

static void test_a_lost_connection_is_dialled_anew(void **state)
{
	rbt_live *live = rbt_live_use(state);

	fill_databases(live);
	make_user(live);
	rbt_do(live->admin, "CONFIG SET requirepass secret");
	rbt_live_open_uri(live, NULL,
			  "redis://" USER ":" PASSWORD "@127.0.0.1:%d/3",
			  rbt_server_port(live->server));
	for (int i = 0; i < 20; i++) {
		want_where(live, "three");
		kill_others(live);
	}
	rbt_live_open_uri(live, NULL, "unix://:secret@%s?db=3",
			  rbt_server_socket(live->server));
	for (int i = 0; i < 20; i++) {
		want_where(live, "three");
		kill_others(live);
	}
}

static void test_a_server_that_came_back_is_dialled_anew(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rb_options o = rbt_options(0, 0);

	fill_databases(live);
	rbt_live_open_uri(live, NULL, "redis://127.0.0.1:%d/3",
			  rbt_server_port(live->server));
	want_where(live, "three");
	rbt_live_stop(live);
	o.timeout_ms = 300;
	for (int i = 0; i < 2; i++) {
		rbt_live_drop(live);
		want_status(live->rb,
			    rb_mget_chunked(live->rb,
					    (const char *[]){ "where" }, NULL,
					    1, &o, &live->res),
			    RB_ERR_TIMEOUT);
	}
	rbt_live_go_on(live);
	want_where(live, "three");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_uri_without_more_reads_database_0),
		RBT_LIVE(test_a_uri_names_a_database),
		RBT_LIVE(test_a_uri_names_user_and_password),
		RBT_LIVE(test_a_uri_may_have_a_password_alone),
		RBT_LIVE(test_connecting_happens_when_it_is_asked_for),
		RBT_LIVE(test_connecting_a_wrapped_context_checks_it),
		RBT_LIVE(test_a_wrong_password_is_said_but_not_shown),
		RBT_LIVE(test_a_database_that_is_not_there_is_said),
		RBT_LIVE(test_a_password_that_is_not_needed_is_said),
		RBT_LIVE(test_a_port_where_nobody_listens_is_said),
		RBT_LIVE(test_a_socket_path_that_is_dead_is_said),
		RBT_LIVE(test_a_socket_path_above_an_address_is_refused),
		RBT_LIVE(test_a_host_is_tried_at_each_address),
		RBT_LIVE(test_an_ipv6_address_is_told_in_brackets),
		RBT_LIVE(test_a_host_that_has_no_address_is_said),
		RBT_LIVE(test_a_server_without_room_is_said),
		RBT_LIVE(test_a_server_that_does_not_answer_is_given_up),
		RBT_LIVE(test_a_lost_connection_is_dialled_anew),
		RBT_LIVE(test_a_server_that_came_back_is_dialled_anew),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
