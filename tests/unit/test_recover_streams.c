/*
 * Streams under whatever a server does: every entry that the source gave
 * reaches the sink once and in order, or is told of once, and memory stays at
 * what a window takes.
 */
#include "chance.h"
#include "intake.h"

static rig r;
static refuser f;
static refuser_list list;
static rbi_intake in;
static rbi_batch form;
static size_t n;
static size_t given;
static size_t taken;
static size_t failed;
static size_t halt_at;
static bool told[REFUSER_MOST];
static rb_outcome outcomes[REFUSER_MOST];

/* ----------------------------------------------------------- both its ends -- */

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	(void)arg;
	if (given == n)
		return 0;
	key->data = r.keys.keys[given];
	key->len = REFUSER_WIDTH;
	value->data = f.value_list[given];
	value->len = f.value_lens[given];
	given++;
	return 1;
}

static int next_key(void *arg, rb_slice *key)
{
	rb_slice value;

	return next_pair(arg, key, &value);
}

static int next_command(void *arg, rb_command *command)
{
	(void)arg;
	if (given == n)
		return 0;
	*command = list.commands[given++];
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *taken_keys,
		const rb_slice *values, const rb_status *statuses, size_t count)
{
	size_t i;

	(void)arg;
	assert_int_equal(first, taken);
	for (i = 0; i < count; i++) {
		const char *key = r.keys.keys[first + i];

		assert_memory_equal(taken_keys[i].data, key, REFUSER_WIDTH);
		failed += statuses[i] != RB_OK;
		if (statuses[i] != RB_OK) {
			assert_null(values[i].data);
			continue;
		}
		assert_int_equal(values[i].len, REFUSER_WIDTH);
		assert_memory_equal(values[i].data, key, REFUSER_WIDTH);
	}
	taken += count;
	return taken >= halt_at ? -1 : 0;
}

static int take_replies(void *arg, size_t first,
			const struct redisReply *const *replies,
			const rb_status *statuses, size_t count)
{
	size_t i;

	(void)arg;
	assert_int_equal(first, taken);
	for (i = 0; i < count; i++) {
		if (statuses[i] == RB_OK)
			assert_string_equal(replies[i]->str, "OK");
		failed += statuses[i] != RB_OK;
	}
	taken += count;
	return taken >= halt_at ? -1 : 0;
}

static int tell(void *arg, const rb_chunk *chunk)
{
	size_t i;

	(void)arg;
	for (i = chunk->first; i < chunk->first + chunk->count; i++) {
		assert_true(i < given);
		assert_false(told[i]);
		told[i] = true;
		outcomes[i] = chunk->outcome;
	}
	return 0;
}

/* -------------------------------------------------------------- the bench -- */

/* Of each form that a stream may have. */
typedef enum kind { READS, PAIRS, COMMANDS, KINDS } kind;

static void begin(size_t count, kind what, refuser_rule *rule,
		  const char *words)
{
	n = count;
	given = taken = failed = 0;
	halt_at = SIZE_MAX;
	memset(told, 0, sizeof(told));
	memset(outcomes, 0, sizeof(outcomes));
	refuser_init(&f, &r, n, rule, words);
	if (what != READS)
		refuser_writes(&f, what == PAIRS ? "MSET" : "SET");
	if (what == COMMANDS)
		refuser_commands(&f, &list);
	memset(&in, 0, sizeof(in));
	in.next_key = what == READS ? next_key : NULL;
	in.next_pair = what == PAIRS ? next_pair : NULL;
	in.next_command = what == COMMANDS ? next_command : NULL;
	in.take_values = what == READS ? take : NULL;
	in.take_replies = what == COMMANDS ? take_replies : NULL;
	in.batch = &form;
	in.allocator = &r.count.allocator;
	in.node = "node";
	in.max_value = 1000;
	r.options.on_chunk = tell;
}

/* The entries come from the source, so that the engine's batch has none. */
static bool begin_stream(void)
{
	rbi_batch whole = r.batch;
	bool begun;

	form = r.batch;
	form.keys = form.values = NULL;
	form.keylens = form.valuelens = NULL;
	form.commands = NULL;
	form.n = 0;
	form.keys_name = "keys";
	form.keylens_name = "keylens";
	r.batch.n = 0;
	begun = rig_begin(&r);
	r.batch = whole;
	if (!begun)
		return false;
	rbi_intake_init(&in);
	r.engine.batch = &form;
	r.engine.feed = &in.feed;
	return true;
}

static void run_stream(void)
{
	rbi_engine_run(&r.engine, &r.clock);
	assert_true(r.engine.over);
	assert_int_equal(r.lane.count, 0);
	rbi_intake_fini(&in);
}

static void check_writes(void)
{
	size_t i;

	/* What is told in part says for each of it no more than "perhaps". */
	for (i = 0; i < n; i++) {
		if (outcomes[i] == RB_PARTLY)
			assert_in_range(f.entry_times[i], 0, 1);
		else if (!chance_is_true(outcomes[i], f.entry_times[i]))
			fail_msg("entry %zu is %s and was applied %zu times", i,
				 rb_outcome_text(outcomes[i]),
				 f.entry_times[i]);
	}
	assert_int_equal(f.overtaken, 0);
}

/* ---------------------------------------------------------------- it ends -- */

static void test_parts_of_a_stream_come_in_order(void **state)
{
	kind what;

	(void)state;
	for (what = READS; what < KINDS; what++) {
		begin(300, what, refuse_keys,
		      "-NOPERM No permissions to access a key\r\n");
		f.forbidden[0] = f.forbidden[77] = f.forbidden[299] = true;
		r.options.chunk_keys = 64;
		r.options.window = 4;
		assert_true(begin_stream());
		run_stream();
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(given, 300);
		if (what != PAIRS) {
			assert_int_equal(taken, 300);
			assert_int_equal(failed, 3);
		}
		assert_int_equal(in.failed, 3);
		assert_int_equal(in.given, 300);
		rig_fini(&r);
	}
}

static void test_a_stream_that_waits_takes_no_more_in(void **state)
{
	(void)state;
	begin(1000, READS, refuse_early, "-LOADING\r\n");
	f.until_us = RIG_BEGIN_US + 5000000;
	r.engine.deadline_us = RIG_BEGIN_US + 60000000;
	r.options.chunk_keys = 10;
	r.options.window = 3;
	assert_true(begin_stream());
	while (!rbi_engine_step(&r.engine, r.now_us) && r.now_us < f.until_us) {
		/* What was in flight at first, and one item at hand. */
		assert_in_range(given, 0, 31);
		r.now_us += 1000;
	}
	run_stream();
	assert_int_equal(taken, 1000);
	assert_int_equal(failed, 0);
	rig_fini(&r);
}

static void test_a_stream_of_pairs_learns_how_many_arguments_fit(void **state)
{
	(void)state;
	begin(600, PAIRS, refuse_arguments,
	      "-ERR Protocol error: invalid multibulk length\r\n");
	rig_renew(&r);
	f.limit = 201;
	r.options.chunk_keys = 150;
	assert_true(begin_stream());
	run_stream();
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(f.refused, 1);
	/* Half of 301, and not less than that. */
	assert_in_range(r.limits.args, 150, 152);
	check_writes();
	rig_fini(&r);
}

/* ------------------------------------------------------- whatever happens -- */

static void begin_round(kind what, bool renew)
{
	size_t count = 1 + random_below(&chance, 150);
	size_t nkeys = 1 + random_below(&chance, count);
	size_t i;

	begin(count, what, chance_misbehave, "");
	if (renew)
		rig_renew(&r);
	r.options.chunk_keys = 1 + random_below(&chance, 20);
	r.options.window = 1 + random_below(&chance, 6);
	r.options.attempts = 1 + (uint32_t)random_below(&chance, 5);
	r.engine.deadline_us = RIG_BEGIN_US + 20000000;
	r.engine.seed = chance;
	r.service_us = random_below(&chance, 3) * 500;
	f.limit = 8 + random_below(&chance, 60);
	for (i = 0; i < count; i++)
		refuser_same_key(&f, i, random_below(&chance, nkeys));
	f.forbidden[random_below(&chance, nkeys)] = true;
	if (what == COMMANDS)
		refuser_commands(&f, &list);
	if (random_below(&chance, 6) == 0)
		halt_at = random_below(&chance, count);
}

static void check_round(kind what, bool starve)
{
	bool halted = taken >= halt_at;

	/* An entry for which there was no crate may be lost with the call. */
	if (what != PAIRS && !halted)
		assert_in_range(taken, given - (starve && given > 0), given);
	if (what == PAIRS)
		check_writes();
	assert_int_equal(f.overtaken, 0);
	(void)rig_is_broken(&r);
}

static void run_rounds(uint64_t seed, bool renew, bool starve)
{
	size_t i;

	chance = seed;
	for (i = 0; i < 3000; i++) {
		kind what = (kind)(i % KINDS);

		begin_round(what, renew);
		if (starve)
			r.count.fail_at = 1 + random_below(&chance, 60);
		if (begin_stream()) {
			run_stream();
			check_round(what, starve);
		}
		rig_fini(&r);
	}
}

static void test_whatever_happens_to_a_stream(void **state)
{
	(void)state;
	run_rounds(201, false, false);
	run_rounds(202, true, false);
}

static void test_whatever_happens_to_a_stream_without_memory(void **state)
{
	(void)state;
	run_rounds(203, false, true);
	run_rounds(204, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_of_a_stream_come_in_order),
		cmocka_unit_test(test_a_stream_that_waits_takes_no_more_in),
		cmocka_unit_test(
			test_a_stream_of_pairs_learns_how_many_arguments_fit),
		cmocka_unit_test(test_whatever_happens_to_a_stream),
		cmocka_unit_test(
			test_whatever_happens_to_a_stream_without_memory),
	};

	return cmocka_run_group_tests_name("recover_streams", tests, NULL,
					   NULL);
}
