/*
 * A chunk whose commands are refused one by one: what was answered is
 * reported, and the others go where each belongs.
 */
#include "legs.h"

#define N 12

static const char *values[LEGS_MOST];

/* What a command is answered with, by a letter. */
static const struct {
	char letter;
	bool waits; /* it is asked again */
	const char *text;
} answers[] = {
	{ 'v', false, "*1\r\n$1\r\nv\r\n" },
	{ 'o', false, "+OK\r\n" },
	{ 'e', false, "-ERR no\r\n" },
	{ 'm', true, "-MOVED 1 127.0.0.1:7001\r\n" },
	{ 'n', true, "-MOVED 1 127.0.0.1:7002\r\n" },
	{ 'a', true, "-ASK 1 127.0.0.1:7001\r\n" },
	{ 't', true, "-TRYAGAIN two nodes\r\n" },
	{ 'd', true, "-CLUSTERDOWN for a while\r\n" },
	{ 'u', true, "-upstream failure\r\n" },
	{ 'p', false, "-NOPERM no access to a key\r\n" },
};

static size_t find(char letter)
{
	size_t i = 0;

	while (answers[i].letter != letter)
		assert_true(++i < N_OF(answers));
	return i;
}

/* As many entries as the plan has letters, in flight to the only node. */
static rbi_leg *begin(legs *l, const char *plan, bool writes)
{
	size_t n = strlen(plan);
	rbi_leg *leg;
	size_t heard;
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, 1, writes ? values : NULL);
	if (writes) {
		l->batch.form = RBI_FORM_EACH;
		l->batch.shape = RBI_SHAPE_SET;
		l->batch.command.data = "SET";
		l->batch.command.len = 3;
		l->fleet.form = l->batch;
		l->fleet.form.clustered = true;
	}
	rbi_supply_next(&l->fleet);
	leg = legs_up(l, 0);
	legs_step(leg);
	(void)legs_heard(l, 0, &heard);
	assert_int_equal(heard, n);
	for (i = 0; i < n; i++)
		legs_say(l, 0, answers[find(plan[i])].text);
	return leg;
}

/* Which entry was sent at place i. */
static size_t entry_at(const legs *l, size_t i)
{
	return l->fleet.loads[0]->numbers[i];
}

static size_t waiting(const legs *l)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < l->fleet.yard.count; i++)
		sum += l->fleet.yard.items[i].parcel.cut.count;
	return sum;
}

static bool waits(const legs *l, size_t number)
{
	size_t found = 0;
	size_t i;
	size_t k;

	for (i = 0; i < l->fleet.yard.count; i++) {
		const rbi_parcel *p = &l->fleet.yard.items[i].parcel;

		for (k = 0; k < p->cut.count; k++)
			found += p->numbers[k] == number;
	}
	assert_true(found <= 1);
	return found == 1;
}

/* Each entry is reported, or it waits, as its answer was. */
static void check(const legs *l, const char *plan)
{
	size_t i;

	for (i = 0; plan[i] != '\0'; i++) {
		size_t number = entry_at(l, i);
		rb_status status = rb_result_status(l->res, number);

		assert_int_equal(waits(l, number),
				 answers[find(plan[i])].waits);
		if (plan[i] == 'v' || plan[i] == 'o')
			assert_status(status, RB_OK);
		else if (!answers[find(plan[i])].waits)
			assert_status(status, RB_ERR_SERVER);
		if (plan[i] == 'v')
			assert_string_equal(
				rb_result_value(l->res, number).data, "v");
	}
	assert_int_equal(waiting(l), l->fleet.left);
}

static void test_what_was_answered_is_reported_at_once(void **state)
{
	static const char plan[] = "vvmmvmev";
	rbi_leg *leg;
	size_t sum = 0;
	size_t i;
	legs l;

	(void)state;
	leg = begin(&l, plan, false);
	legs_step(leg);
	check(&l, plan);
	assert_int_equal(leg->lane->count, 0);
	/* Commands that go the same way go together. */
	assert_int_equal(l.fleet.yard.count, 2);
	assert_int_equal(l.fleet.yard.items[0].parcel.cut.count, 2);
	for (i = 0; i < rb_result_chunks(l.res); i++)
		sum += rb_result_chunk(l.res, i)->count;
	assert_int_equal(sum, 5);
	legs_end(&l);
}

static void test_other_ways_are_told_apart(void **state)
{
	static const char *const plans[] = { "mn", "am", "ma", "mt",  "td",
					     "dd", "tt", "du", "mnma" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(plans); i++) {
		rbi_leg *leg;
		legs l;

		leg = begin(&l, plans[i], false);
		legs_step(leg);
		check(&l, plans[i]);
		assert_int_equal(l.fleet.yard.count, strlen(plans[i]));
		legs_end(&l);
	}
}

static void test_any_mixture_is_sifted(void **state)
{
	static const char letters[] = "vvvvemnatdu";
	uint64_t seed = 77;
	int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		char plan[N + 1] = "";
		rbi_leg *leg;
		size_t i;
		legs l;

		for (i = 0; i < N; i++)
			plan[i] = letters[random_below(&seed,
						       sizeof(letters) - 1)];
		leg = begin(&l, plan, false);
		legs_step(leg);
		check(&l, plan);
		legs_end(&l);
	}
}

/* A proxy that lost its server cannot say whether a write was done. */
static void test_a_write_that_a_proxy_lost_is_not_repeated(void **state)
{
	rbi_leg *leg;
	legs l;

	(void)state;
	leg = begin(&l, "ouo", true);
	legs_step(leg);
	assert_int_equal(waiting(&l), 0);
	assert_outcome(rb_result_outcome(l.res, entry_at(&l, 1)), RB_UNKNOWN);
	assert_status(rb_result_status(l.res, entry_at(&l, 2)), RB_OK);
	legs_end(&l);
	leg = begin(&l, "odmo", true);
	legs_step(leg);
	check(&l, "odmo");
	legs_end(&l);
}

/* Commands of any kind are told apart by their replies. */
static void test_so_is_a_command_of_any_kind(void **state)
{
	static const char *const argv[] = { "INCR", "key" };
	rb_command commands[3];
	int reads;

	(void)state;
	for (reads = 0; reads < 2; reads++) {
		rbi_leg *leg;
		size_t i;
		legs l;

		legs_begin(&l, 3, 1, values);
		for (i = 0; i < 3; i++)
			commands[i] =
				(rb_command){ .argc = 2,
					      .argv = (const char **)argv };
		l.batch.form = RBI_FORM_COMMANDS;
		l.batch.shape = RBI_SHAPE_REPLIES;
		l.batch.commands = commands;
		l.batch.reads = reads;
		l.fleet.form = l.batch;
		l.fleet.form.clustered = true;
		l.fleet.order = reads ? NULL : &l.order;
		rbi_supply_next(&l.fleet);
		leg = legs_up(&l, 0);
		legs_step(leg);
		legs_say(&l, 0,
			 ":1\r\n-upstream failure\r\n-CLUSTERDOWN for now\r\n");
		legs_step(leg);
		assert_int_equal(waiting(&l), 1 + reads);
		if (!reads)
			assert_outcome(rb_result_outcome(l.res, 1), RB_UNKNOWN);
		assert_status(rb_result_status(l.res, 0), RB_OK);
		legs_end(&l);
	}
}

static void test_a_command_by_itself_gets_no_smaller(void **state)
{
	rbi_leg *leg;
	legs l;

	(void)state;
	leg = begin(&l, "opo", true);
	legs_step(leg);
	check(&l, "opo");
	legs_end(&l);
}

/* Keys of one slot that one command asks for. */
static rbi_leg *begin_slot(legs *l, size_t n, bool transaction)
{
	rbi_leg *leg;
	size_t heard;
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "v";
	legs_begin(l, n, 1, transaction ? values : NULL);
	for (i = 0; i < n; i++)
		snprintf(l->names[i], sizeof(l->names[i]), "{t}%zu", i);
	if (transaction) {
		l->batch.form = RBI_FORM_EACH;
		l->batch.shape = RBI_SHAPE_SET;
		l->batch.command.data = "SET";
		l->batch.command.len = 3;
		l->batch.transaction = true;
		l->fleet.form = l->batch;
		l->fleet.form.clustered = true;
	}
	rbi_supply_next(&l->fleet);
	leg = legs_up(l, 0);
	legs_step(leg);
	(void)legs_heard(l, 0, &heard);
	return leg;
}

static void test_a_group_that_is_refused_for_a_key_goes_in_halves(void **state)
{
	rbi_leg *leg;
	legs l;

	(void)state;
	leg = begin_slot(&l, 5, false);
	legs_say(&l, 0, answers[find('p')].text);
	leg->ready = false;
	leg->engine.resume_us = RBI_NEVER;
	legs_step(leg);
	assert_int_equal(leg->engine.again.count, 2);
	assert_int_equal(leg->engine.again.items[0].parcel.cut.count, 2);
	assert_int_equal(leg->engine.again.items[1].parcel.cut.count, 3);
	assert_int_equal(l.fleet.left, 5);
	legs_end(&l);
}

static void test_a_transaction_is_sent_on_as_a_whole(void **state)
{
	static const char letters[] = "mtde";
	size_t i;

	(void)state;
	for (i = 0; letters[i] != '\0'; i++) {
		size_t at = find(letters[i]);
		rbi_leg *leg;
		legs l;

		leg = begin_slot(&l, 3, true);
		legs_say(&l, 0, "+OK\r\n");
		legs_say(&l, 0, answers[at].text);
		legs_say(&l, 0, answers[at].text);
		legs_say(&l, 0, answers[at].text);
		legs_say(&l, 0, "-EXECABORT Transaction discarded\r\n");
		legs_step(leg);
		assert_int_equal(leg->lane->count, 0);
		assert_int_equal(l.fleet.yard.count, answers[at].waits);
		assert_int_equal(waiting(&l), answers[at].waits ? 3 : 0);
		if (!answers[at].waits)
			assert_int_equal(
				legs_count(&l, RB_ERR_SERVER, "ERR no"), 3);
		legs_end(&l);
	}
}

/* Each allocation fails: what was refused waits, or is told so. */
static void test_without_memory_nothing_is_lost(void **state)
{
	static const char plan[] = "vmvnvvtmmvde";
	bool failed = true;
	size_t fail_at = 0;

	(void)state;
	while (failed) {
		rbi_leg *leg;
		size_t sum = 0;
		size_t i;
		legs l;

		leg = begin(&l, plan, false);
		l.count.fail_at = l.count.asked + ++fail_at;
		legs_step(leg);
		failed = l.count.asked >= l.count.fail_at;
		l.count.fail_at = 0;
		assert_int_equal(waiting(&l), l.fleet.left);
		for (i = 0; i < rb_result_chunks(l.res); i++)
			sum += rb_result_chunk(l.res, i)->count;
		assert_int_equal(sum + waiting(&l), N);
		for (i = 0; i < N && !leg->engine.over; i++) {
			size_t number = entry_at(&l, i);
			rb_status got = rb_result_status(l.res, number);

			if (plan[i] == 'v')
				assert_status(got, RB_OK);
			else if (!waits(&l, number))
				assert_status(got, RB_ERR_SERVER);
		}
		legs_end(&l);
	}
	assert_true(fail_at > 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_answered_is_reported_at_once),
		cmocka_unit_test(test_other_ways_are_told_apart),
		cmocka_unit_test(test_any_mixture_is_sifted),
		cmocka_unit_test(
			test_a_write_that_a_proxy_lost_is_not_repeated),
		cmocka_unit_test(test_so_is_a_command_of_any_kind),
		cmocka_unit_test(test_a_command_by_itself_gets_no_smaller),
		cmocka_unit_test(
			test_a_group_that_is_refused_for_a_key_goes_in_halves),
		cmocka_unit_test(test_a_transaction_is_sent_on_as_a_whole),
		cmocka_unit_test(test_without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests_name("sift", tests, NULL, NULL);
}
