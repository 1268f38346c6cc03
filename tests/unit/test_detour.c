/*
 * What becomes of a chunk that a node refused.
 */
#include "legs.h"

static const char *values[LEGS_MOST];

typedef struct fixture {
	legs l;
	rbi_leg *leg; /* to node 0, which refuses */
	rbi_parcel p;
	rbi_fate fate;
} fixture;

static void take(fixture *f, size_t most)
{
	const rbi_bounds bounds = { .keys = most,
				    .args = SIZE_MAX,
				    .request_bytes = SIZE_MAX / 2,
				    .reply_bytes = SIZE_MAX };
	rbi_feed *feed = &f->leg->feed;

	assert_status(feed->ops->next(feed, &bounds, &f->p), RB_OK);
	assert_true(f->p.cut.count > 0);
}

static void begin(fixture *f, bool writes)
{
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(&f->l, 20, 2, writes ? values : NULL);
	rbi_supply_next(&f->l.fleet);
	f->leg = legs_up(&f->l, 0);
	take(f, 3);
}

static bool refuse(fixture *f, rbi_route route, const char *words)
{
	const rbi_refusal refusal = { route, RB_ERR_SERVER, RB_REJECTED,
				      words };

	f->fate = (rbi_fate){ RB_ERR_SERVER, RB_REJECTED, words };
	return rbi_detour_ops.take(f->leg, &f->p, &refusal, &f->fate,
				   f->l.fleet.now_us);
}

/* The chunk as it waits, which it does alone. */
static const rbi_parcel *waiting(const fixture *f)
{
	assert_int_equal(f->l.fleet.yard.count, 1);
	assert_int_equal(f->l.fleet.yard.items[0].parcel.cut.count,
			 f->p.cut.count);
	return &f->l.fleet.yard.items[0].parcel;
}

/* It waits no more, and is refused once more. */
static bool refuse_again(fixture *f, rbi_route route, const char *words)
{
	f->p = rbi_again_take(&f->l.fleet.yard, 0).parcel;
	return refuse(f, route, words);
}

static void end(fixture *f)
{
	legs_end(&f->l);
}

/* ------------------------------------------------------------- redirected -- */

static void test_moved_corrects_the_map(void **state)
{
	const rbi_parcel *w;
	size_t owner;
	fixture f;
	size_t i;

	(void)state;
	begin(&f, false);
	assert_true(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001"));
	w = waiting(&f);
	assert_int_equal(w->trip.to, RBI_ANYWHERE);
	assert_false(w->cut.asking);
	assert_true(w->trip.primary);
	for (i = 0; i < f.p.cut.count; i++)
		assert_int_equal(f.l.client.pool->map.owner[f.p.slots[i]], 1);
	assert_true(f.l.fleet.wants_map);
	assert_int_equal(f.leg->part->stats.redirects, 1);
	assert_false(f.leg->renewing);
	/* To a node that was not known. */
	assert_true(
		refuse_again(&f, RBI_ROUTE_REDIRECT, "MOVED 2 10.0.0.9:6379"));
	owner = f.l.client.pool->map.owner[f.p.slots[0]];
	assert_string_equal(f.l.client.pool->map.nodes[owner].host, "10.0.0.9");
	end(&f);
}

static void test_ask_leaves_the_map_alone(void **state)
{
	const rbi_parcel *w;
	fixture f;
	size_t i;

	(void)state;
	begin(&f, false);
	assert_true(refuse(&f, RBI_ROUTE_REDIRECT, "ASK 2 127.0.0.1:7001"));
	w = waiting(&f);
	assert_int_equal(w->trip.to, 1);
	assert_true(w->cut.asking);
	for (i = 0; i < f.p.cut.count; i++)
		assert_int_equal(f.l.client.pool->map.owner[f.p.slots[i]], 0);
	assert_false(f.l.fleet.wants_map);
	/* And behind a MOVED it is asked no more. */
	assert_true(
		refuse_again(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001"));
	assert_false(waiting(&f)->cut.asking);
	assert_int_equal(waiting(&f)->trip.to, RBI_ANYWHERE);
	end(&f);
}

static void test_a_node_without_a_host_is_the_one_that_answers(void **state)
{
	size_t owner;
	fixture f;

	(void)state;
	begin(&f, false);
	assert_true(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 :7777"));
	owner = f.l.client.pool->map.owner[f.p.slots[0]];
	assert_string_equal(f.l.client.pool->map.nodes[owner].host,
			    "127.0.0.1");
	assert_int_equal(f.l.client.pool->map.nodes[owner].port, 7777);
	end(&f);
}

static void test_who_names_itself_gets_one_new_connection(void **state)
{
	fixture f;

	(void)state;
	begin(&f, false);
	assert_true(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7000"));
	assert_true(f.leg->renewing);
	f.leg->renewing = false;
	f.leg->renewed = true;
	assert_true(
		refuse_again(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7000"));
	assert_false(f.leg->renewing);
	end(&f);
}

static void test_redirects_slow_down_and_come_to_an_end(void **state)
{
	static const uint64_t late_ms[] = { 0, 0, 0, 100, 200, 300, 400, 500 };
	fixture f;
	size_t i;

	(void)state;
	begin(&f, false);
	for (i = 0; i < N_OF(late_ms); i++) {
		const char *words = i % 2 == 0 ? "MOVED 2 127.0.0.1:7001" :
						 "MOVED 2 127.0.0.1:7000";

		assert_true(
			i == 0 ? refuse(&f, RBI_ROUTE_REDIRECT, words) :
				 refuse_again(&f, RBI_ROUTE_REDIRECT, words));
		assert_true(waiting(&f)->trip.resume_us ==
			    LEGS_BEGIN_US + 1000 * late_ms[i]);
	}
	assert_false(
		refuse_again(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001"));
	assert_string_equal(f.fate.message, "MOVED 2 127.0.0.1:7001 "
					    "(redirected too often)");
	assert_int_equal(f.l.fleet.yard.count, 0);
	end(&f);
}

static void test_where_there_is_no_place_it_fails(void **state)
{
	size_t nnodes;
	unsigned i;
	fixture f;

	(void)state;
	begin(&f, false);
	assert_false(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2"));
	assert_string_equal(f.fate.message, "MOVED 2 (to nowhere)");
	nnodes = f.l.client.pool->map.nnodes;
	for (i = 0; i < RBI_NODES_MAX - nnodes; i++)
		(void)!rbi_slotmap_node(&f.l.client.pool->map, "n", 1, i + 1);
	assert_false(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 new:1"));
	assert_string_equal(f.fate.message, "MOVED 2 new:1 (too many nodes)");
	/* Those that are known will do. */
	assert_true(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 n:1"));
	end(&f);
}

static void test_one_server_cannot_send_us_away(void **state)
{
	fixture f;

	(void)state;
	begin(&f, false);
	f.l.client.pool->fixed = true;
	assert_false(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001"));
	assert_string_equal(f.fate.message, "MOVED 2 127.0.0.1:7001");
	end(&f);
}

/* ------------------------------------------------------------------ waits -- */

static void test_a_cluster_that_is_down_is_waited_for(void **state)
{
	uint64_t before;
	fixture f;
	size_t i;

	(void)state;
	begin(&f, false);
	before = f.l.fleet.now_us;
	assert_true(refuse(&f, RBI_ROUTE_AGAIN, "CLUSTERDOWN the cluster"));
	for (i = 1; i < 100; i++) {
		uint64_t resume = waiting(&f)->trip.resume_us;

		assert_true(waiting(&f)->trip.since_us == before);
		assert_true(resume > f.l.fleet.now_us);
		assert_true(resume - f.l.fleet.now_us < 500000);
		f.l.fleet.now_us = resume;
		if (!refuse_again(&f, RBI_ROUTE_AGAIN,
				  "CLUSTERDOWN the cluster"))
			break;
	}
	assert_true(f.l.fleet.wants_map);
	/* So long, and no longer. */
	assert_in_range(i, 20, 99);
	assert_true(f.l.fleet.now_us + 500000 > before + f.l.fleet.budget_us);
	assert_true(f.l.fleet.now_us < before + f.l.fleet.budget_us);
	end(&f);
}

static void test_what_will_not_pass_is_not_waited_for(void **state)
{
	static const char *const words[] = {
		"CLUSTERDOWN Hash slot not served",
		"upstream failure",
	};
	fixture f;
	size_t i;

	(void)state;
	begin(&f, false);
	for (i = 0; i < N_OF(words); i++) {
		f.p.attempts = f.l.options.attempts - 1;
		assert_true(refuse(&f, RBI_ROUTE_AGAIN, words[i]));
		f.p = rbi_again_take(&f.l.fleet.yard, 0).parcel;
		f.p.attempts = f.l.options.attempts;
		assert_false(refuse(&f, RBI_ROUTE_AGAIN, words[i]));
	}
	assert_true(refuse(&f, RBI_ROUTE_AGAIN, "CLUSTERDOWN for a while"));
	end(&f);
}

static void test_with_one_attempt_nothing_waits(void **state)
{
	fixture f;

	(void)state;
	begin(&f, false);
	f.l.options.attempts = 1;
	assert_false(refuse(&f, RBI_ROUTE_AGAIN, "CLUSTERDOWN for a while"));
	f.p.cut.alone = true;
	assert_false(refuse(&f, RBI_ROUTE_ALONE, "TRYAGAIN"));
	/* To go elsewhere is no other attempt. */
	assert_true(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001"));
	end(&f);
}

static void test_keys_on_two_nodes_go_alone_and_then_wait(void **state)
{
	fixture f;

	(void)state;
	begin(&f, false);
	assert_true(refuse(&f, RBI_ROUTE_ALONE, "TRYAGAIN"));
	assert_true(waiting(&f)->cut.alone);
	assert_true(waiting(&f)->trip.resume_us == 0);
	assert_int_equal(f.leg->part->stats.splits, 1);
	assert_true(refuse_again(&f, RBI_ROUTE_ALONE, "TRYAGAIN"));
	assert_true(waiting(&f)->trip.resume_us > LEGS_BEGIN_US);
	assert_int_equal(f.leg->part->stats.splits, 1);
	end(&f);
}

static void test_a_transaction_cannot_be_taken_apart(void **state)
{
	fixture f;

	(void)state;
	begin(&f, true);
	f.l.fleet.loads[0]->batch.transaction = true;
	assert_true(refuse(&f, RBI_ROUTE_ALONE, "TRYAGAIN"));
	assert_false(waiting(&f)->cut.alone);
	assert_true(waiting(&f)->trip.resume_us > LEGS_BEGIN_US);
	end(&f);
}

static void test_instead_of_a_replica_the_primary_is_asked(void **state)
{
	fixture f;

	(void)state;
	begin(&f, false);
	assert_false(refuse(&f, RBI_ROUTE_LATER, "LOADING the dataset"));
	f.leg->replica = true;
	assert_true(refuse(&f, RBI_ROUTE_LATER, "LOADING the dataset"));
	assert_true(waiting(&f)->trip.primary);
	assert_false(refuse_again(&f, RBI_ROUTE_LATER, "LOADING"));
	end(&f);
}

/* ----------------------------------------------------------------- others -- */

static void test_other_refusals_are_somebody_elses(void **state)
{
	static const rbi_route routes[] = {
		RBI_ROUTE_ANSWER,  RBI_ROUTE_FAIL,  RBI_ROUTE_REGROUP,
		RBI_ROUTE_ISOLATE, RBI_ROUTE_SPLIT, RBI_ROUTE_SHRINK,
		RBI_ROUTE_STOP,	   RBI_ROUTE_CLOSE,
	};
	fixture f;
	size_t i;

	(void)state;
	begin(&f, false);
	for (i = 0; i < N_OF(routes); i++)
		assert_false(refuse(&f, routes[i], "ERR no"));
	assert_int_equal(f.l.fleet.yard.count, 0);
	end(&f);
}

static void test_when_a_call_was_stopped_nothing_goes_on(void **state)
{
	fixture f;

	(void)state;
	begin(&f, false);
	rbi_fleet_stop(&f.l.fleet, RB_ERR_CANCELLED, "enough");
	assert_false(refuse(&f, RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001"));
	assert_false(refuse(&f, RBI_ROUTE_AGAIN, "CLUSTERDOWN"));
	end(&f);
}

static void test_without_memory_it_fails_in_the_servers_words(void **state)
{
	static const struct {
		rbi_route route;
		const char *words;
	} rows[] = {
		{ RBI_ROUTE_REDIRECT, "MOVED 2 127.0.0.1:7001" },
		{ RBI_ROUTE_ALONE, "TRYAGAIN" },
		{ RBI_ROUTE_AGAIN, "CLUSTERDOWN" },
	};
	fixture f;
	size_t i;

	(void)state;
	begin(&f, true);
	for (i = 0; i < N_OF(rows); i++) {
		f.l.count.fail_at = f.l.count.asked + 1;
		assert_false(refuse(&f, rows[i].route, rows[i].words));
		assert_string_equal(f.fate.message, rows[i].words);
		assert_false(rbi_yard_holds(&f.l.fleet, f.p.slots[0]));
	}
	f.l.count.fail_at = 0;
	assert_true(refuse(&f, RBI_ROUTE_AGAIN, "CLUSTERDOWN"));
	assert_true(rbi_yard_holds(&f.l.fleet, f.p.slots[0]));
	end(&f);
}

static void test_a_doubt_is_noted_for_each_slot(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f, true);
	rbi_detour_ops.doubt(f.leg, &f.p);
	for (i = 0; i < f.p.cut.count; i++)
		assert_true(rbi_yard_doubts(&f.l.fleet, f.p.slots[i]));
	assert_false(rbi_yard_doubts(&f.l.fleet, 1));
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_corrects_the_map),
		cmocka_unit_test(test_ask_leaves_the_map_alone),
		cmocka_unit_test(
			test_a_node_without_a_host_is_the_one_that_answers),
		cmocka_unit_test(test_who_names_itself_gets_one_new_connection),
		cmocka_unit_test(test_redirects_slow_down_and_come_to_an_end),
		cmocka_unit_test(test_where_there_is_no_place_it_fails),
		cmocka_unit_test(test_one_server_cannot_send_us_away),
		cmocka_unit_test(test_a_cluster_that_is_down_is_waited_for),
		cmocka_unit_test(test_what_will_not_pass_is_not_waited_for),
		cmocka_unit_test(test_with_one_attempt_nothing_waits),
		cmocka_unit_test(test_keys_on_two_nodes_go_alone_and_then_wait),
		cmocka_unit_test(test_a_transaction_cannot_be_taken_apart),
		cmocka_unit_test(
			test_instead_of_a_replica_the_primary_is_asked),
		cmocka_unit_test(test_other_refusals_are_somebody_elses),
		cmocka_unit_test(test_when_a_call_was_stopped_nothing_goes_on),
		cmocka_unit_test(
			test_without_memory_it_fails_in_the_servers_words),
		cmocka_unit_test(test_a_doubt_is_noted_for_each_slot),
	};

	return cmocka_run_group_tests_name("detour", tests, NULL, NULL);
}
