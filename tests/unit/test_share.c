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

static size_t all_spans(const legs *l)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < l->fleet.nlegs; i++)
		sum += legs_spans(l->fleet.legs[i]);
	return sum;
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
	assert_int_equal(all_spans(&l), 40);
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
	assert_int_equal(all_spans(&l), 40);
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
		assert_int_equal(all_spans(&l), LEGS_MOST);
		l.count.fail_at = 0;
		rbi_share_again(leg);
		assert_int_equal(all_spans(&l), LEGS_MOST);
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
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
