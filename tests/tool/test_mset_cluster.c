/*
 * redisbatch mset, exists and del on a cluster: a failure names the node that
 * refused, and a second run completes the job.
 */
#include "nodes.h"
#include "tooling.h"

#include <inttypes.h>

enum { N = 3000 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

static void run(const rbt_nodes *n, rbt_spawned *s, const char *in,
		size_t inlen, const char *const *args, int status)
{
	const char *argv[RBT_TOOL_ARGS] = { rbt_tool(), args[0], "-u" };
	char uri[256];

	rbt_cluster_uri(n->cluster, 1, uri, sizeof(uri));
	argv[3] = uri;
	for (size_t i = 1; args[i] != NULL; i++)
		argv[i + 3] = args[i];
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = in, .inlen = inlen },
		      s);
	if (s->status != status)
		fail_msg("%s ended with %d, not %d: %s", args[0], s->status,
			 status, s->err);
}

static void test_a_node_that_refuses_is_named(void **state)
{
	rbt_nodes *n = rbt_nodes_bare(state);
	char node[64];
	char failed[512];
	const char *const once[] = { "mset", "--failed", failed, NULL };
	const char *const again[] = { "mset", failed, NULL };
	const char *const count[] = { "exists", "-k", "-", NULL };
	size_t len;
	char *in = rbt_make_tsv("key:", N, &len);
	size_t nkept;
	char *kept;
	rbt_spawned s;

	snprintf(failed, sizeof(failed), "/tmp/rbt_failed.%d.tsv",
		 rbt_cluster_port(n->cluster, 1));
	snprintf(node, sizeof(node), ": 127.0.0.1:%d: OOM ",
		 rbt_cluster_port(n->cluster, 1));
	rbt_cluster_do(n->cluster, 1, "CONFIG SET maxmemory 1");
	run(n, &s, in, len, once, 1);
	rbt_cluster_do(n->cluster, 1, "CONFIG SET maxmemory 0");
	want_words(s.err, node);
	rbt_spawned_free(&s);
	kept = rbt_read_file(failed, &len);
	nkept = rbt_count_lines(kept);
	assert_true(nkept > 0 && nkept <= N);
	run(n, &s, NULL, 0, again, 0);
	rbt_spawned_free(&s);
	free(kept);
	remove(failed);

	/* The keys alone. */
	len = 0;
	for (size_t i = 0; i < N; i++)
		len += (size_t)sprintf(in + len, "key:%zu\n", i);
	run(n, &s, in, len, count, 0);
	assert_string_equal(s.out, "3000\n");
	rbt_spawned_free(&s);
	free(in);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_a_node_that_refuses_is_named),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}
