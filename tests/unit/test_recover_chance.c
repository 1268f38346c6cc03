/*
 * Whatever a server does and whenever it does it: every entry is accounted for
 * once, what is said of it is true, and writes keep their order.
 */
#include "chance.h"

static rig r;
static refuser f;
static size_t told[REFUSER_MOST];
static size_t cancel_after;
static uint32_t round_flags;

/* What all rounds of a test had of each, so that none passes for want of it. */
static struct {
	uint64_t retries;
	uint64_t splits;
	uint64_t reconnects;
	size_t unknown;
	size_t refused;
	size_t fine;
} seen;

/* ------------------------------------------------------------- the rounds -- */

static int tell(void *arg, const rb_chunk *chunk)
{
	size_t i;

	(void)arg;
	for (i = 0; i < chunk->count; i++)
		told[chunk->first + i]++;
	return cancel_after > 0 && r.commands > cancel_after ? -1 : 0;
}

static refuser_list list;

static void begin_round(const char *verb, bool renew)
{
	size_t n = 1 + random_below(&chance, 80);
	size_t nkeys = 1 + random_below(&chance, n);
	size_t i;

	refuser_init(&f, &r, n, chance_misbehave, "");
	if (verb != NULL)
		refuser_writes(&f, verb);
	r.batch.transaction = verb != NULL && strcmp(verb, "MSET") == 0 &&
			      random_below(&chance, 3) == 0;
	if (renew)
		rig_renew(&r);
	memset(told, 0, sizeof(told));
	cancel_after = random_below(&chance, 8) == 0 ? 3 : 0;
	r.options.on_chunk = tell;
	r.options.chunk_keys = 1 + random_below(&chance, 20);
	r.options.window = 1 + random_below(&chance, 6);
	r.options.attempts = 1 + (uint32_t)random_below(&chance, 5);
	r.engine.deadline_us = random_below(&chance, 3) == 0 ?
				       RBI_NEVER :
				       RIG_BEGIN_US + 20000000;
	r.engine.seed = chance;
	r.engine.starts_small = random_below(&chance, 2) == 0;
	r.service_us = random_below(&chance, 3) * 500;
	r.unwilling = random_below(&chance, 4) == 0 ? 2 : 0;
	r.why_not = RB_ERR_CONNECT;
	f.limit = 8 + random_below(&chance, 60);
	for (i = 0; i < n; i++)
		refuser_same_key(&f, i, random_below(&chance, nkeys));
	f.forbidden[random_below(&chance, nkeys)] = true;
	if (verb != NULL && strcmp(verb, "SET") == 0)
		refuser_commands(&f, &list);
}

/* What may be said of one that may be repeated. */
static bool is_true_of_many(rb_outcome outcome, size_t times)
{
	if (outcome == RB_NOT_SENT || outcome == RB_REJECTED)
		return times == 0;
	return outcome == RB_UNKNOWN || times > 0;
}

static void check_repeated_writes(void)
{
	size_t i;

	for (i = 0; i < r.batch.n; i++) {
		rb_outcome outcome = rb_result_outcome(r.res, i);

		if (!is_true_of_many(outcome, f.entry_times[i]))
			fail_msg("entry %zu is %s and was applied %zu times", i,
				 rb_outcome_text(outcome), f.entry_times[i]);
	}
}

static void check_writes(void)
{
	size_t i;

	if ((r.options.flags & RB_RETRY_WRITES) != 0) {
		check_repeated_writes();
		return;
	}

	for (i = 0; i < r.batch.n; i++) {
		rb_outcome outcome = rb_result_outcome(r.res, i);

		if (!chance_is_true(outcome, f.entry_times[i]))
			fail_msg("entry %zu is %s and was applied %zu times", i,
				 rb_outcome_text(outcome), f.entry_times[i]);
	}
	assert_int_equal(f.overtaken, 0);
}

static void check_reads(void)
{
	size_t i;

	for (i = 0; i < r.batch.n; i++) {
		if (rb_result_status(r.res, i) == RB_OK)
			refuser_check_fine(&f, i);
	}
}

static void check_told(void)
{
	size_t i;

	for (i = 0; i < r.batch.n; i++)
		assert_in_range(told[i], 0, 1);
	if (r.engine.status == RB_ERR_CANCELLED)
		return;
	for (i = 0; i < rb_result_chunks(r.res); i++) {
		const rb_chunk *chunk = rb_result_chunk(r.res, i);
		size_t k;

		for (k = 0; k < chunk->count; k++)
			assert_int_equal(told[chunk->first + k],
					 chunk->attempts > 0);
	}
}

static void note_seen(void)
{
	seen.retries += r.res->stats.retries;
	seen.splits += r.res->stats.splits;
	seen.reconnects += r.res->stats.reconnects;
	seen.unknown += rig_count_outcome(&r, RB_UNKNOWN);
	seen.refused += rig_count_outcome(&r, RB_REJECTED);
	seen.fine += rig_count_outcome(&r, RB_ANSWERED);
}

/* A lack of memory may make what is told coarser, but not wrong. */
static void run_round(const char *verb, bool renew, bool starve)
{
	begin_round(verb, renew);
	r.options.flags = round_flags;
	if (starve)
		r.count.fail_at = 1 + random_below(&chance, 40);
	if (rig_begin(&r)) {
		rbi_engine_run(&r.engine, &r.clock);
		assert_true(r.engine.over);
		assert_int_equal(r.lane.count, 0);
		(void)rig_check_sums(&r);
		(void)rig_is_broken(&r);
		if (verb == NULL)
			check_reads();
		else
			check_writes();
		if (!starve)
			check_told();
		note_seen();
	}
	rig_fini(&r);
}

#define ROUNDS 4000

static const char *const verbs[] = { NULL, "MSET", "HSET", "SET" };

/* The verbs from first on. */
static void run_verbs(size_t first, size_t count, bool renew, bool starve)
{
	size_t i;

	memset(&seen, 0, sizeof(seen));
	for (i = 0; i < ROUNDS; i++)
		run_round(verbs[first + i % count], renew, starve);
	assert_true(seen.retries > ROUNDS / 10);
	/* Commands of any kind are not cut in parts. */
	assert_true(seen.splits > ROUNDS / 20 || first == 3);
	assert_int_equal(seen.reconnects > 0, renew);
	assert_true(seen.reconnects > ROUNDS / 10 || !renew);
	assert_true(seen.unknown > ROUNDS / 20);
	assert_true(seen.refused > ROUNDS / 20);
	assert_true(seen.fine > ROUNDS / 2);
}

static void run_rounds(uint64_t seed, bool renew, bool starve)
{
	chance = seed;
	round_flags = 0;
	run_verbs(0, N_OF(verbs), renew, starve);
}

static void test_whatever_happens_on_one_connection(void **state)
{
	(void)state;
	run_rounds(101, false, false);
}

static void test_whatever_happens_on_many_connections(void **state)
{
	(void)state;
	run_rounds(102, true, false);
}

static void test_whatever_happens_to_writes_that_may_be_repeated(void **state)
{
	(void)state;
	chance = 105;
	round_flags = RB_RETRY_WRITES;
	run_verbs(1, 2, true, false);
}

static void test_whatever_happens_to_commands_that_may_be_repeated(void **state)
{
	(void)state;
	chance = 106;
	round_flags = RB_RETRY_WRITES;
	run_verbs(3, 1, true, false);
}

static void test_whatever_happens_without_memory(void **state)
{
	(void)state;
	run_rounds(103, false, true);
	run_rounds(104, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_happens_on_one_connection),
		cmocka_unit_test(test_whatever_happens_on_many_connections),
		cmocka_unit_test(
			test_whatever_happens_to_writes_that_may_be_repeated),
		cmocka_unit_test(
			test_whatever_happens_to_commands_that_may_be_repeated),
		cmocka_unit_test(test_whatever_happens_without_memory),
	};

	return cmocka_run_group_tests_name("recover_chance", tests, NULL, NULL);
}
