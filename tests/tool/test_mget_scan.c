/*
 * Keys that SCAN finds: of a server, of each primary of a cluster, and what
 * befalls them before they are read.
 */
#include "cluster.h"
#include "mget_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 2000 };

/* Which of the N keys stand in the output, each with its value. */
static size_t count_keys(const char *out, bool seen[N])
{
	size_t n = 0;
	int i;
	int value;

	memset(seen, 0, N * sizeof(*seen));
	while (*out != '\0') {
		assert_int_equal(sscanf(out, "key:%d\t%d\n", &i, &value), 2);
		assert_int_equal(i, value);
		assert_true(i >= 0 && i < N);
		n += !seen[i];
		seen[i] = true;
		out = strchr(out, '\n') + 1;
	}
	return n;
}

static void want_all(rbt_spawned *s)
{
	bool seen[N];

	if (s->status != 0)
		fail_msg("%d: %s", s->status, s->err);
	assert_int_equal(count_keys(s->out, seen), N);
	rbt_spawned_free(s);
}

static void test_all_keys_that_match_are_found(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	for (int i = 0; i < N; i++)
		rbt_do(live->admin, "MSET key:%d %d other:%d x", i, i, i);
	mget_run(live, "", MGET_ARGV("--scan", "key:*", "--count", "50"), &s);
	want_all(&s);
	mget_run(live, "", MGET_ARGV("--scan", "key:*"), &s);
	want_all(&s);
	mget_run(live, "", MGET_ARGV("--scan", "nothing*"), &s);
	assert_int_equal(s.status, 0);
	assert_int_equal(s.outlen, 0);
	assert_non_null(strstr(s.err, "0 keys"));
	rbt_spawned_free(&s);
}

/* MGET answers nil to what is no string, as it does to what is gone. */
static void test_a_key_that_is_gone_when_it_is_read_is_missing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "RPUSH list x");
	rbt_do(live->admin, "SET string x");
	mget_run(live, "", MGET_ARGV("--scan", "*"), &s);
	assert_int_equal(s.status, 0);
	assert_non_null(strstr(s.out, "list\t\\N\n"));
	assert_non_null(strstr(s.out, "string\tx\n"));
	assert_non_null(strstr(s.err, "1 missing"));
	rbt_spawned_free(&s);
}

static void test_a_user_who_may_not_scan_is_told_so(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char uri[512];
	rbt_spawned s;

	rbt_do(live->admin, "ACL SETUSER noscan on >word ~* +@all -scan");
	snprintf(uri, sizeof(uri), "unix://noscan:word@%s",
		 rbt_server_socket(live->server));
	rbt_spawn_run(&(rbt_spawn){ .argv = MGET_ARGV(rbt_tool(), "mget", "-u",
						      uri, "--scan", "*") },
		      &s);
	rbt_do(live->admin, "ACL DELUSER noscan");
	assert_int_equal(s.status, 3);
	assert_non_null(strstr(s.err, "SCAN"));
	assert_non_null(strstr(s.err, "NOPERM"));
	rbt_spawned_free(&s);
}

static void test_the_help_says_what_scan_does_not_promise(void **state)
{
	rbt_spawned s;

	(void)state;
	rbt_spawn_run(
		&(rbt_spawn){ .argv = MGET_ARGV(rbt_tool(), "mget", "--help") },
		&s);
	assert_int_equal(s.status, 0);
	assert_non_null(strstr(s.out, "may repeat"));
	assert_non_null(strstr(s.out, "gone when it is read"));
	assert_int_equal(s.errlen, 0);
	rbt_spawned_free(&s);
}

static void test_each_primary_of_a_cluster_is_scanned(void **state)
{
	const rbt_cluster_options o = { .primaries = 3 };
	rbt_cluster *c;
	rb_client *client;
	char uri[512];
	rbt_spawned s;

	(void)state;
	c = rbt_cluster_start(&o);
	if (c == NULL)
		fail_msg("%s", rbt_cluster_why_not());
	rbt_cluster_uri(c, 1, uri, sizeof(uri));
	assert_int_equal(rb_client_open(&client, uri, NULL), RB_OK);
	for (int i = 0; i < N; i++) {
		char key[32];
		char value[32];
		const char *keys[] = { key };
		const char *values[] = { value };
		rb_result *res;

		snprintf(key, sizeof(key), "key:%d", i);
		snprintf(value, sizeof(value), "%d", i);
		assert_int_equal(rb_mset_chunked(client, keys, NULL, values,
						 NULL, 1, NULL, &res),
				 RB_OK);
		rb_result_free(res);
	}
	rb_client_free(client);
	rbt_spawn_run(&(rbt_spawn){ .argv = MGET_ARGV(rbt_tool(), "mget", "-u",
						      uri, "--scan", "key:*",
						      "--count", "100") },
		      &s);
	rbt_cluster_stop(c);
	want_all(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RBT_LIVE(test_all_keys_that_match_are_found),
		RBT_LIVE(test_a_key_that_is_gone_when_it_is_read_is_missing),
		RBT_LIVE(test_a_user_who_may_not_scan_is_told_so),
		cmocka_unit_test(test_the_help_says_what_scan_does_not_promise),
		cmocka_unit_test(test_each_primary_of_a_cluster_is_scanned),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
