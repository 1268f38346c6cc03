/*
 * redisbatch pipeline on a cluster: replies in the order of the lines, whoever
 * gave them, and failures with the node that refused.
 */
#include "nodes.h"
#include "tooling.h"

enum { N = 3000 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

static void run(const rbt_nodes *n, rbt_spawned *s, const char *in,
		const char *const *args, int status)
{
	const char *argv[RBT_TOOL_ARGS] = { rbt_tool(), "pipeline", "-u" };
	char uri[256];

	rbt_cluster_uri(n->cluster, 1, uri, sizeof(uri));
	argv[3] = uri;
	for (size_t i = 0; args[i] != NULL; i++)
		argv[i + 4] = args[i];
	rbt_spawn_run(&(rbt_spawn){ .argv = argv,
				    .in = in,
				    .inlen = in == NULL ? 0 : strlen(in) },
		      s);
	if (s->status != status)
		fail_msg("pipeline ended with %d, not %d: %s", s->status,
			 status, s->err);
}

/* Each line once, in order. */
static void want_lines(const char *tsv, size_t n)
{
	for (size_t i = 1; i <= n; i++) {
		char *end;

		assert_int_equal(strtoul(tsv, &end, 10), i);
		tsv = strchr(end, '\n');
		assert_non_null(tsv);
		tsv++;
	}
	assert_int_equal(*tsv, '\0');
}

static char *make_sets(size_t n)
{
	char *in = malloc(64 * n);
	size_t len = 0;

	assert_non_null(in);
	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(in + len, "SET key:%zu \"v %zu\"\n", i,
				       i);
	return in;
}

static void test_a_node_that_refuses_is_named(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char *in = make_sets(N);
	char failed[512];
	char node[64];
	const char *const once[] = { "--format-out=tsv", "--failed", failed,
				     NULL };
	const char *const again[] = { "-Q", failed, NULL };
	size_t nkept;
	size_t len;
	char *kept;
	rbt_spawned s;

	snprintf(failed, sizeof(failed), "/tmp/rbt_failed.%d.txt",
		 rbt_cluster_port(n->cluster, 1));
	snprintf(node, sizeof(node), ": 127.0.0.1:%d: OOM ",
		 rbt_cluster_port(n->cluster, 1));
	rbt_cluster_do(n->cluster, 1, "CONFIG SET maxmemory 1");
	run(n, &s, in, once, 1);
	rbt_cluster_do(n->cluster, 1, "CONFIG SET maxmemory 0");
	want_words(s.err, node);
	want_lines(s.out, N);
	rbt_spawned_free(&s);
	kept = rbt_read_file(failed, &len);
	nkept = rbt_count_lines(kept);
	assert_true(nkept > 0 && nkept < N);
	free(kept);
	run(n, &s, NULL, again, 0);
	assert_int_equal(s.outlen, 0);
	rbt_spawned_free(&s);
	remove(failed);
	free(in);
}

static void test_a_transaction_over_two_slots_is_not_sent(void **state)
{
	static const char *const args[] = { "--transaction", NULL };
	rbt_nodes *n = rbt_nodes_bare(state);
	rbt_spawned s;

	run(n, &s, "SET {a}1 x\nSET {a}2 x\nGET {a}1\n", args, 0);
	assert_string_equal(s.out, "1: OK\n2: OK\n3: \"x\"\n");
	rbt_spawned_free(&s);
	run(n, &s, "SET foo x\nSET bar x\n", args, 2);
	want_words(s.err, "nothing was sent");
	want_words(s.err, "slot");
	rbt_spawned_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_a_node_that_refuses_is_named),
		RBT_NODES(test_a_transaction_over_two_slots_is_not_sent),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}
