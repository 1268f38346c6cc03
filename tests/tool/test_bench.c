/*
 * redisbatch bench on a real server: what it tells, and that it leaves nothing
 * behind. Nothing here asks how fast anything is.
 */
#include "measured.h"

static const json_t *row_of(const json_t *all, const char *method)
{
	const json_t *rows = json_object_get(all, "results");
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "method")),
			   method) == 0)
			return row;
	}
	fail_msg("no row of %s", method);
	return NULL;
}

static json_int_t whole(const json_t *object, const char *name)
{
	const json_t *n = json_object_get(object, name);

	assert_true(json_is_integer(n));
	return json_integer_value(n);
}

static double real(const json_t *object, const char *name)
{
	const json_t *n = json_object_get(object, name);

	assert_true(json_is_real(n));
	return json_real_value(n);
}

static void test_json_tells_what_each_method_does(void **state)
{
	static const struct {
		const char *method;
		json_int_t commands;
	} cases[] = {
		{ "get", 2500 },
		{ "pipeline", 2500 },
		{ "pipeline-chunks", 2500 },
		{ "mget", 1 },
		{ "mget-chunks", 3 },
		{ "window", 0 },
		{ "stream", 0 },
	};
	rbt_live *live = rbt_live_use(state);
	json_t *all =
		json_at(live, "bench",
			ARGS("--keys", "2500", "--rounds", "2", "--json"), 0);

	assert_int_equal(json_array_size(json_object_get(all, "results")),
			 COUNT(cases));
	for (size_t i = 0; i < COUNT(cases); i++) {
		const json_t *row = row_of(all, cases[i].method);
		const json_t *time = json_object_get(row, "time_ms");

		assert_int_equal(whole(row, "keys"), 2500);
		assert_int_equal(whole(row, "runs"), 2);
		assert_int_equal(whole(row, "answered"), 5000);
		assert_int_equal(whole(row, "failed"), 0);
		assert_true(json_is_null(json_object_get(row, "error")));
		if (cases[i].commands > 0)
			assert_int_equal(whole(row, "commands"),
					 cases[i].commands);
		assert_true(real(row, "keys_per_second") > 0);
		assert_true(real(time, "least") > 0);
		assert_true(real(time, "least") <= real(time, "median"));
		assert_true(real(time, "median") <= real(time, "most"));
	}
	assert_true(whole(json_object_get(all, "idle"), "gets") > 0);
	json_decref(all);
	want_no_keys(live);
}

/* They are the commands that their names promise. */
static void test_the_server_gets_the_commands_of_the_method(void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all = json_at(live, "bench",
			      ARGS("--keys", "2500", "--rounds", "1", "--json",
				   "--methods", "mget,mget-chunks"),
			      0);

	json_decref(all);
	assert_int_equal(rbt_live_calls(live, "mget"), 4);
	all = json_at(live, "bench",
		      ARGS("--keys", "2500", "--rounds", "1", "--json",
			   "--methods", "mget-chunks", "--chunk-keys", "100"),
		      0);
	json_decref(all);
	assert_int_equal(rbt_live_calls(live, "mget"), 29);
}

static void test_several_numbers_of_keys_have_a_row_each(void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all = json_at(live, "bench",
			      ARGS("--keys", "1,20,10", "--rounds", "1",
				   "--json", "--methods", "window,get"),
			      0);
	const json_t *rows = json_object_get(all, "results");
	static const json_int_t keys[] = { 1, 1, 20, 20, 10, 10 };

	assert_int_equal(json_array_size(rows), COUNT(keys));
	for (size_t i = 0; i < COUNT(keys); i++) {
		const json_t *row = json_array_get(rows, i);

		assert_int_equal(whole(row, "keys"), keys[i]);
		assert_int_equal(whole(row, "answered"), keys[i]);
	}
	json_decref(all);
	want_no_keys(live);
}

static void test_csv_has_a_heading_and_as_many_fields_in_each_line(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;
	char *line;
	char *rest;
	size_t n = 0;

	run_at(live, "bench",
	       ARGS("--keys", "10", "--csv", "--price", "0.2", "--rounds", "1"),
	       NULL, &s);
	assert_int_equal(s.status, 0);
	assert_int_equal(strncmp(s.out, "method,keys,value_size,", 23), 0);
	for (line = strtok_r(s.out, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		size_t commas = 0;

		for (const char *p = line; *p != '\0'; p++)
			commas += *p == ',';
		assert_int_equal(commas, 17);
		assert_int_equal(line[strlen(line) - 1], '\r');
		n++;
	}
	assert_int_equal(n, 9);
	rbt_spawned_free(&s);
}

/* Whatever there is no number for is a dash, and no error of arithmetic. */
static void test_one_key_and_no_bytes_make_no_nonsense(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	run_at(live, "bench",
	       ARGS("--keys", "1", "--value-size", "0", "--rounds", "1",
		    "--price", "0"),
	       NULL, &s);
	assert_int_equal(s.status, 0);
	assert_null(strstr(s.out, "nan"));
	assert_null(strstr(s.out, "inf"));
	assert_null(strstr(s.out, "failed"));
	assert_non_null(strstr(s.out, "one MGET"));
	assert_int_equal(s.errlen, 0);
	rbt_spawned_free(&s);
	want_no_keys(live);
}

static void test_a_price_is_that_of_a_million_keys(void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all = json_at(live, "bench",
			      ARGS("--keys", "1000", "--rounds", "1", "--json",
				   "--price", "0.5", "--methods", "get,mget"),
			      0);

	assert_true(real(row_of(all, "get"), "price_of_million_keys") == 0.5);
	assert_true(real(row_of(all, "mget"), "price_of_million_keys") ==
		    0.0005);
	json_decref(all);
}

static void test_a_distance_is_paid_for_each_awaited_answer(void **state)
{
	rbt_live *live = rbt_live_use(state);
	json_t *all =
		json_at(live, "bench",
			ARGS("--keys", "20", "--rounds", "1", "--json", "--rtt",
			     "20ms", "--methods", "get,pipeline,window"),
			0);
	static const struct {
		const char *method;
		double least_ms;
	} cases[] = {
		{ "get", 20 * 20 },
		{ "pipeline", 20 },
		{ "window", 20 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const json_t *row = row_of(all, cases[i].method);

		assert_int_equal(whole(row, "answered"), 20);
		assert_true(real(json_object_get(row, "time_ms"), "least") >=
			    cases[i].least_ms);
	}
	assert_int_equal(whole(all, "rtt_ms"), 20);
	json_decref(all);
	want_no_keys(live);
}

static void test_keys_of_others_stay(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET redisbatch:benches 1");
	rbt_do(live->admin, "SET b:1 1");
	run_at(live, "bench",
	       ARGS("--keys", "10", "--rounds", "1", "--methods", "get"), NULL,
	       &s);
	assert_int_equal(s.status, 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	rbt_spawned_free(&s);
}

static void test_a_prefix_that_is_taken_is_refused(void **state)
{
	static const struct {
		const char *key;
		const char *prefix;
	} cases[] = {
		{ "redisbatch:bench:mine", "redisbatch:bench:" },
		{ "a*b[c]1", "a*b[c]" },
		{ "x", "x" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++) {
		rbt_spawned s;

		rbt_do(live->admin, "FLUSHALL");
		rbt_do(live->admin, "SET %s 1", cases[i].key);
		run_at(live, "bench", ARGS("--prefix", cases[i].prefix), NULL,
		       &s);
		want_refusal(&s, 2, cases[i].key);
		rbt_spawned_free(&s);
		assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
		assert_int_equal(rbt_live_calls(live, "mset"), 0);
	}
}

static void test_a_prefix_is_no_pattern(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_do(live->admin, "SET axb 1");
	run_at(live, "bench",
	       ARGS("--prefix", "a*", "--keys", "5", "--rounds", "1"), NULL,
	       &s);
	assert_int_equal(s.status, 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 1);
	rbt_spawned_free(&s);
}

static void test_a_wrong_command_line_sends_nothing(void **state)
{
	static const struct {
		const char *args[3];
		const char *words;
	} cases[] = {
		{ { "--keys", "0" }, "--keys" },
		{ { "--keys", "1,,2" }, "--keys" },
		{ { "--keys", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17" },
		  "at most 16" },
		{ { "--keys", "" }, "--keys" },
		{ { "--keys", "101M" }, "--keys" },
		{ { "--rounds", "0" }, "--rounds" },
		{ { "--methods", "fast" }, "'fast'" },
		{ { "--value-size", "513M" }, "--value-size" },
		{ { "--rtt", "0" }, "--rtt" },
		{ { "--prefix", "" }, "--prefix" },
		{ { "--price", "nan" }, "--price" },
		{ { "--price", "-1" }, "--price" },
		{ { "--price", "1x" }, "--price" },
		{ { "more" }, "'more'" },
	};
	rbt_live *live = rbt_live_use(state);

	for (size_t i = 0; i < COUNT(cases); i++)
		want_wrong_usage(live, "bench", cases[i].args, cases[i].words);
	assert_int_equal(rbt_live_calls(live, "scan"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_json_tells_what_each_method_does),
		RBT_LIVE(test_the_server_gets_the_commands_of_the_method),
		RBT_LIVE(test_several_numbers_of_keys_have_a_row_each),
		RBT_LIVE(
			test_csv_has_a_heading_and_as_many_fields_in_each_line),
		RBT_LIVE(test_one_key_and_no_bytes_make_no_nonsense),
		RBT_LIVE(test_a_price_is_that_of_a_million_keys),
		RBT_LIVE(test_a_distance_is_paid_for_each_awaited_answer),
		RBT_LIVE(test_keys_of_others_stay),
		RBT_LIVE(test_a_prefix_that_is_taken_is_refused),
		RBT_LIVE(test_a_prefix_is_no_pattern),
		RBT_LIVE(test_a_wrong_command_line_sends_nothing),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
