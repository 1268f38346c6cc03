/*
 * redisbatch bench where it does not end as it should: signals, servers that
 * refuse or go away, and pictures that cannot be drawn.
 */
#include "measured.h"

#include <stdio.h>
#include <sys/stat.h>

static void test_a_signal_ends_it_and_removes_the_keys(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM };
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(signals); i++) {
		pid_t pid;

		rbt_do(live->admin, "CONFIG RESETSTAT");
		pid = start_at(live, "bench",
			       ARGS("--rounds", "1000", "--keys", "1000"));
		await_calls(live, pid, "mget", 3);
		assert_int_equal(kill(pid, signals[i]), 0);
		assert_int_equal(end_of(pid), 128 + signals[i]);
		want_no_keys(live);
	}
}

/* In the middle of writing them. */
static void test_a_signal_while_keys_are_written_removes_them(void **state)
{
	rbt_live *live = rbt_live_use(state);
	pid_t pid =
		start_at(live, "bench", ARGS("--keys", "1M", "--rate", "100"));

	await_calls(live, pid, "mset", 5);
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(end_of(pid), 130);
	/* Of the thousand that it would have been. */
	assert_true(rbt_live_calls(live, "mset") < 900);
	want_no_keys(live);
}

static void test_a_password_that_is_missing_is_told_once(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "CONFIG SET requirepass secret");
	run_at(live, "bench", ARGS("--keys", "10"), NULL, &s);
	rbt_do(live->admin, "CONFIG SET requirepass %b", "", (size_t)0);
	want_refusal(&s, 3, "NOAUTH");
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_a_replica_takes_no_keys_and_that_is_told_once(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "REPLICAOF 127.0.0.1 1");
	run_at(live, "bench", ARGS("--keys", "10k"), NULL, &s);
	rbt_do(live->admin, "REPLICAOF NO ONE");
	want_refusal(&s, 3, "READONLY");
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_a_server_without_memory_keeps_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	char most[32];

	snprintf(most, sizeof(most), "%llu",
		 (unsigned long long)rbt_live_info(live, "memory",
						   "used_memory") +
			 2000000);
	rbt_do(live->admin, "CONFIG SET maxmemory %s", most);
	run_at(live, "bench", ARGS("--keys", "100k"), NULL, &s);
	rbt_do(live->admin, "CONFIG SET maxmemory 0");
	want_refusal(&s, 3, "OOM");
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_nobody_at_the_port_is_told_once(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *argv[] = { rbt_tool(), "bench", "-s", "/nowhere/at/all",
			       NULL };
	rbt_spawned s;

	(void)live;
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, &s);
	want_refusal(&s, 3, "/nowhere/at/all");
	rbt_spawned_free(&s);
}

/* Keys that were written and may not be read any more: every read fails. */
static void test_errors_are_no_throughput(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	json_t *all;
	const json_t *row;

	rbt_do(live->admin, "ACL SETUSER default -mget");
	run_at(live, "bench",
	       ARGS("--keys", "10", "--rounds", "2", "--methods", "mget",
		    "--json"),
	       NULL, &s);
	rbt_do(live->admin, "ACL SETUSER default +mget");
	assert_int_equal(s.status, 3);
	all = json_from(&s);
	row = json_array_get(json_object_get(all, "results"), 0);
	assert_int_equal(json_integer_value(json_object_get(row, "failed")),
			 20);
	assert_int_equal(json_integer_value(json_object_get(row, "answered")),
			 0);
	assert_true(json_real_value(json_object_get(row, "keys_per_second")) ==
		    0);
	assert_true(json_is_null(
		json_object_get(json_object_get(row, "time_ms"), "median")));
	assert_non_null(strstr(json_string_value(json_object_get(row, "error")),
			       "NOPERM"));
	json_decref(all);
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_some_errors_are_counted_and_shown(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "ACL SETUSER default -mget");
	run_at(live, "bench",
	       ARGS("--keys", "10", "--rounds", "1", "--methods", "get,mget"),
	       NULL, &s);
	rbt_do(live->admin, "ACL SETUSER default +mget");
	assert_int_equal(s.status, 1);
	assert_non_null(strstr(s.out, "failed"));
	assert_non_null(strstr(s.out, "NOPERM"));
	assert_null(strstr(s.out, "nan"));
	assert_null(strstr(s.out, "inf"));
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_a_server_that_dies_ends_it(void **state)
{
	rbt_live *live = rbt_live_use(state);
	pid_t pid = start_at(
		live, "bench",
		ARGS("--rounds", "1000", "--keys", "1000", "--attempts", "1"));

	await_calls(live, pid, "mget", 3);
	rbt_live_kill(live);
	assert_int_equal(end_of(pid), 3);
}

static void test_output_that_cannot_be_written_is_told(void **state)
{
	rbt_live *live = rbt_live_use(state);
	const char *argv[] = {
		"/bin/sh",
		"-c",
		"exec \"$0\" bench -s \"$1\" --keys 1 --rounds 1 >/dev/full",
		rbt_tool(),
		rbt_server_socket(live->server),
		NULL
	};
	rbt_spawned s;

	if (access("/dev/full", W_OK) != 0)
		skip();
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, &s);
	want_refusal(&s, 4, "No space left");
	rbt_spawned_free(&s);
	want_no_keys(live);
}

/* --------------------------------------------------------------- pictures -- */

/* A program of that name in the server's directory, which is all of PATH that
 * comes before the system's. */
static void make_gnuplot(const rbt_live *live, const char *text, char *env,
			 size_t size)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/gnuplot",
		 rbt_server_dir(live->server));
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(env, size, "PATH=%s:/usr/bin:/bin",
		 rbt_server_dir(live->server));
}

static void draw(const rbt_live *live, const char *keys, const char *path,
		 const char *env, rbt_spawned *s)
{
	const char *const envs[] = { env, NULL };

	run_at(live, "bench",
	       ARGS("--keys", keys, "--rounds", "1", "--methods", "get,mget",
		    "--plot", path),
	       envs, s);
	want_no_keys(live);
}

static void test_without_gnuplot_all_else_is_done(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	draw(live, "10", "/nowhere/p.svg", "PATH=/nowhere", &s);
	assert_int_equal(s.status, 4);
	assert_non_null(strstr(s.out, "one MGET"));
	assert_non_null(strstr(s.err, "gnuplot"));
	assert_int_equal(count_lines(s.err), 1);
	rbt_spawned_free(&s);
}

static void test_a_picture_that_cannot_be_written_ends_it_before_the_start(
	void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	char env[600];

	make_gnuplot(live, "#!/bin/sh\n", env, sizeof(env));
	draw(live, "10", "/nowhere/p.svg", env, &s);
	want_refusal(&s, 4, "/nowhere/p.svg");
	assert_int_equal(rbt_live_calls(live, "mset"), 0);
	rbt_spawned_free(&s);
}

static void want_in_file(const char *path, const char *words)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_non_null(strstr(text, words));
}

static void test_gnuplot_is_told_what_was_measured(void **state)
{
	static const char fake[] =
		"#!/bin/sh\nf=\ncat >\"$0.in\"\n"
		"f=$(sed -n \"s/^set output '\\(.*\\)'$/\\1/p\" \"$0.in\")\n"
		"cp \"$0.in\" \"$f\"\n";
	static const struct {
		const char *keys;
		const char *words[2];
	} cases[] = {
		{ "10", { "with boxes", "\"one MGET\"" } },
		{ "1,10", { "with linespoints title 'one MGET'", "$m3" } },
	};
	rbt_live *live = rbt_live_use(state);
	char env[600];
	char path[512];

	make_gnuplot(live, fake, env, sizeof(env));
	snprintf(path, sizeof(path), "%s/p.svg", rbt_server_dir(live->server));
	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;

		draw(live, cases[i].keys, path, env, &s);
		if (s.status != 0)
			fail_msg("%s", s.err);
		want_in_file(path, cases[i].words[0]);
		want_in_file(path, cases[i].words[1]);
		rbt_spawned_free(&s);
	}
}

static void test_a_gnuplot_that_fails_leaves_no_file(void **state)
{
	static const char half[] =
		"#!/bin/sh\n"
		"f=$(sed -n \"s/^set output '\\(.*\\)'$/\\1/p\")\n"
		"echo '<svg' >\"$f\"\nexit 1\n";
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	char env[600];
	char path[512];

	make_gnuplot(live, half, env, sizeof(env));
	snprintf(path, sizeof(path), "%s/q.svg", rbt_server_dir(live->server));
	draw(live, "10", path, env, &s);
	assert_int_equal(s.status, 4);
	assert_non_null(strstr(s.err, "q.svg"));
	assert_int_equal(access(path, F_OK), -1);
	rbt_spawned_free(&s);
}

static void test_the_real_gnuplot_draws(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	char path[512];

	/* Another test has a gnuplot of its own; this is a second opinion. */
	if (system("command -v gnuplot >/dev/null") != 0) {
		print_message("there is no gnuplot\n");
		return;
	}
	snprintf(path, sizeof(path), "%s/r's.svg",
		 rbt_server_dir(live->server));
	run_at(live, "bench",
	       ARGS("--keys", "1,10", "--rounds", "1", "--plot", path), NULL,
	       &s);
	if (s.status != 0)
		fail_msg("%s", s.err);
	want_in_file(path, "<svg");
	want_in_file(path, "one MGET");
	rbt_spawned_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_signal_ends_it_and_removes_the_keys),
		RBT_LIVE(test_a_signal_while_keys_are_written_removes_them),
		RBT_LIVE(test_a_password_that_is_missing_is_told_once),
		RBT_LIVE(test_a_replica_takes_no_keys_and_that_is_told_once),
		RBT_LIVE(test_a_server_without_memory_keeps_nothing),
		RBT_LIVE(test_nobody_at_the_port_is_told_once),
		RBT_LIVE(test_errors_are_no_throughput),
		RBT_LIVE(test_some_errors_are_counted_and_shown),
		RBT_LIVE(test_a_server_that_dies_ends_it),
		RBT_LIVE(test_output_that_cannot_be_written_is_told),
		RBT_LIVE(test_without_gnuplot_all_else_is_done),
		RBT_LIVE(
			test_a_picture_that_cannot_be_written_ends_it_before_the_start),
		RBT_LIVE(test_gnuplot_is_told_what_was_measured),
		RBT_LIVE(test_a_gnuplot_that_fails_leaves_no_file),
		RBT_LIVE(test_the_real_gnuplot_draws),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
