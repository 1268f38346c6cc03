/*
 * redisbatch bench and tune on a cluster.
 */
#include "cluster.h"
#include "measured.h"

enum { PRIMARIES = 3 };

static int start_cluster(void **state)
{
	rbt_cluster_options o = { .primaries = PRIMARIES };

	*state = rbt_server_available() ? rbt_cluster_start(&o) : NULL;
	return 0;
}

static int stop_cluster(void **state)
{
	rbt_cluster_stop(*state);
	return 0;
}

static rbt_cluster *use(void **state)
{
	if (*state == NULL) {
		print_message("%s\n", rbt_cluster_why_not());
		skip();
	}
	return *state;
}

static void run_there(rbt_cluster *c, const char *command,
		      const char *const *args, rbt_spawned *s)
{
	const char *argv[MOST_ARGS] = { rbt_tool(), command, "-u" };
	char uri[256];
	size_t n = 4;

	rbt_cluster_uri(c, 1, uri, sizeof(uri));
	argv[3] = uri;
	while (*args != NULL && n + 1 < MOST_ARGS)
		argv[n++] = *args++;
	argv[n] = NULL;
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, s);
}

static long long keys_of(rbt_cluster *c)
{
	long long n = 0;

	for (size_t i = 0; i < PRIMARIES; i++)
		n += rbt_ask_number(rbt_cluster_admin(c, i), "DBSIZE");
	return n;
}

static void test_all_methods_read_every_key_of_a_cluster(void **state)
{
	rbt_cluster *c = use(state);
	rbt_spawned s;
	json_t *all;
	const json_t *rows;
	size_t i;
	json_t *row;

	run_there(c, "bench", ARGS("--keys", "500", "--rounds", "1", "--json"),
		  &s);
	if (s.status != 0)
		fail_msg("%d: %s", s.status, s.err);
	all = json_from(&s);
	rows = json_object_get(all, "results");
	assert_int_equal(json_array_size(rows), 7);
	json_array_foreach(rows, i, row) assert_int_equal(
		json_integer_value(json_object_get(row, "answered")), 500);
	json_decref(all);
	rbt_spawned_free(&s);
	assert_int_equal(keys_of(c), 0);
}

/* Whichever node it is on. */
static void test_one_key_with_the_prefix_at_any_node_is_enough(void **state)
{
	/* Of the slots 5061, 7365 and 12182: one of each node. */
	static const char *const keys[PRIMARIES] = { "redisbatch:bench:{bar}",
						     "redisbatch:bench:{c}",
						     "redisbatch:bench:{foo}" };
	rbt_cluster *c = use(state);

	for (size_t i = 0; i < COUNT(keys); i++) {
		rbt_spawned s;

		assert_true(rbt_cluster_do(c, i, "SET %s 1", keys[i]));
		run_there(c, "bench", ARGS("--keys", "10"), &s);
		assert_true(rbt_cluster_do(c, i, "DEL %s", keys[i]));
		want_refusal(&s, 2, keys[i]);
		rbt_spawned_free(&s);
		assert_int_equal(keys_of(c), 0);
	}
}

static void test_tuning_works_on_a_cluster(void **state)
{
	rbt_cluster *c = use(state);
	rbt_spawned s;

	run_there(c, "tune",
		  ARGS("--keys", "500", "--budget", "300ms", "--guard", "30s"),
		  &s);
	if (s.status != 0)
		fail_msg("%d: %s", s.status, s.err);
	assert_non_null(strstr(s.out, "--chunk-keys"));
	rbt_spawned_free(&s);
	assert_int_equal(keys_of(c), 0);
}

static void test_no_distance_is_added_to_a_cluster(void **state)
{
	rbt_cluster *c = use(state);
	rbt_spawned s;

	run_there(c, "bench", ARGS("--rtt", "1ms"), &s);
	assert_int_equal(s.status, 2);
	assert_non_null(strstr(s.err, "--rtt"));
	assert_int_equal(s.outlen, 0);
	rbt_spawned_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_methods_read_every_key_of_a_cluster),
		cmocka_unit_test(
			test_one_key_with_the_prefix_at_any_node_is_enough),
		cmocka_unit_test(test_tuning_works_on_a_cluster),
		cmocka_unit_test(test_no_distance_is_added_to_a_cluster),
	};

	return cmocka_run_group_tests(tests, start_cluster, stop_cluster);
}
