/*
 * One connection of several: who is asked for a slot, and how it comes up and
 * goes down.
 */
#include "legs.h"

#include <netinet/in.h>

static void begin(legs *l, unsigned nodes)
{
	legs_begin(l, 20, nodes, NULL);
}

static void follow(legs *l, size_t node, size_t primary)
{
	rbi_slotmap *map = &l->client.pool->map;

	while (map->nnodes <= node)
		assert_true(
			rbi_slotmap_node(map, "127.0.0.1", 9,
					 LEGS_PORT + (unsigned)map->nnodes) !=
			RBI_NO_NODE);
	map->nodes[node].replica = true;
	map->nodes[node].primary = primary;
}

/* --------------------------------------------------------------- who serves -- */

static void test_each_slot_has_the_leg_of_its_node(void **state)
{
	uint16_t slot;
	legs l;

	(void)state;
	begin(&l, 3);
	l.fleet.connections = 2;
	for (slot = 0; slot < 100; slot++) {
		rbi_leg *leg = rbi_leg_for(&l.fleet, slot, false);

		assert_non_null(leg);
		assert_int_equal(leg->node, slot % 3);
		assert_int_equal(leg->link->number, slot % 2);
		assert_true(rbi_leg_serves(leg, slot));
		assert_false(rbi_leg_serves(leg, (uint16_t)(slot + 3)));
		assert_false(rbi_leg_serves(leg, (uint16_t)(slot + 2)));
		assert_true(rbi_leg_serves(leg, (uint16_t)(slot + 6)));
	}
	assert_int_equal(l.fleet.nlegs, 6);
	legs_end(&l);
}

static void test_of_a_slot_that_nobody_serves_anybody_is_asked(void **state)
{
	uint16_t *owner;
	rbi_leg *leg;
	size_t i;
	legs l;

	(void)state;
	begin(&l, 2);
	owner = l.client.pool->map.owner;
	owner[0] = owner[1] = (uint16_t)RBI_NO_NODE;
	owner[2] = 1;
	leg = rbi_leg_for(&l.fleet, 0, false);
	assert_int_equal(leg->node, 1);
	assert_true(rbi_leg_serves(leg, 0));
	/* And where nobody serves anything. */
	for (i = 0; i < RBI_SLOTS; i++)
		owner[i] = (uint16_t)RBI_NO_NODE;
	assert_int_equal(rbi_leg_for(&l.fleet, 9, false)->node, 0);
	legs_end(&l);
}

static void test_replicas_are_asked_if_they_may_be(void **state)
{
	size_t seen[4] = { 0 };
	rbi_leg *leg;
	legs l;

	(void)state;
	begin(&l, 1);
	follow(&l, 1, 0);
	follow(&l, 2, 0);
	follow(&l, 3, 2);
	assert_int_equal(rbi_leg_for(&l.fleet, 0, false)->node, 0);
	l.options.flags |= RB_READ_REPLICAS;
	assert_int_equal(rbi_leg_for(&l.fleet, 0, true)->node, 0);
	for (l.fleet.pick = 0; l.fleet.pick < 20; l.fleet.pick++) {
		leg = rbi_leg_for(&l.fleet, 0, false);
		assert_true(rbi_leg_serves(leg, 0));
		seen[leg->node]++;
	}
	assert_int_equal(seen[0] + seen[3], 0);
	assert_true(seen[1] >= 5 && seen[2] >= 5);
	/* Of writes the primary alone. */
	l.fleet.form.reads = false;
	assert_int_equal(rbi_leg_for(&l.fleet, 0, false)->node, 0);
	assert_false(rbi_leg_serves(legs_leg(&l, 1), 0));
	legs_end(&l);
}

static void test_a_replica_that_is_gone_is_not_asked(void **state)
{
	size_t i;
	legs l;

	(void)state;
	begin(&l, 1);
	follow(&l, 1, 0);
	follow(&l, 2, 0);
	l.options.flags |= RB_READ_REPLICAS;
	rbi_leg_end(legs_leg(&l, 1), "gone");
	for (i = 0; i < 10; i++) {
		l.fleet.pick = i;
		assert_int_equal(rbi_leg_for(&l.fleet, 0, false)->node, 2);
	}
	rbi_leg_rest(legs_leg(&l, 2), "gone", RBI_NEVER);
	assert_int_equal(rbi_leg_for(&l.fleet, 0, false)->node, 0);
	/* One whose map has changed is none of it any more. */
	l.client.pool->map.nodes[2].replica = false;
	assert_false(rbi_leg_serves(legs_leg(&l, 2), 0));
	legs_end(&l);
}

/* ------------------------------------------------------------------ allow -- */

static int allow_none(void *arg, const char *host, unsigned port)
{
	size_t *asked = arg;

	assert_string_equal(host, "127.0.0.1");
	assert_true(port >= LEGS_PORT);
	++*asked;
	return 0;
}

static void test_only_those_that_nobody_named_are_asked_about(void **state)
{
	rbi_seed seeds[] = { { "10.0.0.1", LEGS_PORT + 1 },
			     { "127.0.0.1", LEGS_PORT } };
	size_t asked = 0;
	legs l;

	(void)state;
	begin(&l, 2);
	l.client.uri.seeds = seeds;
	l.client.uri.nseeds = 2;
	l.options.allow_node = allow_none;
	l.options.allow_node_arg = &asked;
	assert_int_equal(legs_leg(&l, 0)->state, RBI_LEG_ASLEEP);
	assert_int_equal(asked, 0);
	assert_int_equal(legs_leg(&l, 1)->state, RBI_LEG_OVER);
	assert_int_equal(asked, 1);
	legs_end(&l);
}

/* ----------------------------------------------------------------- states -- */

static void test_a_leg_without_work_sleeps(void **state)
{
	struct pollfd fd;
	rbi_leg *leg;
	legs l;

	(void)state;
	begin(&l, 1);
	leg = legs_leg(&l, 0);
	assert_true(rbi_leg_wants(leg, &fd) == RBI_NEVER);
	assert_int_equal(fd.fd, -1);
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_ASLEEP);
	rbi_supply_next(&l.fleet);
	assert_true(rbi_leg_wants(leg, &fd) == 0);
	legs_end(&l);
}

static void test_a_leg_with_a_connection_sends_at_once(void **state)
{
	struct pollfd fd;
	size_t commands;
	rbi_leg *leg;
	legs l;

	(void)state;
	begin(&l, 1);
	rbi_supply_next(&l.fleet);
	leg = legs_up(&l, 0);
	assert_true(rbi_leg_wants(leg, &fd) == 0);
	rbi_leg_step(leg);
	assert_int_equal(legs_heard(&l, 0, &commands), 20);
	/* Silence for a second makes it look whether the node is there. */
	assert_true(rbi_leg_wants(leg, &fd) == LEGS_BEGIN_US + 1000000);
	assert_int_equal(fd.fd, leg->transport.fd);
	assert_int_equal(fd.events, POLLIN);
	assert_false(l.fleet.wants_map);
	l.fleet.now_us += 1000000;
	rbi_leg_step(leg);
	assert_true(l.fleet.wants_map);
	assert_true(rbi_leg_wants(leg, &fd) == RBI_NEVER);
	legs_end(&l);
}

static void test_who_is_silent_and_has_lost_its_slots_is_left(void **state)
{
	uint16_t slot;
	rbi_leg *leg;
	legs l;

	(void)state;
	begin(&l, 2);
	rbi_supply_next(&l.fleet);
	leg = legs_up(&l, 0);
	rbi_leg_step(leg);
	l.fleet.now_us += 1000000;
	rbi_leg_heed_map(leg);
	assert_false(leg->engine.down);
	l.fleet.now_us--;
	for (slot = 0; slot < RBI_SLOTS; slot++)
		rbi_slotmap_set(&l.client.pool->map, slot, 1);
	rbi_leg_heed_map(leg);
	assert_false(leg->engine.down);
	l.fleet.now_us++;
	rbi_leg_heed_map(leg);
	assert_true(leg->engine.down);
	assert_true(leg->engine.again.count > 0);
	assert_int_equal(leg->lane->count, 0);
	legs_end(&l);
}

static int bind_port(unsigned *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

/* To a port where nobody listens. */
static rbi_leg *dialing(legs *l)
{
	unsigned port;
	rbi_leg *leg;

	begin(l, 1);
	close(bind_port(&port));
	l->client.pool->map.nodes[0].port = port;
	rbi_supply_next(&l->fleet);
	leg = legs_leg(l, 0);
	rbi_leg_start(leg);
	assert_int_equal(leg->state, RBI_LEG_DIALING);
	return leg;
}

/* Steps until it is dialing no more; it waits on what it wants. */
static void step_dial(rbi_leg *leg)
{
	struct pollfd fd;

	while (leg->state == RBI_LEG_DIALING) {
		(void)rbi_leg_wants(leg, &fd);
		if (fd.fd >= 0)
			assert_int_equal(poll(&fd, 1, 10000), 1);
		rbi_leg_step(leg);
	}
}

static void test_where_nobody_is_it_rests_and_tries_again(void **state)
{
	struct pollfd fd;
	rbi_leg *leg;
	legs l;

	(void)state;
	leg = dialing(&l);
	step_dial(leg);
	assert_int_equal(leg->state, RBI_LEG_RESTING);
	assert_true(leg->down_us == LEGS_BEGIN_US);
	assert_true(leg->resume_us > LEGS_BEGIN_US);
	assert_true(leg->resume_us <= LEGS_BEGIN_US + 500000);
	assert_true(rbi_leg_wants(leg, &fd) == leg->resume_us);
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_RESTING);
	l.fleet.now_us = leg->resume_us;
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_DIALING);
	/* It is down since the first time. */
	step_dial(leg);
	assert_true(leg->down_us == LEGS_BEGIN_US);
	legs_end(&l);
}

static void test_with_one_attempt_it_is_not_tried_again(void **state)
{
	rbi_leg *leg;
	struct pollfd fd;
	legs l;

	(void)state;
	leg = dialing(&l);
	l.options.attempts = 1;
	step_dial(leg);
	assert_int_equal(leg->state, RBI_LEG_OVER);
	assert_true(rbi_leg_wants(leg, &fd) == RBI_NEVER);
	legs_end(&l);
}

/* The node is there, and says nothing. */
static void test_connecting_takes_no_longer_than_it_may(void **state)
{
	unsigned port;
	rbi_leg *leg;
	legs l;
	int fd;

	(void)state;
	begin(&l, 1);
	fd = bind_port(&port);
	assert_int_equal(listen(fd, 1), 0);
	l.client.pool->map.nodes[0].port = port;
	l.client.uri.password = "secret";
	rbi_supply_next(&l.fleet);
	leg = legs_leg(&l, 0);
	rbi_leg_start(leg);
	while (!leg->dialer.asking)
		rbi_leg_step(leg);
	l.fleet.now_us = leg->dial_until_us - 1;
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_DIALING);
	l.fleet.now_us++;
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_RESTING);
	assert_string_equal(leg->why, "the deadline for connecting passed");
	legs_end(&l);
	close(fd);
}

static void test_a_refusal_is_for_good_unless_it_is_for_now(void **state)
{
	static const struct {
		const char *words;
		bool refused;
		rbi_leg_state want;
	} rows[] = {
		{ "node: WRONGPASS no", true, RBI_LEG_OVER },
		{ "node: LOADING the dataset", false, RBI_LEG_RESTING },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbi_leg *leg;
		legs l;

		leg = dialing(&l);
		leg->dialer.state = RBI_DIALER_FAILED;
		leg->dialer.refused = rows[i].refused;
		strcpy(leg->dialer.why, rows[i].words);
		rbi_leg_step(leg);
		assert_int_equal(leg->state, rows[i].want);
		assert_string_equal(leg->why, rows[i].words);
		legs_end(&l);
	}
}

static void test_a_leg_may_be_freed_while_it_connects(void **state)
{
	legs l;

	(void)state;
	(void)dialing(&l);
	legs_end(&l);
}

/* ---------------------------------------------------------------- wrapped -- */

typedef struct offer {
	redisContext *fresh;
	size_t asked;
} offer;

static int give_context(void *arg, redisContext *lost, redisContext **fresh)
{
	offer *o = arg;

	redisFree(lost);
	o->asked++;
	*fresh = o->fresh;
	return o->fresh != NULL ? 0 : -1;
}

/* A wrapped context to one server, which wants keys of one slot. */
static rbi_leg *wrapped(legs *l, offer *o, pair *p)
{
	rbi_leg *leg;

	begin(l, 1);
	l->client.pool->fixed = true;
	l->client.own = false;
	pair_init(p);
	l->client.ctx = p->ctx;
	l->options.reconnect = o != NULL ? give_context : NULL;
	l->options.reconnect_arg = o;
	rbi_supply_next(&l->fleet);
	leg = legs_leg(l, 0);
	assert_ptr_equal(leg->ctx, &l->client.ctx);
	assert_ptr_equal(leg->lane, &l->client.lane);
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_UP);
	/* The connection is lost, and the leg is told so. */
	pair_close_peer(p);
	legs_step(leg);
	assert_true(leg->engine.down);
	rbi_leg_rest(leg, "lost", LEGS_BEGIN_US);
	return leg;
}

static void test_a_wrapped_context_is_the_callers_to_renew(void **state)
{
	offer o = { NULL, 0 };
	rbi_leg *leg;
	pair fresh;
	pair p;
	legs l;

	(void)state;
	pair_init(&fresh);
	o.fresh = fresh.ctx;
	leg = wrapped(&l, &o, &p);
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_UP);
	assert_ptr_equal(l.client.ctx, fresh.ctx);
	assert_int_equal(leg->part->stats.reconnects, 1);
	legs_end(&l);
	pair_fini(&fresh);
}

static void test_a_caller_may_have_no_other_context(void **state)
{
	offer o = { NULL, 0 };
	rbi_leg *leg;
	pair p;
	legs l;

	(void)state;
	leg = wrapped(&l, &o, &p);
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_OVER);
	assert_int_equal(o.asked, 1);
	assert_null(l.client.ctx);
	assert_non_null(strstr(leg->why, "gave no context"));
	assert_string_equal(l.client.error, "");
	legs_end(&l);
}

static void test_a_caller_who_was_not_asked_loses_the_connection(void **state)
{
	rbi_leg *leg;
	pair p;
	legs l;

	(void)state;
	leg = wrapped(&l, NULL, &p);
	rbi_leg_step(leg);
	assert_int_equal(leg->state, RBI_LEG_OVER);
	assert_string_equal(leg->why, "the connection was lost");
	legs_end(&l);
	pair_fini(&p);
}

/* ----------------------------------------------------------------- memory -- */

static void test_without_memory_there_is_no_leg(void **state)
{
	size_t fail_at;

	(void)state;
	for (fail_at = 1;; fail_at++) {
		rbi_leg *leg;
		legs l;

		begin(&l, 1);
		l.count.fail_at = l.count.asked + fail_at;
		leg = rbi_leg_of(&l.fleet, 0, 0);
		assert_int_equal(l.fleet.nlegs, leg != NULL);
		l.count.fail_at = 0;
		assert_non_null(rbi_leg_of(&l.fleet, 0, 0));
		legs_end(&l);
		if (leg != NULL)
			break;
	}
	assert_in_range(fail_at, 6, 12);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_slot_has_the_leg_of_its_node),
		cmocka_unit_test(
			test_of_a_slot_that_nobody_serves_anybody_is_asked),
		cmocka_unit_test(test_replicas_are_asked_if_they_may_be),
		cmocka_unit_test(test_a_replica_that_is_gone_is_not_asked),
		cmocka_unit_test(
			test_only_those_that_nobody_named_are_asked_about),
		cmocka_unit_test(test_a_leg_without_work_sleeps),
		cmocka_unit_test(test_a_leg_with_a_connection_sends_at_once),
		cmocka_unit_test(
			test_who_is_silent_and_has_lost_its_slots_is_left),
		cmocka_unit_test(test_where_nobody_is_it_rests_and_tries_again),
		cmocka_unit_test(test_with_one_attempt_it_is_not_tried_again),
		cmocka_unit_test(test_connecting_takes_no_longer_than_it_may),
		cmocka_unit_test(
			test_a_refusal_is_for_good_unless_it_is_for_now),
		cmocka_unit_test(test_a_leg_may_be_freed_while_it_connects),
		cmocka_unit_test(
			test_a_wrapped_context_is_the_callers_to_renew),
		cmocka_unit_test(test_a_caller_may_have_no_other_context),
		cmocka_unit_test(
			test_a_caller_who_was_not_asked_loses_the_connection),
		cmocka_unit_test(test_without_memory_there_is_no_leg),
	};

	return cmocka_run_group_tests_name("leg", tests, NULL, NULL);
}
