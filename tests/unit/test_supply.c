/*
 * From the feed of a call to the legs, and what is said where memory lacks.
 */
#include "legs.h"

static const char *values[LEGS_MOST];

static void begin(legs *l, size_t n)
{
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, 3, values);
}

static void test_an_array_is_one_load(void **state)
{
	legs l;

	(void)state;
	begin(&l, 50);
	rbi_supply_next(&l.fleet);
	assert_int_equal(l.fleet.nloads, 1);
	assert_int_equal(l.fleet.left, 50);
	assert_true(l.fleet.inner->ended);
	assert_true(l.fleet.loads[0]->batch.clustered);
	assert_int_equal(legs_all_spans(&l), 50);
	/* There is no other. */
	rbi_supply_next(&l.fleet);
	assert_int_equal(l.fleet.nloads, 1);
	legs_end(&l);
}

static void test_a_call_that_was_stopped_gets_nothing_more(void **state)
{
	legs l;

	(void)state;
	begin(&l, 50);
	rbi_fleet_stop(&l.fleet, RB_ERR_CANCELLED, "enough");
	rbi_fleet_stop(&l.fleet, RB_ERR_LIMIT, "the first reason is told");
	assert_status(l.fleet.status, RB_ERR_CANCELLED);
	assert_string_equal(l.fleet.why, "enough");
	rbi_supply_next(&l.fleet);
	assert_int_equal(l.fleet.nloads, 0);
	assert_int_equal(l.fleet.left, 0);
	legs_end(&l);
}

/* What the feed had given out before goes beside the rest. */
static void test_what_was_given_out_before_is_taken(void **state)
{
	const rbi_bounds bounds = { .keys = 10,
				    .args = SIZE_MAX,
				    .request_bytes = SIZE_MAX / 2,
				    .reply_bytes = SIZE_MAX };
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 50);
	l.array.loose = false;
	l.res->loose = false;
	assert_status(l.fleet.inner->ops->next(l.fleet.inner, &bounds, &p),
		      RB_OK);
	rbi_array_feed_reopen(&l.array, &p);
	rbi_array_feed_loosen(&l.array);
	rbi_supply_take(&l.fleet, &p);
	assert_int_equal(l.fleet.left, 10);
	l.fleet.left = 0;
	rbi_supply_next(&l.fleet);
	assert_int_equal(l.fleet.left, 40);
	assert_int_equal(l.fleet.nloads, 2);
	assert_int_equal(legs_all_spans(&l), 50);
	legs_end(&l);
}

/* Each allocation fails: what came to a leg is there, and the rest is told. */
static void test_without_memory_each_entry_is_there_or_told(void **state)
{
	size_t fail_at;
	size_t partly = 0;

	(void)state;
	for (fail_at = 1;; fail_at++) {
		size_t told;
		bool stopped;
		legs l;

		begin(&l, 50);
		l.count.fail_at = l.count.asked + fail_at;
		rbi_supply_next(&l.fleet);
		l.count.fail_at = 0;
		stopped = l.fleet.stopped;
		if (stopped) {
			assert_status(l.fleet.status, RB_ERR_NOMEM);
			assert_string_equal(l.fleet.why, "out of memory");
		}
		told = legs_count(&l, RB_ERR_SKIPPED, "out of memory");
		/* Where it could not even begin, the feed has the rest. */
		if (told > 0 || l.fleet.inner->ended)
			assert_int_equal(told + l.fleet.left, 50);
		assert_int_equal(legs_all_spans(&l), l.fleet.left);
		partly += stopped && l.fleet.left > 0;
		legs_end(&l);
		if (!stopped)
			break;
	}
	assert_in_range(fail_at, 20, 60);
	assert_true(partly > 0);
}

/* Of huge chunks a load is no larger than one. */
static void test_bounds_do_not_overflow(void **state)
{
	legs l;

	(void)state;
	begin(&l, 50);
	l.options.chunk_keys = SIZE_MAX / 2;
	l.options.chunk_request_bytes = SIZE_MAX / 2;
	rbi_supply_next(&l.fleet);
	assert_int_equal(l.fleet.left, 50);
	legs_end(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_array_is_one_load),
		cmocka_unit_test(
			test_a_call_that_was_stopped_gets_nothing_more),
		cmocka_unit_test(test_what_was_given_out_before_is_taken),
		cmocka_unit_test(
			test_without_memory_each_entry_is_there_or_told),
		cmocka_unit_test(test_bounds_do_not_overflow),
	};

	return cmocka_run_group_tests_name("supply", tests, NULL, NULL);
}
