/*
 * What is given to which leg, and what becomes of it when nodes change.
 */
#include "legs.h"

static const char *values[LEGS_MOST];

static void supply(legs *l, size_t n, unsigned nodes, bool writes)
{
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, nodes, writes ? values : NULL);
	rbi_supply_next(&l->fleet);
}

static void test_each_leg_gets_what_its_node_serves(void **state)
{
	size_t i;
	size_t k;
	legs l;

	(void)state;
	supply(&l, 40, 3, false);
	assert_int_equal(l.fleet.nlegs, 3);
	assert_int_equal(l.fleet.left, 40);
	assert_int_equal(legs_all_spans(&l), 40);
	for (i = 0; i < 3; i++) {
		const rbi_leg *leg = l.fleet.legs[i];
		const rbi_span *span = &leg->spans[0];

		assert_int_equal(leg->nspans, 1);
		for (k = 0; k < span->count; k++)
			assert_int_equal(span->load->slots[span->first + k] % 3,
					 leg->node);
	}
	l.fleet.left = 0;
	legs_end(&l);
}

/* A map in which the slots of node 0 are those of another, but for every
 * second one. */
static void move_half(legs *l, size_t to)
{
	uint16_t *owner = l->client.pool->map.owner;
	size_t slot;
	size_t n = 0;

	for (slot = 0; slot < RBI_SLOTS; slot++) {
		if (owner[slot] == 0 && n++ % 2 == 0)
			owner[slot] = (uint16_t)to;
	}
}

static void test_spans_go_to_who_has_their_slots_by_now(void **state)
{
	rbi_leg *leg;
	size_t i;
	size_t k;
	legs l;

	(void)state;
	supply(&l, 40, 2, false);
	leg = legs_leg(&l, 0);
	move_half(&l, 1);
	rbi_share_again(leg);
	assert_int_equal(legs_all_spans(&l), 40);
	assert_true(legs_spans(leg) > 0);
	for (i = 0; i < leg->nspans; i++) {
		const rbi_span *span = &leg->spans[i];

		for (k = 0; k < span->count; k++)
			assert_true(rbi_leg_serves(
				leg, span->load->slots[span->first + k]));
	}
	legs_end(&l);
}

/* Whatever fails: nothing is lost, and nothing is there twice. */
static void test_without_memory_spans_stay_where_they_were(void **state)
{
	size_t fail_at = 0;
	bool failed = true;

	(void)state;
	while (failed) {
		size_t entries;
		rbi_leg *leg;
		legs l;

		supply(&l, LEGS_MOST, 2, false);
		leg = legs_leg(&l, 0);
		entries = legs_spans(leg);
		move_half(&l, 1);
		l.count.fail_at = l.count.asked + ++fail_at;
		l.count.fail_on = 1;
		rbi_share_again(leg);
		failed = l.count.asked >= l.count.fail_at;
		assert_int_equal(legs_all_spans(&l), LEGS_MOST);
		l.count.fail_at = 0;
		rbi_share_again(leg);
		assert_int_equal(legs_all_spans(&l), LEGS_MOST);
		assert_true(legs_spans(leg) < entries);
		legs_end(&l);
	}
	assert_true(fail_at > 1);
}

/* All room is used, some of a span stays, and the rest cannot go anywhere. */
static void test_without_memory_a_full_leg_keeps_its_spans(void **state)
{
	uint16_t *owner;
	rbi_leg *leg;
	rbi_span all;
	size_t slot;
	size_t i;
	legs l;

	(void)state;
	supply(&l, LEGS_MOST, 1, false);
	leg = legs_leg(&l, 0);
	all = leg->spans[0];
	leg->nspans = 0;
	for (i = 0; i < 4; i++) {
		rbi_span part = all;

		part.first += i * LEGS_MOST / 4;
		part.count = LEGS_MOST / 4;
		assert_true(rbi_share_add(leg, &part));
	}
	assert_int_equal(leg->nspans, leg->spans_cap);
	/* The first entry stays, and the second goes to a node that is new. */
	owner = l.client.pool->map.owner;
	slot = all.load->slots[1];
	owner[slot] =
		(uint16_t)rbi_slotmap_node(&l.client.pool->map, "other", 5, 1);
	for (i = 0; i < 8; i++)
		assert_true(rbi_result_promise(l.res));
	l.count.fail_at = l.count.asked + 1;
	l.count.fail_on = 1;
	rbi_share_again(leg);
	assert_true(leg->nspans <= leg->spans_cap);
	assert_int_equal(legs_spans(leg), LEGS_MOST);
	legs_end(&l);
}

/* ----------------------------------------------------------------- chunks -- */

static rbi_parcel next_chunk(rbi_leg *leg, rb_status want)
{
	const rbi_bounds bounds = { .keys = 1000,
				    .args = SIZE_MAX,
				    .request_bytes = SIZE_MAX / 2,
				    .reply_bytes = SIZE_MAX };
	rbi_parcel p;

	assert_status(leg->feed.ops->next(&leg->feed, &bounds, &p), want);
	return p;
}

static void demote(legs *l, size_t node, size_t primary)
{
	rbi_slotmap *map = &l->client.pool->map;
	size_t slot;

	for (slot = 0; slot < RBI_SLOTS; slot++) {
		if (map->owner[slot] == node)
			map->owner[slot] = (uint16_t)primary;
	}
	map->nodes[node].replica = true;
	map->nodes[node].primary = primary;
}

static void test_a_chunk_is_all_that_a_node_serves(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	size_t n;
	size_t i;
	legs l;

	(void)state;
	supply(&l, 40, 2, false);
	leg = legs_leg(&l, 1);
	n = legs_spans(leg);
	p = next_chunk(leg, RB_OK);
	assert_int_equal(p.cut.count, n);
	for (i = 0; i < n; i++)
		assert_int_equal(p.slots[i] % 2, 1);
	assert_true(leg->feed.dry);
	assert_int_equal(next_chunk(leg, RB_OK).cut.count, 0);
	legs_end(&l);
}

static void test_what_moved_meanwhile_is_given_away_when_cut(void **state)
{
	rbi_leg *leg;
	rbi_parcel p;
	size_t i;
	legs l;

	(void)state;
	supply(&l, 40, 2, false);
	leg = legs_leg(&l, 0);
	move_half(&l, 1);
	while (p = next_chunk(leg, RB_OK), p.cut.count > 0) {
		for (i = 0; i < p.cut.count; i++)
			assert_true(rbi_leg_serves(leg, p.slots[i]));
		l.fleet.left -= p.cut.count;
	}
	assert_int_equal(legs_spans(legs_leg(&l, 1)), l.fleet.left);
	assert_true(l.fleet.left > 20);
	legs_end(&l);
}

/* It has not been told that it may be read as a replica. */
static void test_who_was_the_primary_is_not_read_as_a_replica(void **state)
{
	rbi_leg *leg;
	legs l;

	(void)state;
	supply(&l, 40, 2, false);
	l.options.flags |= RB_READ_REPLICAS;
	leg = legs_up(&l, 0);
	demote(&l, 0, 1);
	assert_int_equal(next_chunk(leg, RB_OK).cut.count, 0);
	assert_int_equal(legs_spans(leg), 0);
	assert_int_equal(legs_spans(legs_leg(&l, 1)), 40);
	legs_end(&l);
}

/* All of one key, of which the first was refused and waits. */
static rbi_leg *hold(legs *l, size_t n)
{
	const rbi_fate fate = { RB_ERR_SERVER, RB_REJECTED, "refused" };
	rbi_leg *leg;
	rbi_parcel p;
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, 1, values);
	for (i = 0; i < n; i++)
		l->keys[i] = "same";
	rbi_supply_next(&l->fleet);
	leg = legs_up(l, 0);
	p = rbi_sorted_parcel(
		l->fleet.loads[0],
		&(rbi_cut){ .batch = &l->fleet.loads[0]->batch, .count = 1 });
	leg->spans[0].first++;
	leg->spans[0].count--;
	assert_true(rbi_result_promise(l->res));
	assert_true(rbi_yard_put(leg, &p, &fate));
	return leg;
}

static void test_what_waits_for_an_earlier_write_says_so(void **state)
{
	rbi_leg *leg;
	legs l;

	(void)state;
	leg = hold(&l, 5);
	assert_int_equal(next_chunk(leg, RB_OK).cut.count, 0);
	assert_int_equal(legs_spans(leg), 0);
	assert_int_equal(l.fleet.yard.count, 2);
	rbi_yard_report(&l.fleet);
	assert_int_equal(legs_count(&l, RB_ERR_SKIPPED, "was still waited for"),
			 4);
	legs_end(&l);
}

/* Whatever fails: each entry waits, is told, or is still to be sent. */
static void test_without_memory_what_is_held_is_told(void **state)
{
	bool failed = true;
	size_t fail_at = 0;
	size_t seen = 0;

	(void)state;
	while (failed) {
		const rbi_bounds bounds = { .keys = 10,
					    .args = SIZE_MAX,
					    .request_bytes = SIZE_MAX / 2,
					    .reply_bytes = SIZE_MAX };
		size_t waiting = 1;
		rbi_leg *leg;
		rbi_parcel p;
		size_t told;
		legs l;

		leg = hold(&l, 5);
		l.fleet.yard.cap = l.fleet.yard.count;
		l.count.fail_at = l.count.asked + ++fail_at;
		(void)leg->feed.ops->next(&leg->feed, &bounds, &p);
		failed = l.count.asked >= l.count.fail_at;
		if (l.fleet.yard.count == 2)
			waiting += l.fleet.yard.items[1].parcel.cut.count;
		told = legs_count(&l, RB_ERR_SKIPPED, "out of memory");
		seen += told;
		assert_int_equal(waiting + told + legs_spans(leg), 5);
		assert_int_equal(l.fleet.left, 5 - told);
		legs_end(&l);
	}
	assert_int_equal(seen, 4);
}

/* What belongs to another leg stays until there is memory to give it away. */
static void test_without_memory_nothing_is_given_away(void **state)
{
	bool failed = true;
	size_t fail_at = 0;

	(void)state;
	while (failed) {
		const rbi_bounds bounds = { .keys = 1000,
					    .args = SIZE_MAX,
					    .request_bytes = SIZE_MAX / 2,
					    .reply_bytes = SIZE_MAX };
		rb_status status;
		rbi_leg *leg;
		rbi_parcel p;
		legs l;

		supply(&l, 40, 1, false);
		leg = legs_leg(&l, 0);
		rbi_pool_moved(
			l.client.pool, leg->spans[0].load->slots[0],
			rbi_slotmap_node(&l.client.pool->map, "other", 5, 1));
		l.count.fail_at = l.count.asked + ++fail_at;
		status = leg->feed.ops->next(&leg->feed, &bounds, &p);
		failed = l.count.asked >= l.count.fail_at;
		assert_int_equal(legs_all_spans(&l) + p.cut.count, 40);
		if (status != RB_OK) {
			assert_status(status, RB_ERR_NOMEM);
			assert_string_equal(leg->feed.problem, "out of memory");
			assert_int_equal(p.cut.count, 0);
		}
		legs_end(&l);
	}
	assert_true(fail_at > 5);
}

/* There is room for the reports of what is whole, and for no other. */
static void test_without_memory_no_chunk_is_cut_off(void **state)
{
	const rbi_bounds bounds = { .keys = 3,
				    .args = SIZE_MAX,
				    .request_bytes = SIZE_MAX / 2,
				    .reply_bytes = SIZE_MAX };
	rbi_leg *leg;
	rbi_parcel p;
	size_t n;
	legs l;

	(void)state;
	supply(&l, 40, 2, false);
	leg = legs_leg(&l, 0);
	n = legs_spans(leg);
	legs_exhaust(&l);
	assert_status(leg->feed.ops->next(&leg->feed, &bounds, &p),
		      RB_ERR_NOMEM);
	assert_string_equal(leg->feed.problem, "out of memory");
	assert_int_equal(p.cut.count, 0);
	assert_int_equal(legs_spans(leg), n);
	/* As a whole it can be had. */
	assert_int_equal(next_chunk(leg, RB_OK).cut.count, n);
	legs_end(&l);
}

static void test_without_memory_nothing_is_put_aside(void **state)
{
	rbi_leg *leg;
	legs l;

	(void)state;
	leg = hold(&l, 5);
	/* The last one is of another slot. */
	((uint16_t *)l.fleet.loads[0]->slots)[4]++;
	rbi_slotmap_set(&l.client.pool->map, l.fleet.loads[0]->slots[4], 0);
	legs_exhaust(&l);
	assert_int_equal(next_chunk(leg, RB_ERR_NOMEM).cut.count, 0);
	assert_int_equal(legs_spans(leg), 4);
	legs_end(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_leg_gets_what_its_node_serves),
		cmocka_unit_test(test_spans_go_to_who_has_their_slots_by_now),
		cmocka_unit_test(
			test_without_memory_spans_stay_where_they_were),
		cmocka_unit_test(
			test_without_memory_a_full_leg_keeps_its_spans),
		cmocka_unit_test(test_a_chunk_is_all_that_a_node_serves),
		cmocka_unit_test(
			test_what_moved_meanwhile_is_given_away_when_cut),
		cmocka_unit_test(
			test_who_was_the_primary_is_not_read_as_a_replica),
		cmocka_unit_test(test_what_waits_for_an_earlier_write_says_so),
		cmocka_unit_test(test_without_memory_what_is_held_is_told),
		cmocka_unit_test(test_without_memory_nothing_is_given_away),
		cmocka_unit_test(test_without_memory_no_chunk_is_cut_off),
		cmocka_unit_test(test_without_memory_nothing_is_put_aside),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
