/*
 * What is sent again keeps the order of writes, whatever was refused; and a
 * server that lacks memory is tried with less once.
 */
#include "refuser.h"

static rig r;
static refuser f;

#define NO_REPLICAS "-NOREPLICAS Not enough good replicas to write.\r\n"
#define NO_MEMORY "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
#define NO_KEY "-NOPERM No permissions to access a key\r\n"

/* ------------------------------------------------------------ two writes -- */

/* Refuses the first command that it hears. */
static bool refuse_first(refuser *self, size_t argc, const rbt_arg *argv,
			 rbt_reply *reply)
{
	(void)argc;
	(void)argv;
	return self->refused == 0 && refuser_says(self, reply);
}

static void begin_writes(size_t n, size_t window, refuser_rule *rule,
			 const char *words)
{
	refuser_init(&f, &r, n, rule, words);
	refuser_writes(&f, "MSET");
	r.options.chunk_keys = 1;
	r.options.window = window;
	r.engine.deadline_us = RIG_BEGIN_US + 60000000;
}

static void test_a_write_that_was_overtaken_is_not_sent_again(void **state)
{
	static const char *const verbs[] = { "MSET", "HSET" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(verbs); i++) {
		begin_writes(3, 3, refuse_first, NO_REPLICAS);
		refuser_writes(&f, verbs[i]);
		refuser_same_key(&f, 2, 0);
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 1);
		refuser_check_refused(&f, 0, "NOREPLICAS");
		refuser_check_fine(&f, 1);
		refuser_check_fine(&f, 2);
		refuser_check_order(&f);
		assert_int_equal(r.commands, 3);
		assert_int_equal(rb_result_chunk(r.res, 0)->attempts, 1);
		rig_fini(&r);
	}
}

static void test_a_write_of_other_keys_is_sent_again(void **state)
{
	(void)state;
	begin_writes(3, 3, refuse_first, NO_REPLICAS);
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 0);
	refuser_check_order(&f);
	assert_int_equal(r.commands, 4);
	assert_int_equal(rb_result_chunk(r.res, 0)->attempts, 2);
	rig_fini(&r);
}

static void test_an_earlier_write_does_not_overtake(void **state)
{
	(void)state;
	/* The same key, but the later one is refused. */
	begin_writes(3, 3, refuse_keys, NO_REPLICAS);
	r.engine.deadline_us = RIG_BEGIN_US + 1000000;
	refuser_same_key(&f, 1, 0);
	f.forbidden[2] = true;
	rig_run(&r);
	refuser_check_fine(&f, 0);
	refuser_check_fine(&f, 1);
	refuser_check_order(&f);
	rig_fini(&r);
}

static void test_all_that_were_refused_go_again_in_order(void **state)
{
	size_t i;

	(void)state;
	begin_writes(6, 6, refuse_early, NO_REPLICAS);
	f.until_us = RIG_BEGIN_US + 3000000;
	for (i = 1; i < 6; i++)
		refuser_same_key(&f, i, 0);
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 0);
	assert_int_equal(f.applied[0], 6);
	assert_int_equal(f.times[0], 6);
	rig_fini(&r);
}

static void test_halves_of_a_write_keep_its_last_value(void **state)
{
	(void)state;
	/* The first half has the key, the second has it again. */
	begin_writes(8, 1, refuse_keys, NO_KEY);
	r.options.chunk_keys = 8;
	refuser_same_key(&f, 6, 1);
	f.forbidden[3] = true;
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 1);
	refuser_check_refused(&f, 3, "NOPERM");
	assert_int_equal(f.applied[1], 7);
	refuser_check_order(&f);
	rig_fini(&r);
}

/* ------------------------------------------------------- whatever happens -- */

static uint64_t chance;

/* Refuses one of three for now, some keys for ever, and long commands. */
static bool refuse_by_chance(refuser *self, size_t argc, const rbt_arg *argv,
			     rbt_reply *reply)
{
	static const char *const words[] = {
		NO_REPLICAS, "-BUSY a script\r\n",
		"-TRYAGAIN Multiple keys request\r\n"
	};
	size_t dice = random_below(&chance, 9);

	if (dice < N_OF(words)) {
		rbt_reply_text(reply, words[dice]);
		return true;
	}
	self->words = NO_KEY;
	if (refuse_keys(self, argc, argv, reply))
		return true;
	self->words = "-ERR max request size exceeded\r\n";
	return refuse_bytes(self, argc, argv, reply);
}

static void run_by_chance(const char *verb)
{
	size_t n = 1 + random_below(&chance, 60);
	size_t nkeys = 1 + random_below(&chance, n);
	size_t i;

	begin_writes(n, 1 + random_below(&chance, 6), refuse_by_chance, "");
	refuser_writes(&f, verb);
	r.options.chunk_keys = 1 + random_below(&chance, 12);
	r.engine.seed = chance;
	r.service_us = random_below(&chance, 3) * 500;
	f.limit = 100 + random_below(&chance, 400);
	for (i = 0; i < n; i++)
		refuser_same_key(&f, i, random_below(&chance, nkeys));
	f.forbidden[random_below(&chance, nkeys)] = true;
	rig_run(&r);
	(void)rig_check_sums(&r);
	refuser_check_order(&f);
	assert_int_equal(rig_count_outcome(&r, RB_UNKNOWN), 0);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_whatever_is_refused_the_last_value_stands(void **state)
{
	int round;

	(void)state;
	chance = 20260;
	for (round = 0; round < 3000; round++)
		run_by_chance(round % 2 == 0 ? "MSET" : "HSET");
}

/* ------------------------------------------------------- a lack of memory -- */

static void test_a_lack_of_memory_is_tried_with_half_once(void **state)
{
	size_t i;

	(void)state;
	begin_writes(24, 1, refuse_bytes, NO_MEMORY);
	r.options.chunk_keys = 8;
	f.limit = 1;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_int_equal(rig_check_sums(&r), 24);
	for (i = 0; i < 8; i++)
		refuser_check_refused(&f, i, "OOM");
	for (i = 8; i < 24; i++) {
		assert_status(rb_result_status(r.res, i), RB_ERR_SKIPPED);
		assert_outcome(rb_result_outcome(r.res, i), RB_NOT_SENT);
	}
	/* Eight, then four of them, and no more. */
	assert_int_equal(r.commands, 2);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_what_was_in_flight_with_a_lack_of_memory_is_awaited(void **s)
{
	(void)s;
	begin_writes(40, 4, refuse_bytes, NO_MEMORY);
	r.options.chunk_keys = 8;
	f.limit = 1;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_int_equal(rig_check_sums(&r), 40);
	assert_int_equal(r.commands, 5);
	assert_int_equal(rig_count_outcome(&r, RB_REJECTED) +
				 rig_count_outcome(&r, RB_NOT_SENT),
			 rb_result_chunks(r.res));
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_what_fits_in_memory_is_applied(void **state)
{
	size_t i;

	(void)state;
	begin_writes(8, 1, refuse_bytes, NO_MEMORY);
	r.options.chunk_keys = 8;
	f.limit = 150;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 0);
	for (i = 0; i < 8; i++)
		refuser_check_fine(&f, i);
	refuser_check_order(&f);
	assert_int_equal(f.refused, 1);
	rig_fini(&r);
}

static void test_one_pair_without_memory_ends_the_batch(void **state)
{
	(void)state;
	begin_writes(5, 1, refuse_bytes, NO_MEMORY);
	f.limit = 1;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_int_equal(rig_check_sums(&r), 5);
	assert_int_equal(r.commands, 1);
	rig_fini(&r);
}

/* ---------------------------------------------------------- transactions -- */

static void test_a_transaction_that_was_not_queued_goes_again(void **state)
{
	size_t i;

	(void)state;
	begin_writes(6, 1, refuse_early, NO_REPLICAS);
	r.batch.transaction = true;
	r.options.chunk_keys = 3;
	f.until_us = RIG_BEGIN_US + 1000000;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 0);
	for (i = 0; i < 6; i++)
		refuser_check_fine(&f, i);
	refuser_check_order(&f);
	assert_int_equal(rb_result_chunks(r.res), 2);
	rig_fini(&r);
}

/* ------------------------------------------------------------- pipelines -- */

#define COMMANDS 12

static refuser_list list;

/* The same pairs, each a SET of its own. */
static void begin_pipeline(size_t count, size_t window, refuser_rule *rule,
			   const char *words)
{
	begin_writes(COMMANDS, window, rule, words);
	refuser_commands(&f, &list);
	r.options.chunk_keys = count;
}

static void test_commands_that_were_all_refused_go_again(void **state)
{
	(void)state;
	begin_pipeline(4, 1, refuse_early, NO_REPLICAS);
	f.until_us = RIG_BEGIN_US + 1000000;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 0);
	refuser_check_order(&f);
	assert_true(rb_result_chunk(r.res, 0)->attempts > 1);
	assert_int_equal(rb_result_chunk(r.res, 1)->attempts, 1);
	rig_fini(&r);
}

static void test_commands_of_which_one_was_run_do_not_go_again(void **state)
{
	size_t i;

	(void)state;
	begin_pipeline(4, 1, refuse_keys, NO_REPLICAS);
	for (i = 0; i < 3; i++)
		f.forbidden[i] = true;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 3);
	for (i = 0; i < COMMANDS; i++) {
		if (i < 3)
			refuser_check_refused(&f, i, "NOREPLICAS");
		else
			refuser_check_fine(&f, i);
	}
	refuser_check_order(&f);
	assert_int_equal(r.commands, COMMANDS);
	rig_fini(&r);
}

static void test_commands_before_others_that_were_run_do_not_go_again(void **s)
{
	size_t i;

	(void)s;
	begin_pipeline(4, 3, refuse_keys, NO_REPLICAS);
	for (i = 0; i < 4; i++)
		f.forbidden[i] = true;
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 4);
	for (i = 0; i < COMMANDS; i++) {
		if (i < 4)
			refuser_check_refused(&f, i, "NOREPLICAS");
		else
			refuser_check_fine(&f, i);
	}
	refuser_check_order(&f);
	assert_int_equal(r.commands, COMMANDS);
	rig_fini(&r);
}

static void test_an_error_of_one_command_is_its_own(void **state)
{
	static const char *const words[] = {
		NO_KEY,
		"-ERR max request size exceeded. Limit: 10 bytes\r\n",
		"-upstream failure\r\n",
		"-WRONGTYPE Operation against a key\r\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(words); i++) {
		begin_pipeline(4, 2, refuse_keys, words[i]);
		f.forbidden[5] = true;
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 1);
		assert_int_equal(r.commands, COMMANDS);
		assert_int_equal(r.limits.bytes, 0);
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_write_that_was_overtaken_is_not_sent_again),
		cmocka_unit_test(test_a_write_of_other_keys_is_sent_again),
		cmocka_unit_test(test_an_earlier_write_does_not_overtake),
		cmocka_unit_test(test_all_that_were_refused_go_again_in_order),
		cmocka_unit_test(test_halves_of_a_write_keep_its_last_value),
		cmocka_unit_test(
			test_whatever_is_refused_the_last_value_stands),
		cmocka_unit_test(test_a_lack_of_memory_is_tried_with_half_once),
		cmocka_unit_test(
			test_what_was_in_flight_with_a_lack_of_memory_is_awaited),
		cmocka_unit_test(test_what_fits_in_memory_is_applied),
		cmocka_unit_test(test_one_pair_without_memory_ends_the_batch),
		cmocka_unit_test(
			test_a_transaction_that_was_not_queued_goes_again),
		cmocka_unit_test(test_commands_that_were_all_refused_go_again),
		cmocka_unit_test(
			test_commands_of_which_one_was_run_do_not_go_again),
		cmocka_unit_test(
			test_commands_before_others_that_were_run_do_not_go_again),
		cmocka_unit_test(test_an_error_of_one_command_is_its_own),
	};

	return cmocka_run_group_tests_name("recover_order", tests, NULL, NULL);
}
