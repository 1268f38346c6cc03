/*
 * What is refused for its size or for one of its entries goes on in parts, and
 * the limits that were met are kept for the calls to come.
 */
#include "refuser.h"

static rig r;
static refuser f;

#define NO_KEY "-NOPERM No permissions to access a key\r\n"
#define TOO_MANY "-ERR Protocol error: invalid multibulk length\r\n"
#define TOO_LONG "-ERR Protocol error: invalid bulk length\r\n"
#define TOO_LARGE                                                     \
	"-ERR max request size exceeded. Limit: 2000 bytes, Actual: " \
	"9000 bytes.\r\n"

static size_t log2_up(size_t n)
{
	size_t bits = 0;

	while (((size_t)1 << bits) < n)
		bits++;
	return bits;
}

/* Those that are forbidden were refused, and all others are fine. */
static void check_forbidden_alone(size_t k, const char *words)
{
	size_t i;

	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), k);
	for (i = 0; i < r.batch.n; i++) {
		if (f.forbidden[i])
			refuser_check_refused(&f, i, words);
		else
			refuser_check_fine(&f, i);
	}
	if (!r.batch.reads)
		refuser_check_order(&f);
	assert_false(rig_is_broken(&r));
}

static void forbid(size_t n, size_t k, uint64_t *seed)
{
	while (k > 0) {
		size_t i = random_below(seed, n);

		if (f.forbidden[i])
			continue;
		f.forbidden[i] = true;
		k--;
	}
}

/* --------------------------------------------------------- keys at fault -- */

/* k of n, in chunks of count. Each at fault costs two commands for each time
 * that its chunk is halved, at most. */
static void find_forbidden(size_t n, size_t k, size_t count, const char *verb,
			   uint64_t *seed)
{
	size_t nchunks = (n + count - 1) / count;

	refuser_init(&f, &r, n, refuse_keys, NO_KEY);
	if (verb != NULL)
		refuser_writes(&f, verb);
	r.options.chunk_keys = count;
	r.options.window = 1 + random_below(seed, 5);
	forbid(n, k, seed);
	rig_run(&r);
	check_forbidden_alone(k, "NOPERM");
	assert_in_range(r.commands, nchunks,
			nchunks + 2 * k * log2_up(rbi_min(n, count)));
	assert_int_equal(r.res->stats.commands, r.commands);
	/* Each chunk that was refused and could be was halved. */
	assert_int_equal(r.res->stats.splits, f.refused - k);
	assert_int_equal(r.commands, nchunks + 2 * r.res->stats.splits);
	assert_int_equal(r.redials, 0);
	rig_fini(&r);
}

static void test_a_key_at_fault_fails_alone_among_any_number(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 5, 7, 16, 33, 100, 1000 };
	static const size_t faults[] = { 0, 1, 2, 5, 20 };
	static const char *const verbs[] = { NULL, "MSET", "HSET" };
	uint64_t seed = 5;
	size_t i;
	size_t k;
	size_t v;

	(void)state;
	for (i = 0; i < N_OF(sizes); i++) {
		for (k = 0; k < N_OF(faults); k++) {
			for (v = 0; v < N_OF(verbs); v++)
				find_forbidden(sizes[i],
					       rbi_min(faults[k], sizes[i]),
					       sizes[i], verbs[v], &seed);
		}
	}
}

static void test_a_key_at_fault_fails_alone_in_any_chunks(void **state)
{
	uint64_t seed = 6;
	int round;

	(void)state;
	for (round = 0; round < 200; round++) {
		size_t n = 1 + random_below(&seed, 200);

		find_forbidden(n, random_below(&seed, rbi_min(n, 10)),
			       1 + random_below(&seed, 40),
			       round % 2 == 0 ? NULL : "MSET", &seed);
	}
}

static void test_all_keys_at_fault_all_fail(void **state)
{
	uint64_t seed = 7;

	(void)state;
	refuser_init(&f, &r, 64, refuse_keys, NO_KEY);
	forbid(64, 64, &seed);
	rig_run(&r);
	check_forbidden_alone(64, "NOPERM");
	assert_int_equal(r.commands, 127);
	rig_fini(&r);
}

static void test_every_text_about_an_entry_names_it(void **state)
{
	static const char *const words[] = {
		NO_KEY,
		"-NOPERM this user has no permissions to access one of the "
		"keys used as arguments\r\n",
		"-ERR max key size exceeded. Limit: 5 bytes, Actual: 6 "
		"bytes\r\n",
		"-ERR max single record size exceeded\r\n",
	};
	uint64_t seed = 8;
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(words); i++) {
		char want[200];

		refuser_init(&f, &r, 50, refuse_keys, words[i]);
		forbid(50, 3, &seed);
		rig_run(&r);
		snprintf(want, sizeof(want), "%.*s", (int)strlen(words[i]) - 3,
			 words[i] + 1);
		check_forbidden_alone(3, want);
		rig_fini(&r);
	}
}

static void test_one_attempt_still_halves(void **state)
{
	uint64_t seed = 9;

	(void)state;
	refuser_init(&f, &r, 50, refuse_keys, NO_KEY);
	r.options.attempts = 1;
	forbid(50, 3, &seed);
	rig_run(&r);
	/* What a refusal makes smaller is not sent again as it was. */
	check_forbidden_alone(3, "NOPERM");
	rig_fini(&r);
}

static void test_a_transaction_is_refused_as_a_whole(void **state)
{
	size_t i;

	(void)state;
	refuser_init(&f, &r, 12, refuse_keys, NO_KEY);
	refuser_writes(&f, "MSET");
	r.batch.transaction = true;
	r.options.chunk_keys = 4;
	f.forbidden[5] = true;
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 4);
	for (i = 0; i < 12; i++) {
		if (i / 4 == 1)
			refuser_check_refused(&f, i, "NOPERM");
		else
			refuser_check_fine(&f, i);
	}
	refuser_check_order(&f);
	/* MULTI, MSET and EXEC, three times. */
	assert_int_equal(r.commands, 9);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_after_stop_on_error_nothing_is_halved_in_vain(void **state)
{
	size_t i;

	(void)state;
	refuser_init(&f, &r, 40, refuse_keys, NO_KEY);
	r.options.chunk_keys = 10;
	r.options.flags = RB_STOP_ON_ERROR;
	f.forbidden[12] = true;
	rig_run(&r);
	assert_true(rig_check_sums(&r) >= 1);
	for (i = 0; i < 10; i++)
		refuser_check_fine(&f, i);
	refuser_check_refused(&f, 12, "NOPERM");
	for (i = 20; i < 40; i++)
		assert_status(rb_result_status(r.res, i), RB_ERR_SKIPPED);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

/* -------------------------------------------------------------- too large -- */

static void test_a_limit_that_is_named_is_kept(void **state)
{
	static const char *const verbs[] = { NULL, "MSET", "HSET" };
	rbi_limits limits;
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(verbs); i++) {
		refuser_init(&f, &r, 500, refuse_bytes, TOO_LARGE);
		f.limit = 2000;
		if (verbs[i] != NULL)
			refuser_writes(&f, verbs[i]);
		rig_run(&r);
		check_forbidden_alone(0, "");
		assert_int_equal(f.refused, 1);
		assert_int_equal(r.limits.bytes, 2000);
		assert_int_equal(r.limits.args, 0);
		limits = r.limits;
		rig_fini(&r);

		/* The next call of the same client meets it no more. */
		refuser_init(&f, &r, 500, refuse_bytes, TOO_LARGE);
		f.limit = 2000;
		if (verbs[i] != NULL)
			refuser_writes(&f, verbs[i]);
		r.limits = limits;
		rig_run(&r);
		check_forbidden_alone(0, "");
		assert_int_equal(f.refused, 0);
		assert_int_equal(r.res->stats.splits, 0);
		rig_fini(&r);
	}
}

static void test_a_limit_that_is_not_named_is_found(void **state)
{
	(void)state;
	refuser_init(&f, &r, 500, refuse_bytes,
		     "-ERR max request size exceeded\r\n");
	f.limit = 1000;
	rig_run(&r);
	check_forbidden_alone(0, "");
	assert_int_equal(r.limits.bytes, 0);
	assert_int_equal(f.refused, r.res->stats.splits);
	rig_fini(&r);
}

static void test_what_is_too_large_alone_fails_alone(void **state)
{
	size_t i;

	(void)state;
	refuser_init(&f, &r, 9, refuse_bytes, TOO_LARGE);
	refuser_writes(&f, "MSET");
	f.limit = 2000;
	f.value_lens[4] = 3000;
	f.value_list[4] = memset(malloc(3000), '4', 3000);
	rig_run(&r);
	assert_int_equal(rig_check_sums(&r), 1);
	for (i = 0; i < 9; i++) {
		if (i == 4)
			refuser_check_refused(&f, i, "max request size");
		else
			refuser_check_fine(&f, i);
	}
	assert_false(rig_is_broken(&r));
	free((void *)(uintptr_t)f.value_list[4]);
	rig_fini(&r);
}

/* Each command is refused whose answer would be larger. */
static bool refuse_answers(refuser *self, size_t argc, const rbt_arg *argv,
			   rbt_reply *reply)
{
	(void)argv;
	return (argc - 1) * (REFUSER_WIDTH + 6) + 7 > self->limit &&
	       refuser_says(self, reply);
}

static void test_a_limit_of_answers_is_one_too(void **state)
{
	(void)state;
	refuser_init(&f, &r, 600, refuse_answers, TOO_LARGE);
	f.limit = 2000;
	rig_run(&r);
	check_forbidden_alone(0, "");
	assert_int_equal(r.limits.bytes, 2000);
	rig_fini(&r);
}

/* ------------------------------------------------------ too many arguments -- */

static void begin_many(size_t n, size_t limit, const char *verb)
{
	refuser_init(&f, &r, n, refuse_arguments, TOO_MANY);
	f.limit = limit;
	if (verb != NULL)
		refuser_writes(&f, verb);
	rig_renew(&r);
}

static void test_too_many_arguments_are_learned_over_new_connections(void **s)
{
	static const struct {
		size_t n;
		size_t limit;
		const char *verb;
	} cases[] = {
		{ 100, 60, NULL },   { 100, 30, NULL },	  { 100, 130, "MSET" },
		{ 100, 60, "MSET" }, { 100, 60, "HSET" },
	};
	size_t i;

	(void)s;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_limits limits;

		begin_many(cases[i].n, cases[i].limit, cases[i].verb);
		rig_run(&r);
		check_forbidden_alone(0, "");
		assert_true(r.redials > 0);
		assert_int_equal(r.redials, f.refused);
		assert_int_equal(r.res->stats.reconnects, f.refused);
		assert_in_range(r.limits.args, cases[i].limit / 2,
				cases[i].limit);
		assert_int_equal(r.limits.bytes, 0);
		limits = r.limits;
		rig_fini(&r);

		begin_many(cases[i].n, cases[i].limit, cases[i].verb);
		r.limits = limits;
		rig_run(&r);
		check_forbidden_alone(0, "");
		assert_int_equal(r.redials, 0);
		rig_fini(&r);
	}
}

/* However far below, each refusal says something new. */
static void test_any_number_of_halvings_is_made(void **state)
{
	static const size_t limits[] = { 300, 100, 40, 10, 3 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(limits); i++) {
		begin_many(1000, limits[i], NULL);
		rig_run(&r);
		check_forbidden_alone(0, "");
		assert_in_range(r.limits.args, 1, limits[i]);
		rig_fini(&r);
	}
}

static void test_without_a_new_connection_arguments_end_the_call(void **state)
{
	size_t i;

	(void)state;
	begin_many(100, 10, NULL);
	r.engine.redial = NULL;
	r.options.chunk_keys = 20;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_int_equal(rig_check_sums(&r), 100);
	for (i = 0; i < 20; i++)
		refuser_check_refused(&f, i, "invalid multibulk length");
	assert_status(rb_result_status(r.res, 20), RB_ERR_SKIPPED);
	assert_true(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_a_login_that_is_wanted_ends_the_call(void **state)
{
	(void)state;
	begin_many(100, 10, NULL);
	f.words = "-ERR Protocol error: unauthenticated multibulk length\r\n";
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_int_equal(rig_check_sums(&r), 100);
	assert_int_equal(r.redials, 0);
	assert_int_equal(r.limits.args, 0);
	rig_fini(&r);
}

/* --------------------------------------------------------------- too long -- */

static const char *long_value(size_t len)
{
	char *value = malloc(len);

	assert_non_null(value);
	memset(value, '1', len);
	return value;
}

/* Entry bad has a value that is too long, in chunks of count. */
static void fail_long(size_t n, size_t bad, size_t count, size_t window)
{
	bool is_last = count == 1 && bad + 1 == n;
	size_t i;

	refuser_init(&f, &r, n, refuse_long, TOO_LONG);
	refuser_writes(&f, "MSET");
	f.limit = 1000;
	f.value_lens[bad] = 1001;
	f.value_list[bad] = long_value(1001);
	r.options.chunk_keys = count;
	r.options.window = window;
	rig_renew(&r);
	rig_run(&r);
	for (i = 0; i < n; i++) {
		if (i == bad)
			refuser_check_refused(&f, i, "invalid bulk length");
		else
			refuser_check_fine(&f, i);
	}
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 1);
	refuser_check_order(&f);
	/* Behind the very last one nothing needs a connection. */
	assert_int_equal(r.redials, !is_last);
	assert_int_equal(rig_is_broken(&r), is_last);
	free((void *)(uintptr_t)f.value_list[bad]);
	rig_fini(&r);
}

static void test_the_longest_entry_fails_and_the_others_go_on(void **state)
{
	static const size_t bads[] = { 0, 1, 4, 8, 9 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(bads); i++) {
		fail_long(10, bads[i], 10, 1);
		fail_long(10, bads[i], 5, 1);
		fail_long(10, bads[i], 5, 4);
	}
}

static void test_a_lone_entry_too_long_fails_and_the_others_go_on(void **state)
{
	static const size_t bads[] = { 0, 1, 4 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(bads); i++) {
		fail_long(5, bads[i], 1, 1);
		fail_long(5, bads[i], 1, 3);
	}
}

static void test_without_a_new_connection_a_long_one_ends_the_call(void **state)
{
	(void)state;
	refuser_init(&f, &r, 4, refuse_long, TOO_LONG);
	f.limit = 5;
	r.options.chunk_keys = 2;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_int_equal(rig_check_sums(&r), 4);
	refuser_check_refused(&f, 0, "invalid bulk length");
	refuser_check_refused(&f, 1, "invalid bulk length");
	assert_status(rb_result_status(r.res, 2), RB_ERR_SKIPPED);
	assert_true(rig_is_broken(&r));
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_key_at_fault_fails_alone_among_any_number),
		cmocka_unit_test(test_a_key_at_fault_fails_alone_in_any_chunks),
		cmocka_unit_test(test_all_keys_at_fault_all_fail),
		cmocka_unit_test(test_every_text_about_an_entry_names_it),
		cmocka_unit_test(test_one_attempt_still_halves),
		cmocka_unit_test(test_a_transaction_is_refused_as_a_whole),
		cmocka_unit_test(
			test_after_stop_on_error_nothing_is_halved_in_vain),
		cmocka_unit_test(test_a_limit_that_is_named_is_kept),
		cmocka_unit_test(test_a_limit_that_is_not_named_is_found),
		cmocka_unit_test(test_what_is_too_large_alone_fails_alone),
		cmocka_unit_test(test_a_limit_of_answers_is_one_too),
		cmocka_unit_test(
			test_too_many_arguments_are_learned_over_new_connections),
		cmocka_unit_test(test_any_number_of_halvings_is_made),
		cmocka_unit_test(
			test_without_a_new_connection_arguments_end_the_call),
		cmocka_unit_test(test_a_login_that_is_wanted_ends_the_call),
		cmocka_unit_test(
			test_the_longest_entry_fails_and_the_others_go_on),
		cmocka_unit_test(
			test_a_lone_entry_too_long_fails_and_the_others_go_on),
		cmocka_unit_test(
			test_without_a_new_connection_a_long_one_ends_the_call),
	};

	return cmocka_run_group_tests_name("recover_split", tests, NULL, NULL);
}
