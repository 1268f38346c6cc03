/*
 * Slot maps out of what a server says to CLUSTER SLOTS: a node of a cluster that
 * has met no other, and so knows no address of its own.
 */
#include "alloc.h"
#include "server.h"
#include "slotmap.h"

#include <hiredis/hiredis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct lone {
	rbt_server *server;
	redisContext *ctx;
} lone;

/*
 * A server of a cluster listens on its port + 10000 too, which an ephemeral
 * port does not always leave room for: then it is started with another.
 */
static rbt_server *start_node(bool cluster)
{
	const char *const args[] = { "--cluster-enabled",
				     cluster ? "yes" : "no", NULL };
	rbt_server *server = NULL;
	int i;

	for (i = 0; i < 5 && server == NULL; i++)
		server = rbt_server_start(args);
	return server;
}

static int lone_init(void **state, bool cluster)
{
	lone *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return -1;
	*state = l;
	if (!rbt_server_available())
		return 0;
	l->server = start_node(cluster);
	if (l->server == NULL) {
		print_error("%s\n", rbt_server_why());
		free(l);
		return -1;
	}
	l->ctx = redisConnectUnix(rbt_server_socket(l->server));
	return l->ctx != NULL && l->ctx->err == 0 ? 0 : -1;
}

static int begin(void **state)
{
	return lone_init(state, true);
}

static int begin_without_cluster(void **state)
{
	return lone_init(state, false);
}

static int end(void **state)
{
	lone *l = *state;

	if (l->ctx != NULL)
		redisFree(l->ctx);
	rbt_server_stop(l->server);
	free(l);
	return 0;
}

static lone *use(void **state)
{
	lone *l = *state;

	if (l->server == NULL) {
		print_message("%s\n", rbt_server_why());
		skip();
	}
	return l;
}

static redisReply *ask(lone *l, const char *command)
{
	redisReply *reply = redisCommand(l->ctx, command);

	assert_non_null(reply);
	return reply;
}

/* False: this server is too old for it. */
static bool configure(lone *l, const char *command)
{
	redisReply *reply = ask(l, command);
	bool done = reply->type != REDIS_REPLY_ERROR;

	freeReplyObject(reply);
	return done;
}

static rb_status read_map(lone *l, rbi_slotmap *map, char *problem, size_t size)
{
	redisReply *reply = ask(l, "CLUSTER SLOTS");
	const char *text = NULL;
	rb_status status;

	rbi_slotmap_init(map, &rbi_alloc_default);
	status = rbi_slotmap_read(map, reply, "asked", &text);
	snprintf(problem, size, "%s", text != NULL ? text : "");
	freeReplyObject(reply);
	return status;
}

/* One node, at this host and the server's port, has the slots that it was
 * given. */
static void want_host(lone *l, const char *host)
{
	char problem[200];
	rbi_slotmap map;
	size_t slot;

	if (read_map(l, &map, problem, sizeof(problem)) != RB_OK)
		fail_msg("%s", problem);
	assert_int_equal(map.nnodes, 1);
	assert_string_equal(map.nodes[0].host, host);
	assert_int_equal(map.nodes[0].port, rbt_server_port(l->server));
	for (slot = 0; slot < RBI_SLOTS; slot++) {
		bool given =
			slot == 0 || slot == 7 || slot == 8 || slot == 16383;

		assert_int_equal(map.owner[slot], given ? 0 : RBI_NO_NODE);
	}
	rbi_slotmap_fini(&map);
}

static void test_a_node_is_where_it_says_that_it_is(void **state)
{
	lone *l = use(state);

	assert_true(configure(l, "CLUSTER ADDSLOTS 0 7 8 16383"));
	want_host(l, "asked");
	if (!configure(l, "CONFIG SET cluster-announce-hostname node.test"))
		return;
	assert_true(configure(l, "CONFIG SET cluster-announce-ip 127.0.0.9"));
	want_host(l, "127.0.0.9");
	assert_true(configure(
		l, "CONFIG SET cluster-preferred-endpoint-type hostname"));
	want_host(l, "node.test");
	/* It says nil then, whatever it is called. */
	assert_true(configure(l, "CONFIG SET cluster-preferred-endpoint-type "
				 "unknown-endpoint"));
	want_host(l, "asked");
}

static void test_a_name_that_is_not_known_stands_for_the_ip(void **state)
{
	lone *l = use(state);

	assert_true(configure(l, "CLUSTER ADDSLOTS 0 7 8 16383"));
	if (!configure(l, "CONFIG SET cluster-preferred-endpoint-type "
			  "hostname"))
		return;
	want_host(l, "asked");
	/* It says "?" now, and its ip among what else there is to say. */
	assert_true(configure(l, "CONFIG SET cluster-announce-ip 127.0.0.9"));
	/* Valkey 8.0 goes on with the answer that it gave until something else
	 * than an address is new. */
	assert_true(configure(l, "CONFIG SET cluster-preferred-endpoint-type "
				 "ip"));
	assert_true(configure(l, "CONFIG SET cluster-preferred-endpoint-type "
				 "hostname"));
	want_host(l, "127.0.0.9");
}

static void test_a_node_without_slots_is_not_ready(void **state)
{
	lone *l = use(state);
	char problem[200];
	rbi_slotmap map;

	assert_int_equal(read_map(l, &map, problem, sizeof(problem)),
			 RB_ERR_SERVER);
	assert_non_null(strstr(problem, "not ready"));
}

static void test_a_server_alone_is_no_cluster(void **state)
{
	lone *l = use(state);
	char problem[200];
	rbi_slotmap map;

	assert_int_equal(read_map(l, &map, problem, sizeof(problem)),
			 RB_ERR_SERVER);
	assert_non_null(strstr(problem, "cluster support disabled"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_node_is_where_it_says_that_it_is, begin, end),
		cmocka_unit_test_setup_teardown(
			test_a_name_that_is_not_known_stands_for_the_ip, begin,
			end),
		cmocka_unit_test_setup_teardown(
			test_a_node_without_slots_is_not_ready, begin, end),
		cmocka_unit_test_setup_teardown(
			test_a_server_alone_is_no_cluster,
			begin_without_cluster, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
