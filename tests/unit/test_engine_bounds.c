/*
 * What bounds a batch: the window, predicted bytes, the pace, and what a
 * result may hold.
 */
#include "rig.h"
#include "unit.h"

static rig r;

static const char hundred[] =
	"0123456789012345678901234567890123456789012345678901234567890123"
	"456789012345678901234567890123456789";

/* ---------------------------------------------------------------- window -- */

static void test_a_given_window_is_filled_and_never_passed(void **state)
{
	static const size_t windows[] = { 1, 2, 5, 50 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(windows); i++) {
		rig_init(&r, 300, 4);
		rig_serve(&r, LIT("v"), 20000, 100);
		r.options.window = windows[i];
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(r.most_in_flight, windows[i]);
		rig_fini(&r);
	}
}

static void test_a_window_by_itself_covers_the_distance(void **state)
{
	(void)state;
	rig_init(&r, 1000, 4);
	rig_serve(&r, LIT("v"), 20000, 1000);
	r.options.window = 0;
	r.options.chunk_keys = 1000;
	rbi_window_init(&r.engine.window, 0, 1000);
	assert_int_equal(r.engine.window.chunks, 1);
	r.options.chunk_keys = 2;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_in_range(r.most_in_flight, 20, RBI_OPTIONS_WINDOW_MAX);
	rig_fini(&r);
}

static void test_a_window_by_itself_ends_at_its_maximum(void **state)
{
	(void)state;
	rig_init(&r, 1000, 4);
	rig_serve(&r, LIT("v"), 1000000, 1);
	r.options.window = 0;
	rig_run(&r);
	assert_int_equal(r.most_in_flight, RBI_OPTIONS_WINDOW_MAX);
	rig_fini(&r);
}

static void test_predicted_bytes_in_flight_bound_the_window(void **state)
{
	static const struct {
		size_t bytes;
		size_t want;
	} cases[] = {
		{ 1, 1 }, { 1999, 1 }, { 2000, 2 }, { 2500, 2 }, { 100000, 20 }
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rig_init(&r, 300, 4);
		r.options.window = 20;
		r.options.chunk_keys = 10;
		r.options.window_reply_bytes = cases[i].bytes;
		r.learned.entry_reply = 100;
		/* Keep the prediction: a hundred bytes for each value. */
		rig_serve(&r, hundred, 93, 20000, 100);
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(r.most_in_flight, cases[i].want);
		rig_fini(&r);
	}
}

static void test_little_waits_that_the_socket_does_not_take(void **state)
{
	(void)state;
	rig_init(&r, 3000, 1000);
	r.options.window = 50;
	r.options.chunk_keys = 20;
	r.deaf = true;
	r.engine.deadline_us = RIG_BEGIN_US + 1000;
	assert_true(rig_begin(&r));
	assert_false(rbi_engine_step(&r.engine, r.now_us));
	assert_true(r.lane.out.pending > 0);
	assert_true(r.lane.out.pending <= 64 * 1024 + 21000);
	rbi_engine_run(&r.engine, &r.clock);
	rig_fini(&r);
}

/* ---------------------------------------------------------------- chunks -- */

static void test_values_seen_bound_the_chunks_that_follow(void **state)
{
	size_t i;

	(void)state;
	rig_init(&r, 100, 4);
	rig_serve(&r, hundred, 100, 1000, 10);
	r.options.chunk_keys = 20;
	r.options.chunk_reply_bytes = 600;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	/* Nothing was known of the first. */
	assert_int_equal(rb_result_chunk(r.res, 0)->count, 20);
	for (i = 1; i < rb_result_chunks(r.res); i++) {
		const rb_chunk *chunk = rb_result_chunk(r.res, i);

		assert_in_range(chunk->count, 1, 5);
		assert_true(chunk->reply_bytes <= 600);
	}
	assert_in_range(r.learned.entry_reply, 108, 112);
	rig_fini(&r);
}

static void test_what_was_learned_holds_for_the_first_chunk_too(void **state)
{
	(void)state;
	rig_init(&r, 100, 4);
	rig_serve(&r, hundred, 100, 1000, 10);
	r.options.chunk_keys = 20;
	r.options.chunk_reply_bytes = 600;
	r.learned.entry_reply = 110;
	rig_run(&r);
	assert_int_equal(rb_result_chunk(r.res, 0)->count, 5);
	rig_fini(&r);
}

static void test_a_prediction_grows_at_once_and_shrinks_slowly(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	r.learned.entry_reply = 1000;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n");
	rig_run(&r);
	assert_in_range(r.learned.entry_reply, 500, 999);
	rig_fini(&r);

	rig_init(&r, 1, 1);
	r.learned.entry_reply = 2;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n");
	rig_run(&r);
	assert_in_range(r.learned.entry_reply, 11, 12);
	rig_fini(&r);
}

static void test_errors_teach_nothing_about_values(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	rig_say(&r, 1, "-WRONGTYPE Operation against a key\r\n");
	rig_run(&r);
	assert_int_equal(r.learned.entry_reply, 0);
	rig_fini(&r);
}

/* ------------------------------------------------------------------ pace -- */

static void test_commands_go_no_faster_than_the_pace(void **state)
{
	size_t i;

	(void)state;
	rig_init(&r, 30, 4);
	rig_serve(&r, LIT("v"), 1000, 10);
	r.options.window = 10;
	r.options.chunk_keys = 5;
	r.options.commands_per_second = 10;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(r.commands, 6);
	for (i = 0; i < 6; i++)
		assert_int_equal(r.sent_at_us[i], RIG_BEGIN_US + i * 100000);
	rig_fini(&r);
}

static void test_a_pace_does_not_hide_the_deadline(void **state)
{
	(void)state;
	rig_init(&r, 30, 4);
	rig_serve(&r, LIT("v"), 1000, 10);
	r.options.commands_per_second = 1;
	r.engine.deadline_us = RIG_BEGIN_US + 2500000;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_TIMEOUT);
	assert_int_equal(r.now_us, RIG_BEGIN_US + 2500000);
	assert_int_equal(r.commands, 3);
	assert_int_equal(rig_check_sums(&r), 27);
	rig_fini(&r);
}

static void test_idle_time_is_spent_waiting(void **state)
{
	(void)state;
	rig_init(&r, 10, 4);
	rig_serve(&r, LIT("v"), 50000, 10);
	r.options.commands_per_second = 4;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	/* A look for each thing that happens, not one each moment. */
	assert_true(r.spins < 60);
	rig_fini(&r);
}

/* ---------------------------------------------------------------- result -- */

static void test_a_value_too_long_fails_alone(void **state)
{
	static const char wire[] = "*3\r\n$1\r\na\r\n$20\r\n"
				   "01234567890123456789\r\n$1\r\nc\r\n"
				   "*1\r\n$1\r\nd\r\n";
	size_t piece;

	(void)state;
	for (piece = 0; piece < sizeof(wire); piece++) {
		rig_init(&r, 4, 1);
		r.options.chunk_keys = 3;
		r.options.window = 2;
		r.options.max_value_bytes = 10;
		r.recv_max = piece;
		rig_say(&r, 1, wire);
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 1);
		rig_check_chunk(&r, 0, RB_ERR_PARTIAL, RB_ANSWERED, "longer");
		rig_check_chunk(&r, 1, RB_OK, RB_ANSWERED, "");
		assert_status(rb_result_status(r.res, 1), RB_ERR_LIMIT);
		assert_string_equal(rb_result_value(r.res, 2).data, "c");
		assert_string_equal(rb_result_value(r.res, 3).data, "d");
		assert_false(rig_is_broken(&r));
		rig_fini(&r);
	}
}

static void test_a_full_result_stops_the_batch_in_step(void **state)
{
	size_t i;

	(void)state;
	rig_init(&r, 100, 4);
	rig_serve(&r, hundred, 100, 1000, 10);
	r.options.window = 5;
	r.options.chunk_keys = 2;
	r.options.max_result_bytes = 1000;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_LIMIT);
	assert_non_null(strstr(r.engine.why, "max_result_bytes"));
	assert_in_range(r.commands, 5, 15);
	assert_false(rig_is_broken(&r));
	rig_check_sums(&r);
	for (i = 0; i < r.commands; i++)
		assert_outcome(rb_result_chunk(r.res, i)->outcome, RB_ANSWERED);
	rig_check_chunk(&r, r.commands, RB_ERR_SKIPPED, RB_NOT_SENT,
			"max_result_bytes");
	assert_status(rb_result_status(r.res, 0), RB_OK);
	assert_status(rb_result_status(r.res, 2 * r.commands - 1),
		      RB_ERR_LIMIT);
	assert_status(rb_result_status(r.res, 99), RB_ERR_SKIPPED);
	assert_true(r.count.peak_bytes < 60000);
	rig_fini(&r);
}

static void test_a_full_result_says_so_of_its_entries(void **state)
{
	(void)state;
	rig_init(&r, 20, 4);
	rig_serve(&r, hundred, 100, 1000, 10);
	r.options.window = 20;
	r.options.max_result_bytes = 500;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_LIMIT);
	assert_status(rb_result_status(r.res, 19), RB_ERR_LIMIT);
	assert_non_null(
		strstr(rb_result_message(r.res, 19), "max_result_bytes"));
	rig_fini(&r);
}

static void test_nil_still_fits_into_a_full_result(void **state)
{
	(void)state;
	rig_init(&r, 3, 1);
	r.options.window = 3;
	r.options.max_result_bytes = 1;
	r.recv_max = 11;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n*1\r\n$-1\r\n*1\r\n$1\r\nc\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_LIMIT);
	assert_status(rb_result_status(r.res, 1), RB_OK);
	assert_status(rb_result_status(r.res, 2), RB_ERR_LIMIT);
	rig_fini(&r);
}

static void test_a_last_answer_past_the_bound_is_still_fine(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	r.options.max_result_bytes = 5;
	rig_say(&r, 1, "*1\r\n$10\r\n0123456789\r\n");
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 0);
	assert_status(r.engine.status, RB_OK);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_given_window_is_filled_and_never_passed),
		cmocka_unit_test(test_a_window_by_itself_covers_the_distance),
		cmocka_unit_test(test_a_window_by_itself_ends_at_its_maximum),
		cmocka_unit_test(
			test_predicted_bytes_in_flight_bound_the_window),
		cmocka_unit_test(
			test_little_waits_that_the_socket_does_not_take),
		cmocka_unit_test(test_values_seen_bound_the_chunks_that_follow),
		cmocka_unit_test(
			test_what_was_learned_holds_for_the_first_chunk_too),
		cmocka_unit_test(
			test_a_prediction_grows_at_once_and_shrinks_slowly),
		cmocka_unit_test(test_errors_teach_nothing_about_values),
		cmocka_unit_test(test_commands_go_no_faster_than_the_pace),
		cmocka_unit_test(test_a_pace_does_not_hide_the_deadline),
		cmocka_unit_test(test_idle_time_is_spent_waiting),
		cmocka_unit_test(test_a_value_too_long_fails_alone),
		cmocka_unit_test(test_a_full_result_stops_the_batch_in_step),
		cmocka_unit_test(test_a_full_result_says_so_of_its_entries),
		cmocka_unit_test(test_nil_still_fits_into_a_full_result),
		cmocka_unit_test(
			test_a_last_answer_past_the_bound_is_still_fine),
	};

	return cmocka_run_group_tests_name("engine_bounds", tests, NULL, NULL);
}
