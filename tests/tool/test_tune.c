/*
 * redisbatch tune on a real server: that what it prints belongs together, that
 * it ends in time, and that it leaves nothing behind. Which setting wins is not
 * asked.
 */
#include "measured.h"

#include <stdio.h>

/* So much that every setting keeps to it. */
#define GENEROUS "--guard", "30s"

static json_int_t whole(const json_t *object, const char *name)
{
	const json_t *n = json_object_get(object, name);

	assert_true(json_is_integer(n));
	return json_integer_value(n);
}

static void want_lines(const json_t *choice, json_int_t chunk,
		       json_int_t window)
{
	const json_t *c = json_object_get(choice, "c");
	char want[80];

	snprintf(want, sizeof(want), "--chunk-keys %d --window %d", (int)chunk,
		 (int)window);
	assert_string_equal(
		json_string_value(json_object_get(choice, "options")), want);
	assert_int_equal(json_array_size(c), 4);
	snprintf(want, sizeof(want), "o.chunk_keys = %d;", (int)chunk);
	assert_string_equal(json_string_value(json_array_get(c, 2)), want);
	snprintf(want, sizeof(want), "o.window = %d;", (int)window);
	assert_string_equal(json_string_value(json_array_get(c, 3)), want);
}

static void test_the_choice_is_of_the_curve_and_said_three_times(void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all = json_at(live, "tune",
			      ARGS("--json", "--budget", "1s", GENEROUS), 0);
	const json_t *choice = json_object_get(all, "choice");
	const json_t *setting = json_object_get(choice, "setting");
	const json_t *curve = json_object_get(all, "curve");
	json_int_t chunk = whole(setting, "chunk_keys");
	json_int_t window = whole(setting, "window");
	bool found = false;
	size_t i;
	json_t *seen;

	want_lines(choice, chunk, window);
	json_array_foreach(curve, i, seen)
	{
		assert_true(
			json_is_true(json_object_get(seen, "within_bound")));
		assert_true(whole(seen, "keys_per_second") > 0);
		if (whole(seen, "chunk_keys") == chunk &&
		    whole(seen, "window") == window)
			found = true;
	}
	assert_true(found);
	assert_true(json_array_size(curve) > 2);
	assert_int_equal(whole(all, "failed"), 0);
	json_decref(all);
	want_no_keys(live);
}

static void test_the_table_has_options_and_lines_of_c(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	const char *options;
	unsigned chunk;
	unsigned window;
	char line[80];

	run_at(live, "tune", ARGS("--budget", "200ms", GENEROUS), NULL, &s);
	assert_int_equal(s.status, 0);
	options = strstr(s.out, "--chunk-keys");
	assert_non_null(options);
	assert_int_equal(
		sscanf(options, "--chunk-keys %u --window %u", &chunk, &window),
		2);
	snprintf(line, sizeof(line), "o.chunk_keys = %u;\n  o.window = %u;\n",
		 chunk, window);
	assert_non_null(strstr(s.out, line));
	assert_non_null(strstr(s.out, "rb_options_init(&o);"));
	assert_non_null(strstr(s.out, "<-"));
	assert_null(strstr(s.out, "nan"));
	rbt_spawned_free(&s);
	want_no_keys(live);
}

/* The library cuts by bytes, too: what it would cut is not tried. */
static void test_chunks_that_pass_the_bounds_on_bytes_are_not_tried(
	void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all = json_at(live, "tune",
			      ARGS("--json", "--budget", "500ms", GENEROUS,
				   "--value-size", "100k", "--keys", "20"),
			      0);
	const json_t *curve = json_object_get(all, "curve");
	size_t i;
	json_t *seen;

	json_array_foreach(curve, i, seen)
	{
		json_int_t chunk = whole(seen, "chunk_keys");

		assert_true(chunk <= 40);
		assert_true(whole(seen, "window") == 1 ||
			    chunk * whole(seen, "window") <= 80);
	}
	assert_true(json_array_size(curve) > 0);
	json_decref(all);
	want_no_keys(live);
}

static void test_a_budget_is_enough_from_afar_too(void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all = json_at(live, "tune",
			      ARGS("--json", "--budget", "300ms", GENEROUS,
				   "--rtt", "20ms", "--keys", "1k"),
			      0);

	assert_true(json_is_false(json_object_get(all, "complete")));
	assert_true(json_array_size(json_object_get(all, "curve")) > 0);
	json_decref(all);
	want_no_keys(live);
}

static void test_a_signal_ends_tuning_and_removes_the_keys(void **state)
{
	rbt_live *live = rbt_live_use(state);
	pid_t pid =
		start_at(live, "tune", ARGS("--budget", "1h", "--keys", "1k"));

	await_calls(live, pid, "mget", 3);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(end_of(pid), 143);
	want_no_keys(live);
}

static void test_a_prefix_that_is_taken_is_refused_by_tune(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET redisbatch:bench:mine 1");
	run_at(live, "tune", ARGS(NULL), NULL, &s);
	want_refusal(&s, 2, "redisbatch:bench:mine");
	rbt_spawned_free(&s);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
}

static void test_reads_that_all_fail_choose_nothing(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "ACL SETUSER default -mget");
	run_at(live, "tune", ARGS("--budget", "1s", "--keys", "10"), NULL, &s);
	rbt_do(live->admin, "ACL SETUSER default +mget");
	assert_int_equal(s.status, 3);
	assert_non_null(strstr(s.err, "NOPERM"));
	assert_int_equal(count_lines(s.err), 1);
	assert_null(strstr(s.out, "--chunk-keys"));
	assert_non_null(strstr(s.out, "failed"));
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_a_server_that_dies_ends_tuning(void **state)
{
	rbt_live *live = rbt_live_use(state);
	pid_t pid = start_at(
		live, "tune",
		ARGS("--budget", "1h", "--keys", "1k", "--attempts", "1"));

	await_calls(live, pid, "mget", 3);
	rbt_live_kill(live);
	assert_int_equal(end_of(pid), 3);
}

static void test_a_wrong_command_line_of_tune_sends_nothing(void **state)
{
	static const struct {
		const char *args[3];
		const char *words;
	} cases[] = {
		{ { "--keys", "0" }, "--keys" },
		{ { "--guard", "0" }, "--guard" },
		{ { "--guard", "fast" }, "--guard" },
		{ { "--budget", "0s" }, "--budget" },
		{ { "--budget", "2h" }, "--budget" },
		{ { "more" }, "'more'" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++)
		want_wrong_usage(live, "tune", cases[i].args, cases[i].words);
	assert_int_equal(rbt_live_calls(live, "scan"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_the_choice_is_of_the_curve_and_said_three_times),
		RBT_LIVE(test_the_table_has_options_and_lines_of_c),
		RBT_LIVE(
			test_chunks_that_pass_the_bounds_on_bytes_are_not_tried),
		RBT_LIVE(test_a_budget_is_enough_from_afar_too),
		RBT_LIVE(test_a_signal_ends_tuning_and_removes_the_keys),
		RBT_LIVE(test_a_prefix_that_is_taken_is_refused_by_tune),
		RBT_LIVE(test_reads_that_all_fail_choose_nothing),
		RBT_LIVE(test_a_server_that_dies_ends_tuning),
		RBT_LIVE(test_a_wrong_command_line_of_tune_sends_nothing),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
