/*
 * Chunks that wait for somewhere to go, and the order of writes among them.
 */
#include "legs.h"

static const char *values[LEGS_MOST];
static const rbi_fate refused = { RB_ERR_SERVER, RB_REJECTED, "refused" };

/* In place of the key that all entries have. */
#define EACH_ITS_OWN NULL

/* n entries; of one key, or each of its own. */
static void begin(legs *l, size_t n, bool writes, const char *key)
{
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, 2, writes ? values : NULL);
	for (i = 0; i < n && key != NULL; i++)
		l->keys[i] = key;
	rbi_supply_next(&l->fleet);
}

/* The next entries that a leg has to send, at most so many. */
static rbi_parcel take(rbi_leg *leg, size_t most)
{
	const rbi_bounds bounds = { .keys = most,
				    .args = SIZE_MAX,
				    .request_bytes = SIZE_MAX / 2,
				    .reply_bytes = SIZE_MAX };
	rbi_parcel p;

	assert_status(leg->feed.ops->next(&leg->feed, &bounds, &p), RB_OK);
	assert_true(p.cut.count > 0);
	return p;
}

static void put(rbi_leg *leg, const rbi_parcel *p)
{
	assert_true(rbi_yard_put(leg, p, &refused));
}

static size_t waiting(const legs *l)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < l->fleet.yard.count; i++)
		sum += l->fleet.yard.items[i].parcel.cut.count;
	return sum;
}

static size_t sent_on(const rbi_leg *leg)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < leg->engine.again.count; i++)
		sum += leg->engine.again.items[i].parcel.cut.count;
	return sum;
}

/* A leg of which everything waits. */
static rbi_leg *put_all(legs *l, size_t node)
{
	rbi_leg *leg = legs_up(l, node);
	rbi_parcel p = take(leg, LEGS_MOST);

	put(leg, &p);
	return leg;
}

/* ------------------------------------------------------------ sending on -- */

static void test_what_waits_is_sent_on_by_the_map(void **state)
{
	rbi_leg *leg;
	rbi_leg *other;
	size_t n;
	size_t i;
	legs l;

	(void)state;
	begin(&l, 40, false, EACH_ITS_OWN);
	other = legs_up(&l, 1);
	leg = put_all(&l, 0);
	n = waiting(&l);
	/* The first half of the slots is that of another by now. */
	for (i = 0; i < RBI_SLOTS / 2; i += 2)
		rbi_pool_moved(l.client.pool, (uint16_t)i, 1);
	rbi_yard_run(&l.fleet);
	assert_int_equal(l.fleet.yard.count, 0);
	assert_int_equal(sent_on(leg) + sent_on(other), n);
	assert_true(sent_on(leg) > 0 && sent_on(other) > 0);
	for (i = 0; i < other->engine.again.count; i++)
		assert_true(other->engine.again.items[i].parcel.slots[0] <
			    RBI_SLOTS / 2);
	legs_end(&l);
}

static void test_nothing_is_sent_before_its_time(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 10, false, EACH_ITS_OWN);
	leg = legs_up(&l, 0);
	assert_true(rbi_yard_until(&l.fleet) == RBI_NEVER);
	p = take(leg, 1);
	p.trip.resume_us = LEGS_BEGIN_US + 300;
	put(leg, &p);
	p = take(leg, 1);
	p.trip.resume_us = LEGS_BEGIN_US + 200;
	put(leg, &p);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 2);
	assert_true(rbi_yard_until(&l.fleet) == LEGS_BEGIN_US + 200);
	l.fleet.now_us += 200;
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 1);
	assert_true(rbi_yard_until(&l.fleet) == LEGS_BEGIN_US + 300);
	l.fleet.now_us += 100;
	assert_true(rbi_yard_until(&l.fleet) == RBI_NEVER);
	rbi_yard_run(&l.fleet);
	assert_int_equal(sent_on(leg), 2);
	legs_end(&l);
}

static void test_a_node_that_was_named_is_asked_if_it_is_there(void **state)
{
	rbi_leg *leg;
	rbi_leg *named;
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 20, false, EACH_ITS_OWN);
	leg = legs_up(&l, 0);
	named = legs_up(&l, 1);
	p = take(leg, 3);
	p.trip.to = 1;
	p.cut.asking = true;
	put(leg, &p);
	rbi_yard_run(&l.fleet);
	assert_int_equal(sent_on(named), p.cut.count);
	assert_true(named->engine.again.items[0].parcel.cut.asking);
	/* One that is gone is forgotten: the map knows another. */
	rbi_leg_rest(named, "gone", LEGS_BEGIN_US + 1000);
	p = take(leg, 3);
	p.trip.to = 1;
	p.cut.asking = true;
	put(leg, &p);
	rbi_yard_run(&l.fleet);
	assert_int_equal(sent_on(leg), p.cut.count);
	assert_false(leg->engine.again.items[0].parcel.cut.asking);
	legs_end(&l);
}

static void test_a_node_that_is_gone_for_good_is_told(void **state)
{
	rbi_leg *leg;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 20, false, EACH_ITS_OWN);
	leg = put_all(&l, 0);
	n = waiting(&l);
	rbi_leg_end(leg, "nobody is there");
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 0);
	assert_int_equal(legs_count(&l, RB_ERR_CONNECT, "nobody is there"), n);
	assert_int_equal(l.fleet.left, 20 - n);
	legs_end(&l);
}

static void test_a_node_is_waited_for_and_not_for_ever(void **state)
{
	rbi_leg *leg;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 20, false, EACH_ITS_OWN);
	leg = put_all(&l, 0);
	n = waiting(&l);
	rbi_leg_rest(leg, "it rests", LEGS_BEGIN_US + 1000);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), n);
	l.fleet.now_us += l.fleet.budget_us - 1000;
	rbi_leg_rest(leg, "it still rests", l.fleet.now_us + 999);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), n);
	rbi_leg_rest(leg, "it rests too long", l.fleet.now_us + 1000);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 0);
	assert_int_equal(legs_count(&l, RB_ERR_CONNECT, "it rests too long"),
			 n);
	legs_end(&l);
}

static void test_nothing_waits_past_the_deadline(void **state)
{
	legs l;

	(void)state;
	begin(&l, 1, false, EACH_ITS_OWN);
	assert_true(rbi_yard_may_wait(&l.fleet, 10, 20));
	assert_true(rbi_yard_may_wait(&l.fleet, 30, 20));
	assert_true(rbi_yard_may_wait(&l.fleet, 0, l.fleet.budget_us - 1));
	assert_false(rbi_yard_may_wait(&l.fleet, 0, l.fleet.budget_us));
	l.fleet.deadline_us = 20;
	assert_true(rbi_yard_may_wait(&l.fleet, 10, 19));
	assert_false(rbi_yard_may_wait(&l.fleet, 10, 20));
	legs_end(&l);
}

/* ---------------------------------------------------------------- writes -- */

static void test_writes_of_a_slot_are_sent_on_one_by_one(void **state)
{
	rbi_waiting first;
	rbi_leg *leg;
	rbi_parcel p[3];
	uint16_t slot;
	size_t i;
	legs l;

	(void)state;
	begin(&l, 3, true, "same");
	slot = rbi_keyslot("same", 4);
	leg = legs_up(&l, slot % 2);
	for (i = 0; i < 3; i++)
		p[i] = take(leg, 1);
	/* In whatever order they come, the earliest goes first. */
	for (i = 3; i-- > 0;)
		put(leg, &p[i]);
	assert_true(rbi_yard_holds(&l.fleet, slot));
	for (i = 0; i < 3; i++) {
		rbi_yard_run(&l.fleet);
		rbi_yard_run(&l.fleet);
		assert_int_equal(sent_on(leg), 1);
		first = rbi_again_take(&leg->engine.again, 0);
		assert_int_equal(first.parcel.position, i);
		rbi_yard_done(&l.fleet, &first.parcel);
	}
	assert_false(rbi_yard_holds(&l.fleet, slot));
	legs_end(&l);
}

static void test_a_write_that_waits_for_its_time_is_not_overtaken(void **state)
{
	rbi_leg *leg;
	rbi_parcel p[2];
	legs l;

	(void)state;
	begin(&l, 2, true, "same");
	leg = legs_up(&l, rbi_keyslot("same", 4) % 2);
	p[0] = take(leg, 1);
	p[1] = take(leg, 1);
	p[0].trip.resume_us = LEGS_BEGIN_US + 100;
	put(leg, &p[0]);
	put(leg, &p[1]);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 2);
	l.fleet.now_us += 100;
	rbi_yard_run(&l.fleet);
	assert_int_equal(sent_on(leg), 1);
	assert_int_equal(leg->engine.again.items[0].parcel.position, 0);
	legs_end(&l);
}

static void test_reads_do_not_wait_for_each_other(void **state)
{
	rbi_leg *leg;
	rbi_parcel p[3];
	size_t i;
	legs l;

	(void)state;
	begin(&l, 3, false, "same");
	leg = legs_up(&l, rbi_keyslot("same", 4) % 2);
	for (i = 0; i < 3; i++)
		p[i] = take(leg, 1);
	for (i = 3; i-- > 0;)
		put(leg, &p[i]);
	assert_false(rbi_yard_holds(&l.fleet, rbi_keyslot("same", 4)));
	rbi_yard_doubt(&l.fleet, &p[0]);
	assert_false(rbi_yard_doubts(&l.fleet, rbi_keyslot("same", 4)));
	rbi_yard_run(&l.fleet);
	assert_int_equal(sent_on(leg), 3);
	legs_end(&l);
}

static void test_writes_wait_for_what_was_in_flight(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 2, true, "same");
	leg = legs_up(&l, rbi_keyslot("same", 4) % 2);
	p = take(leg, 1);
	legs_step(leg);
	assert_int_equal(leg->lane->count, 1);
	put(leg, &p);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 1);
	assert_int_equal(legs_heard(&l, leg->node, &n), 2);
	legs_say(&l, leg->node, "-MOVED 1 x:1\r\n");
	rbi_lane_pop(leg->lane);
	rbi_yard_run(&l.fleet);
	assert_int_equal(sent_on(leg), 1);
	rbi_lane_restart(leg->lane);
	legs_end(&l);
}

static void test_what_was_not_sent_yet_waits_behind_what_is_away(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 4, true, "same");
	leg = legs_up(&l, rbi_keyslot("same", 4) % 2);
	p = take(leg, 1);
	p.trip.resume_us = LEGS_BEGIN_US + 1;
	put(leg, &p);
	legs_step(leg);
	assert_int_equal(legs_heard(&l, leg->node, &n), 0);
	assert_int_equal(waiting(&l), 4);
	assert_int_equal(legs_spans(leg), 0);
	legs_end(&l);
}

static void test_what_a_later_write_has_overtaken_is_not_sent(void **state)
{
	rbi_leg *leg;
	rbi_parcel p[3];
	size_t i;
	legs l;

	(void)state;
	begin(&l, 3, true, "same");
	leg = legs_up(&l, rbi_keyslot("same", 4) % 2);
	for (i = 0; i < 3; i++)
		p[i] = take(leg, 1);
	put(leg, &p[0]);
	put(leg, &p[2]);
	rbi_yard_applied(&l.fleet, &p[1]);
	assert_int_equal(waiting(&l), 1);
	assert_int_equal(l.fleet.yard.items[0].parcel.position, 2);
	assert_string_equal(rb_result_message(l.res, 0),
			    "a later write of the same key was applied");
	assert_status(rb_result_status(l.res, 0), RB_ERR_SKIPPED);
	assert_outcome(rb_result_outcome(l.res, 0), RB_REJECTED);
	legs_end(&l);
}

/* Two keys of a slot do not touch each other, nor do two slots. */
static void test_other_keys_are_not_overtaken(void **state)
{
	rbi_parcel p[3];
	rbi_leg *leg;
	size_t i;
	legs l;

	(void)state;
	legs_begin(&l, 3, 2, values);
	l.keys[0] = "{t}1";
	l.keys[1] = "{t}2";
	l.keys[2] = "{t}3";
	rbi_supply_next(&l.fleet);
	leg = legs_up(&l, rbi_keyslot("t", 1) % 2);
	for (i = 0; i < 3; i++)
		p[i] = take(leg, 1);
	put(leg, &p[0]);
	put(leg, &p[1]);
	rbi_yard_applied(&l.fleet, &p[2]);
	assert_int_equal(waiting(&l), 2);
	legs_end(&l);
}

/* ----------------------------------------------------------------- doubt -- */

static void test_behind_a_doubt_nothing_is_sent_to_its_slot(void **state)
{
	rbi_parcel p[2];
	rbi_leg *leg;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 3, true, "same");
	leg = legs_up(&l, rbi_keyslot("same", 4) % 2);
	p[0] = take(leg, 1);
	p[1] = take(leg, 1);
	put(leg, &p[1]);
	rbi_yard_doubt(&l.fleet, &p[0]);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 0);
	/* Nor what was not even cut. */
	legs_step(leg);
	assert_int_equal(legs_heard(&l, leg->node, &n), 0);
	assert_int_equal(legs_count(&l, RB_ERR_SKIPPED, "nobody knows"), 2);
	legs_end(&l);
}

/* Wherever in a chunk the slot stands; those of other slots go on. */
static void test_a_doubt_is_heeded_anywhere_in_a_chunk(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		rbi_parcel doubted;
		rbi_parcel p;
		rbi_leg *leg;
		size_t n;
		size_t at;
		legs l;

		begin(&l, 20, true, EACH_ITS_OWN);
		leg = legs_up(&l, 0);
		p = take(leg, LEGS_MOST);
		n = p.cut.count;
		at = i * (n - 1) / 4;
		doubted = rbi_parcel_part(&p, at, 1);
		put(leg, &p);
		rbi_yard_doubt(&l.fleet, &doubted);
		rbi_yard_run(&l.fleet);
		assert_int_equal(waiting(&l), 0);
		assert_int_equal(sent_on(leg), n - 1);
		assert_int_equal(legs_count(&l, RB_ERR_SKIPPED, "nobody knows"),
				 1);
		assert_string_equal(
			rb_result_message(l.res, doubted.numbers[0]),
			"nobody knows what an earlier write did");
		legs_end(&l);
	}
}

/* ------------------------------------------------------------- the end -- */

static void test_all_that_waits_is_reported_in_the_end(void **state)
{
	size_t n;
	legs l;

	(void)state;
	begin(&l, 20, true, EACH_ITS_OWN);
	(void)put_all(&l, 0);
	n = waiting(&l);
	rbi_yard_report(&l.fleet);
	assert_int_equal(waiting(&l), 0);
	assert_int_equal(legs_count(&l, RB_ERR_SERVER, "refused"), n);
	assert_int_equal(l.fleet.left, 20 - n);
	assert_false(rbi_yard_holds(&l.fleet, legs_slot(&l, 0)));
	legs_end(&l);
}

static void test_a_leg_that_was_lost_is_relieved(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 20, false, EACH_ITS_OWN);
	leg = legs_up(&l, 0);
	p = take(leg, 1);
	assert_true(rbi_again_keep(&leg->engine.again, &p, &refused));
	p = take(leg, 1);
	assert_true(rbi_again_keep(&leg->engine.again, &p, &refused));
	rbi_yard_collect(leg);
	assert_int_equal(sent_on(leg), 0);
	assert_int_equal(waiting(&l), 2);
	legs_end(&l);
}

/* ---------------------------------------------------------------- memory -- */

static void test_without_memory_it_is_still_the_callers(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 20, true, EACH_ITS_OWN);
	leg = legs_up(&l, 0);
	p = take(leg, 1);
	l.count.fail_at = l.count.asked + 1;
	assert_false(rbi_yard_put(leg, &p, &refused));
	assert_false(rbi_yard_holds(&l.fleet, p.slots[0]));
	assert_int_equal(waiting(&l), 0);
	put(leg, &p);
	assert_true(rbi_yard_holds(&l.fleet, p.slots[0]));
	legs_end(&l);
}

static void test_without_memory_a_lost_leg_reports(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	legs l;

	(void)state;
	begin(&l, 20, false, EACH_ITS_OWN);
	leg = legs_up(&l, 0);
	p = take(leg, 1);
	assert_true(rbi_again_keep(&leg->engine.again, &p, &refused));
	l.count.fail_at = l.count.asked + 1;
	rbi_yard_collect(leg);
	assert_int_equal(sent_on(leg), 0);
	assert_int_equal(waiting(&l), 0);
	assert_int_equal(legs_count(&l, RB_ERR_SERVER, "refused"), 1);
	assert_int_equal(l.fleet.left, 19);
	legs_end(&l);
}

/* Each allocation of it fails: nothing is lost, and it goes on later. */
static void test_without_memory_what_waits_stays(void **state)
{
	size_t fail_at = 0;
	bool failed = true;

	(void)state;
	while (failed) {
		rbi_leg *leg;
		size_t n;
		legs l;

		begin(&l, 20, true, EACH_ITS_OWN);
		leg = put_all(&l, 0);
		n = waiting(&l);
		rbi_pool_moved(l.client.pool,
			       l.fleet.yard.items[0].parcel.slots[1], 1);
		(void)legs_up(&l, 1);
		l.count.fail_at = l.count.asked + ++fail_at;
		rbi_yard_run(&l.fleet);
		failed = l.count.asked >= l.count.fail_at;
		l.count.fail_at = 0;
		rbi_yard_run(&l.fleet);
		rbi_yard_run(&l.fleet);
		assert_int_equal(waiting(&l) + sent_on(leg) +
					 sent_on(legs_leg(&l, 1)),
				 n);
		assert_int_equal(l.fleet.left, 20);
		legs_end(&l);
	}
	assert_true(fail_at > 2);
}

static void test_without_memory_a_chunk_is_not_divided(void **state)
{
	rbi_leg *leg;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 20, true, EACH_ITS_OWN);
	leg = put_all(&l, 0);
	n = waiting(&l);
	(void)legs_up(&l, 1);
	rbi_pool_moved(l.client.pool, l.fleet.yard.items[0].parcel.slots[n - 1],
		       1);
	assert_true(rbi_again_reserve(&leg->engine.again, 8));
	legs_exhaust(&l);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), n);
	l.count.fail_at = 0;
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 0);
	assert_int_equal(sent_on(leg), n - 1);
	legs_end(&l);
}

/* Then others share the fate of those that are in doubt. */
static void test_without_memory_a_doubt_is_that_of_a_chunk(void **state)
{
	rbi_parcel doubted;
	size_t n;
	legs l;

	(void)state;
	begin(&l, 20, true, EACH_ITS_OWN);
	(void)put_all(&l, 0);
	n = waiting(&l);
	doubted = rbi_parcel_part(&l.fleet.yard.items[0].parcel, 0, 1);
	rbi_yard_doubt(&l.fleet, &doubted);
	legs_exhaust(&l);
	rbi_yard_run(&l.fleet);
	assert_int_equal(waiting(&l), 0);
	assert_int_equal(legs_count(&l, RB_ERR_SKIPPED, "nobody knows"), n);
	assert_int_equal(l.fleet.left, 20 - n);
	legs_end(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_waits_is_sent_on_by_the_map),
		cmocka_unit_test(test_nothing_is_sent_before_its_time),
		cmocka_unit_test(
			test_a_node_that_was_named_is_asked_if_it_is_there),
		cmocka_unit_test(test_a_node_that_is_gone_for_good_is_told),
		cmocka_unit_test(test_a_node_is_waited_for_and_not_for_ever),
		cmocka_unit_test(test_nothing_waits_past_the_deadline),
		cmocka_unit_test(test_writes_of_a_slot_are_sent_on_one_by_one),
		cmocka_unit_test(
			test_a_write_that_waits_for_its_time_is_not_overtaken),
		cmocka_unit_test(test_reads_do_not_wait_for_each_other),
		cmocka_unit_test(test_writes_wait_for_what_was_in_flight),
		cmocka_unit_test(
			test_what_was_not_sent_yet_waits_behind_what_is_away),
		cmocka_unit_test(
			test_what_a_later_write_has_overtaken_is_not_sent),
		cmocka_unit_test(test_other_keys_are_not_overtaken),
		cmocka_unit_test(
			test_behind_a_doubt_nothing_is_sent_to_its_slot),
		cmocka_unit_test(test_a_doubt_is_heeded_anywhere_in_a_chunk),
		cmocka_unit_test(test_all_that_waits_is_reported_in_the_end),
		cmocka_unit_test(test_a_leg_that_was_lost_is_relieved),
		cmocka_unit_test(test_without_memory_it_is_still_the_callers),
		cmocka_unit_test(test_without_memory_a_lost_leg_reports),
		cmocka_unit_test(test_without_memory_what_waits_stays),
		cmocka_unit_test(test_without_memory_a_chunk_is_not_divided),
		cmocka_unit_test(
			test_without_memory_a_doubt_is_that_of_a_chunk),
	};

	return cmocka_run_group_tests_name("yard", tests, NULL, NULL);
}
