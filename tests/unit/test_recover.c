/*
 * A server that is not ready is asked again, by a clock that is turned by
 * hand. What is refused for its size or its keys is in test_recover_split.c,
 * the order of writes in test_recover_order.c.
 */
#include "refuser.h"

static rig r;
static refuser f;

#define BUSY "-BUSY a script is running\r\n"
#define SECOND 1000000u

/* Begins n keys, count a chunk, at a server that is not ready for so long. */
static void begin(size_t n, size_t count, const char *words, uint64_t wait_us)
{
	refuser_init(&f, &r, n, refuse_early, words);
	f.until_us = RIG_BEGIN_US + wait_us;
	r.options.chunk_keys = count;
	r.engine.deadline_us = RIG_BEGIN_US + 3600ull * SECOND;
}

static void check_all_fine(void)
{
	size_t i;

	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 0);
	for (i = 0; i < r.batch.n; i++)
		refuser_check_fine(&f, i);
	if (!r.batch.reads)
		refuser_check_order(&f);
	assert_false(rig_is_broken(&r));
}

/* The n-th wait that began with command i is within its bounds; waiting takes
 * whole milliseconds. */
static void check_wait(size_t i, unsigned n)
{
	uint64_t most = RBI_BACKOFF_FIRST_US;
	uint64_t refused_us = r.sent_at_us[i] + r.rtt_us;

	while (n-- > 0 && most < RBI_BACKOFF_LONGEST_US)
		most *= 2;
	if (most > RBI_BACKOFF_LONGEST_US)
		most = RBI_BACKOFF_LONGEST_US;
	assert_in_range(r.sent_at_us[i + 1] - refused_us, most / 2,
			most + 1000);
}

/* ------------------------------------------------------------ it is asked -- */

static void wait_for(const char *words, uint64_t wait_us, const char *verb)
{
	begin(10, 4, words, wait_us);
	if (verb != NULL)
		refuser_writes(&f, verb);
	rig_run(&r);
	check_all_fine();
	assert_true(r.now_us >= f.until_us);
	/* No longer than the last wait. */
	assert_true(r.now_us <= f.until_us + 3 * SECOND);
	assert_int_equal(rb_result_chunks(r.res), 3);
	assert_int_equal(f.served, 3);
	rig_fini(&r);
}

static const char *const verbs[] = { NULL, "MSET", "HSET" };

static void test_a_server_that_is_not_ready_is_asked_again(void **state)
{
	static const char *const words[] = {
		"-LOADING Redis is loading the dataset in memory\r\n",
		"-LOADING Dragonfly is loading the dataset in memory\r\n",
		BUSY,
		"-MASTERDOWN Link with MASTER is down\r\n",
		"-NOREPLICAS Not enough good replicas to write.\r\n",
		"-ERR LOADING kvrocks is restoring the db from backup\r\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(words) * N_OF(verbs); i++)
		wait_for(words[i / N_OF(verbs)], 5 * SECOND,
			 verbs[i % N_OF(verbs)]);
}

static void test_keys_that_cannot_be_served_are_asked_for_again(void **state)
{
	static const char *const words[] = {
		"-CLUSTERDOWN The cluster is down\r\n",
		"-CLUSTERDOWN Hash slot not served\r\n",
		"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
	};
	size_t i;

	(void)state;
	/* As long as two waits take at least. */
	for (i = 0; i < N_OF(words) * N_OF(verbs); i++)
		wait_for(words[i / N_OF(verbs)], SECOND * 15 / 100,
			 verbs[i % N_OF(verbs)]);
}

static void test_waits_double_with_chance_up_to_two_seconds(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 0; seed < 50; seed++) {
		size_t i;

		begin(3, 3, BUSY, 30 * SECOND);
		r.engine.seed = seed * 104729;
		rig_run(&r);
		check_all_fine();
		/* 0.1 + 0.2 + ... + 1.6 and 2 a time after that, or half. */
		assert_in_range(f.refused, 18, 36);
		for (i = 0; i < f.refused; i++)
			check_wait(i, (unsigned)i);
		rig_fini(&r);
	}
}

static void test_clients_that_fail_together_come_back_apart(void **state)
{
	uint64_t first_us[20];
	size_t same = 0;
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(first_us); i++) {
		begin(1, 1, BUSY, SECOND);
		r.engine.seed = 1000 + i;
		rig_run(&r);
		first_us[i] = r.sent_at_us[1];
		for (k = 0; k < i; k++)
			same += first_us[k] == first_us[i];
		rig_fini(&r);
	}
	/* Twenty of fifty different milliseconds. */
	assert_true(same < 20);
}

/* No more than one command in flight while the server refuses, but for those
 * that were on their way at first. */
static bool refuse_and_count(refuser *self, size_t argc, const rbt_arg *argv,
			     rbt_reply *reply)
{
	if (!refuse_early(self, argc, argv, reply))
		return false;
	if (self->refused >= self->limit)
		assert_int_equal(self->rig->commands - self->rig->answers, 1);
	return true;
}

static void test_one_chunk_at_a_time_tries_the_server(void **state)
{
	(void)state;
	begin(40, 2, BUSY, 10 * SECOND);
	f.rule = refuse_and_count;
	f.limit = 5;
	r.options.window = 5;
	rig_run(&r);
	check_all_fine();
	/* Five were on their way, and then one at a time until it is ready. */
	assert_int_equal(r.sent_at_us[4], RIG_BEGIN_US);
	check_wait(4, 0);
	check_wait(5, 1);
	check_wait(6, 2);
	/* Then all of them. */
	assert_int_equal(r.most_in_flight, 5);
	assert_int_equal(f.served, 20);
	assert_int_equal(r.commands, f.refused + f.served);
	assert_int_equal(r.res->stats.commands, r.commands);
	assert_int_equal(r.res->stats.retries, f.refused);
	assert_int_equal(r.res->stats.splits, 0);
	assert_int_equal(r.res->stats.keys, 2 * r.commands);
	assert_int_equal(rb_result_chunk(r.res, 19)->attempts, 1);
	assert_true(rb_result_chunk(r.res, 0)->attempts > 5);
	rig_fini(&r);
}

/* Ready for two commands after each wait. */
static bool refuse_all_but_two(refuser *self, size_t argc, const rbt_arg *argv,
			       rbt_reply *reply)
{
	if (self->limit < 2) {
		self->limit++;
		return false;
	}
	self->limit = 0;
	return refuse_early(self, argc, argv, reply);
}

static void test_waits_begin_anew_once_it_was_ready(void **state)
{
	size_t i;

	(void)state;
	begin(40, 1, BUSY, 3600ull * SECOND);
	f.rule = refuse_all_but_two;
	rig_run(&r);
	check_all_fine();
	/* Every third is refused, and each of them waits for the first time. */
	for (i = 2; i + 1 < r.commands; i += 3)
		check_wait(i, 0);
	assert_int_equal(f.refused, 19);
	rig_fini(&r);
}

/* ------------------------------------------------------------ it gives up -- */

static void check_given_up(size_t refused, const char *words)
{
	size_t i;

	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_non_null(strstr(r.engine.why, words));
	assert_int_equal(rig_check_sums(&r), r.batch.n);
	for (i = 0; i < r.batch.n; i++) {
		if (i < refused) {
			refuser_check_refused(&f, i, words);
			continue;
		}
		assert_status(rb_result_status(r.res, i), RB_ERR_SKIPPED);
		assert_outcome(rb_result_outcome(r.res, i), RB_NOT_SENT);
		assert_non_null(strstr(rb_result_message(r.res, i), words));
	}
	assert_false(rig_is_broken(&r));
}

static void test_at_the_deadline_it_gives_up_in_step(void **state)
{
	static const uint64_t deadlines[] = { 1,       50000,	100000,
					      1000000, 3000000, 20000000 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(deadlines); i++) {
		begin(12, 2, BUSY, 3600ull * SECOND);
		r.options.window = 3;
		r.rtt_us = 0;
		r.engine.deadline_us = RIG_BEGIN_US + deadlines[i];
		rig_run(&r);
		check_given_up(6, "BUSY a script is running");
		/* It does not wait for what cannot come in time. */
		assert_true(r.now_us <= r.engine.deadline_us);
		rig_fini(&r);
	}
}

static void test_without_a_deadline_it_asks_as_often_as_it_may(void **state)
{
	uint32_t attempts;

	(void)state;
	for (attempts = 1; attempts < 12; attempts++) {
		begin(4, 2, BUSY, 3600ull * SECOND);
		r.engine.deadline_us = RBI_NEVER;
		r.options.attempts = attempts;
		rig_run(&r);
		check_given_up(2, "BUSY");
		assert_int_equal(r.commands, attempts);
		assert_int_equal(rb_result_chunk(r.res, 0)->attempts, attempts);
		assert_int_equal(rb_result_chunk(r.res, 1)->attempts, 0);
		rig_fini(&r);
	}
}

static void test_one_attempt_is_one_whatever_the_deadline(void **state)
{
	(void)state;
	begin(4, 2, BUSY, 3600ull * SECOND);
	r.options.attempts = 1;
	r.options.window = 2;
	rig_run(&r);
	check_given_up(4, "BUSY");
	assert_int_equal(r.commands, 2);
	rig_fini(&r);
}

static void test_a_deadline_counts_more_than_attempts(void **state)
{
	(void)state;
	begin(4, 4, BUSY, 60 * SECOND);
	r.options.attempts = 2;
	rig_run(&r);
	check_all_fine();
	assert_true(rb_result_chunk(r.res, 0)->attempts > 20);
	rig_fini(&r);
}

/* Asks for the end of the call with the third refusal. */
static bool refuse_and_cancel(refuser *self, size_t argc, const rbt_arg *argv,
			      rbt_reply *reply)
{
	if (self->refused == 2)
		rbi_wake_request(self->rig->engine.wake);
	return refuse_early(self, argc, argv, reply);
}

static void test_cancelled_between_two_tries_it_is_in_step(void **state)
{
	rbi_wake wake;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	begin(4, 2, BUSY, 3600ull * SECOND);
	f.rule = refuse_and_cancel;
	r.rtt_us = 0;
	r.engine.wake = &wake;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_CANCELLED);
	assert_int_equal(rig_check_sums(&r), 4);
	refuser_check_refused(&f, 0, "BUSY");
	assert_status(rb_result_status(r.res, 2), RB_ERR_SKIPPED);
	assert_false(rbi_wake_is_requested(&wake));
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
	rbi_wake_fini(&wake);
}

/* -------------------------------------------------- only one chunk is not -- */

static void test_a_slot_that_stays_away_fails_by_itself(void **state)
{
	static const char *const words[] = {
		"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
		"-CLUSTERDOWN Hash slot not served\r\n",
		"-upstream failure\r\n",
		"-no upstream host\r\n",
		"-ERR Connection timed out\r\n",
		"-ERR Connection refused\r\n",
		"-Host is down\r\n",
	};
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(words); i++) {
		refuser_init(&f, &r, 6, refuse_keys, words[i]);
		f.forbidden[2] = true;
		r.options.chunk_keys = 2;
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 2);
		for (k = 0; k < 6; k++) {
			if (k == 2 || k == 3)
				refuser_check_refused(&f, k, "");
			else
				refuser_check_fine(&f, k);
		}
		assert_int_equal(f.refused, r.options.attempts);
		assert_false(rig_is_broken(&r));
		rig_fini(&r);
	}
}

static void test_slots_that_stay_away_are_asked_for_alike(void **state)
{
	size_t i;

	(void)state;
	refuser_init(&f, &r, 8, refuse_keys, "-CLUSTERDOWN Hash slot\r\n");
	r.options.chunk_keys = 2;
	for (i = 0; i < 6; i++)
		f.forbidden[i] = true;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 6);
	for (i = 0; i < 3; i++)
		assert_int_equal(rb_result_chunk(r.res, i)->attempts,
				 r.options.attempts);
	refuser_check_fine(&f, 6);
	rig_fini(&r);
}

/* However many others are served meanwhile, whatever the deadline. */
static void test_a_slot_that_stays_away_holds_nobody_up(void **state)
{
	static const uint64_t deadlines[] = { 3600ull * SECOND, RBI_NEVER };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(deadlines); i++) {
		refuser_init(&f, &r, 400, refuse_keys,
			     "-TRYAGAIN Multiple keys request\r\n");
		f.forbidden[2] = true;
		r.options.chunk_keys = 1;
		r.options.window = 4;
		r.service_us = 100;
		r.engine.deadline_us = deadlines[i];
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 1);
		refuser_check_refused(&f, 2, "TRYAGAIN");
		assert_int_equal(f.refused, r.options.attempts);
		assert_true(r.now_us - RIG_BEGIN_US < SECOND);
		rig_fini(&r);
	}
}

static void test_a_write_that_a_proxy_lost_is_not_repeated(void **state)
{
	static const char *const words[] = {
		"-upstream failure\r\n",
		"-no upstream host\r\n",
		"-ERR Connection timed out\r\n",
		"-ERR Connection reset by peer\r\n",
	};
	size_t i;
	size_t k;

	(void)state;
	for (i = 0; i < N_OF(words); i++) {
		refuser_init(&f, &r, 6, refuse_keys, words[i]);
		refuser_writes(&f, "MSET");
		f.forbidden[2] = true;
		r.options.chunk_keys = 2;
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 2);
		for (k = 0; k < 6; k++) {
			if (k != 2 && k != 3) {
				refuser_check_fine(&f, k);
				continue;
			}
			assert_status(rb_result_status(r.res, k),
				      RB_ERR_SERVER);
			assert_outcome(rb_result_outcome(r.res, k), RB_UNKNOWN);
		}
		assert_int_equal(f.refused, 1);
		assert_false(rig_is_broken(&r));
		rig_fini(&r);
	}
}

/* ---------------------------------------------------------------- reports -- */

static size_t told[REFUSER_MOST];

static int tell(void *arg, const rb_chunk *chunk)
{
	size_t i;

	(void)arg;
	for (i = 0; i < chunk->count; i++)
		told[chunk->first + i]++;
	assert_true(chunk->attempts > 0);
	return 0;
}

static void test_each_chunk_is_told_of_once(void **state)
{
	size_t i;

	(void)state;
	memset(told, 0, sizeof(told));
	begin(30, 3, BUSY, 4 * SECOND);
	r.options.on_chunk = tell;
	r.options.window = 4;
	rig_run(&r);
	check_all_fine();
	for (i = 0; i < 30; i++)
		assert_int_equal(told[i], 1);
	rig_fini(&r);
}

/* Refuses the third and the fifth for a while, and answers the others. */
static bool refuse_some(refuser *self, size_t argc, const rbt_arg *argv,
			rbt_reply *reply)
{
	size_t key = refuser_number(&argv[1]);

	return (key == 2 || key == 4) && refuse_early(self, argc, argv, reply);
}

static void test_what_waits_goes_once_all_in_flight_was_answered(void **state)
{
	(void)state;
	begin(8, 1, BUSY, SECOND);
	f.rule = refuse_some;
	r.options.window = 4;
	r.service_us = 1000;
	rig_run(&r);
	check_all_fine();
	/* The sixth chunk was on its way when the third was refused. */
	assert_int_equal(rb_result_chunk(r.res, 5)->attempts, 1);
	assert_true(rb_result_chunk(r.res, 2)->attempts > 1);
	rig_fini(&r);
}

static void test_without_memory_to_wait_it_is_refused(void **state)
{
	size_t nth;

	(void)state;
	for (nth = 1; nth < 60; nth++) {
		begin(12, 2, BUSY, SECOND);
		r.options.window = 3;
		r.count.fail_at = nth;
		if (rig_begin(&r)) {
			rbi_engine_run(&r.engine, &r.clock);
			assert_true(r.engine.over);
			(void)rig_check_sums(&r);
		}
		rig_fini(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_server_that_is_not_ready_is_asked_again),
		cmocka_unit_test(
			test_keys_that_cannot_be_served_are_asked_for_again),
		cmocka_unit_test(
			test_waits_double_with_chance_up_to_two_seconds),
		cmocka_unit_test(
			test_clients_that_fail_together_come_back_apart),
		cmocka_unit_test(test_one_chunk_at_a_time_tries_the_server),
		cmocka_unit_test(test_waits_begin_anew_once_it_was_ready),
		cmocka_unit_test(test_at_the_deadline_it_gives_up_in_step),
		cmocka_unit_test(
			test_without_a_deadline_it_asks_as_often_as_it_may),
		cmocka_unit_test(test_one_attempt_is_one_whatever_the_deadline),
		cmocka_unit_test(test_a_deadline_counts_more_than_attempts),
		cmocka_unit_test(
			test_cancelled_between_two_tries_it_is_in_step),
		cmocka_unit_test(test_a_slot_that_stays_away_fails_by_itself),
		cmocka_unit_test(test_slots_that_stay_away_are_asked_for_alike),
		cmocka_unit_test(test_a_slot_that_stays_away_holds_nobody_up),
		cmocka_unit_test(
			test_a_write_that_a_proxy_lost_is_not_repeated),
		cmocka_unit_test(test_each_chunk_is_told_of_once),
		cmocka_unit_test(
			test_what_waits_goes_once_all_in_flight_was_answered),
		cmocka_unit_test(test_without_memory_to_wait_it_is_refused),
	};

	return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
