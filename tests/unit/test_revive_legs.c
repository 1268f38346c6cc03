/*
 * A connection of several that is lost in the middle of writes: what has left
 * whole may have been done, and is not sent again; what has not left waits.
 */
#include "legs.h"

#define N 8

static const char *values[LEGS_MOST];
static size_t room; /* bytes that the connection still takes */

static ssize_t send_some(int fd, const struct msghdr *msg, int flags)
{
	struct iovec one = msg->msg_iov[0];
	struct msghdr less = { .msg_iov = &one, .msg_iovlen = 1 };
	ssize_t n;

	if (room == 0) {
		errno = EAGAIN;
		return -1;
	}
	one.iov_len = rbi_min(one.iov_len, room);
	n = sendmsg(fd, &less, flags);
	assert_true(n > 0);
	room -= (size_t)n;
	return n;
}

static rbi_sys sys;

/* Keys in the slots of one node, in the order in which they are sent. */
static rbi_leg *begin_slots(legs *l, rbi_form form, bool grouped, bool one_slot)
{
	size_t i;

	for (i = 0; i < LEGS_MOST; i++)
		values[i] = "value";
	sys = rbi_sys_default;
	sys.send = send_some;
	legs_begin(l, N, 1, values);
	l->batch.form = form;
	l->batch.command.data = form == RBI_FORM_EACH ? "SET" : "MSET";
	l->batch.command.len = strlen(l->batch.command.data);
	l->batch.shape = form == RBI_FORM_EACH ? RBI_SHAPE_SET : RBI_SHAPE_OK;
	l->fleet.form = l->batch;
	l->fleet.form.clustered = true;
	l->fleet.grouped = grouped;
	l->client.sys = &sys;
	for (i = 0; i < N && one_slot; i++)
		snprintf(l->names[i], sizeof(l->names[i]), "{t}%zu", i);
	rbi_supply_next(&l->fleet);
	return legs_up(l, 0);
}

static rbi_leg *begin(legs *l, rbi_form form, bool grouped)
{
	return begin_slots(l, form, grouped, false);
}

/* Takes so many bytes and then ends. */
static void lose(legs *l, rbi_leg *leg, size_t bytes)
{
	room = bytes;
	legs_step(leg);
	if (bytes > 0)
		assert_int_equal(leg->lane->sent, bytes);
	close(l->peers[0]);
	l->peers[0] = -1;
	legs_step(leg);
	if (bytes == 0)
		rbi_revive_lost(&leg->engine, ECONNRESET, l->fleet.now_us);
	assert_true(leg->engine.down);
	assert_int_equal(leg->lane->count, 0);
}

static size_t kept(const rbi_leg *leg)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < leg->engine.again.count; i++) {
		const rbi_waiting *w = &leg->engine.again.items[i];

		assert_outcome(w->fate.outcome, RB_NOT_SENT);
		sum += w->parcel.cut.count;
	}
	return sum;
}

/* The bytes of all, and how many entries have left whole with so many. */
static size_t whole_size(rbi_form form, bool grouped)
{
	size_t bytes;
	rbi_leg *leg;
	legs l;

	leg = begin(&l, form, grouped);
	room = SIZE_MAX;
	legs_step(leg);
	bytes = (size_t)leg->lane->sent;
	assert_true(bytes > 0);
	legs_end(&l);
	return bytes;
}

/* Entries are as long as each other, one digit of a key. */
static void check_each(size_t bytes, size_t size)
{
	size_t whole = bytes / (size / N);
	rbi_leg *leg;
	size_t i;
	legs l;

	leg = begin(&l, RBI_FORM_EACH, true);
	lose(&l, leg, bytes);
	assert_int_equal(kept(leg), N - whole);
	assert_int_equal(l.fleet.left, N - whole);
	/* One that had begun to leave was tried. */
	if (whole < N)
		assert_int_equal(leg->engine.again.items[0].parcel.attempts,
				 bytes % (size / N) > 0);
	for (i = 0; i < N; i++) {
		size_t number = l.fleet.loads[0]->numbers[i];

		assert_outcome(rb_result_outcome(l.res, number),
			       i < whole ? RB_UNKNOWN : RB_NOT_SENT);
		assert_status(rb_result_status(l.res, number),
			      i < whole ? RB_ERR_IO : RB_ERR_SKIPPED);
		assert_int_equal(
			rbi_yard_doubts(&l.fleet, legs_slot(&l, number)),
			i < whole);
	}
	legs_end(&l);
}

static void test_writes_that_have_left_whole_are_in_doubt(void **state)
{
	size_t size = whole_size(RBI_FORM_EACH, true);
	size_t bytes;

	(void)state;
	assert_int_equal(size % N, 0);
	for (bytes = 0; bytes <= size; bytes++)
		check_each(bytes, size);
}

/* Commands by slots: as writes of their own, for each key has a slot. */
static void test_commands_by_slots_are_in_doubt_one_by_one(void **state)
{
	size_t size = whole_size(RBI_FORM_GATHER, true);
	size_t bytes;

	(void)state;
	for (bytes = 0; bytes <= size; bytes++) {
		size_t whole = bytes / (size / N);
		rbi_leg *leg;
		legs l;

		leg = begin(&l, RBI_FORM_GATHER, true);
		lose(&l, leg, bytes);
		assert_int_equal(kept(leg), N - whole);
		assert_int_equal(legs_count(&l, RB_ERR_IO, ""), whole);
		legs_end(&l);
	}
}

static void check_whole(rbi_form form, bool transaction)
{
	size_t size = 0;
	size_t bytes;

	for (bytes = 0; bytes <= size; bytes++) {
		size_t whole;
		rbi_leg *leg;
		legs l;

		leg = begin_slots(&l, form, transaction, true);
		l.fleet.loads[0]->batch.transaction = transaction;
		l.fleet.form.transaction = transaction;
		lose(&l, leg, bytes);
		/* It is known by now how long the chunk was. */
		if (bytes == 0)
			size = leg->engine.again.items[0]
				       .parcel.cut.request_bytes;
		whole = bytes == size ? N : 0;
		assert_int_equal(kept(leg), N - whole);
		assert_int_equal(legs_count(&l, RB_ERR_IO, ""), whole);
		legs_end(&l);
	}
	assert_true(size > 100);
}

static void test_a_part_of_one_command_does_nothing(void **state)
{
	(void)state;
	check_whole(RBI_FORM_GATHER, false);
}

static void test_a_part_of_a_transaction_does_nothing(void **state)
{
	(void)state;
	check_whole(RBI_FORM_EACH, true);
}

static size_t count_unknown(const legs *l)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < N; i++)
		sum += rb_result_outcome(l->res, i) == RB_UNKNOWN;
	return sum;
}

/* Then more than what has left may be said to be in doubt, never less. */
static void test_without_memory_doubts_are_coarser(void **state)
{
	size_t size = whole_size(RBI_FORM_EACH, true);
	bool failed = true;
	size_t fail_at = 0;

	(void)state;
	while (failed) {
		size_t unknown;
		rbi_leg *leg;
		legs l;

		leg = begin(&l, RBI_FORM_EACH, true);
		room = size / 2;
		legs_step(leg);
		close(l.peers[0]);
		l.peers[0] = -1;
		l.count.fail_at = l.count.asked + ++fail_at;
		legs_step(leg);
		failed = l.count.asked >= l.count.fail_at;
		unknown = count_unknown(&l);
		assert_true(unknown >= N / 2);
		assert_true(unknown + l.fleet.left <= N);
		if (!leg->engine.over)
			assert_int_equal(kept(leg), l.fleet.left);
		if (!failed)
			assert_int_equal(unknown, N / 2);
		legs_end(&l);
	}
	assert_true(fail_at > 1);
}

/* Where writes may be repeated nothing is in doubt. */
static void test_what_may_be_repeated_waits(void **state)
{
	size_t size = whole_size(RBI_FORM_EACH, true);
	rbi_leg *leg;
	size_t sum = 0;
	size_t i;
	legs l;

	(void)state;
	leg = begin(&l, RBI_FORM_EACH, true);
	l.options.flags |= RB_RETRY_WRITES;
	lose(&l, leg, size);
	for (i = 0; i < leg->engine.again.count; i++) {
		const rbi_waiting *w = &leg->engine.again.items[i];

		assert_outcome(w->fate.outcome, RB_UNKNOWN);
		assert_true(w->parcel.unknown);
		sum += w->parcel.cut.count;
	}
	assert_int_equal(sum, N);
	assert_int_equal(l.fleet.left, N);
	legs_end(&l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_that_have_left_whole_are_in_doubt),
		cmocka_unit_test(
			test_commands_by_slots_are_in_doubt_one_by_one),
		cmocka_unit_test(test_a_part_of_one_command_does_nothing),
		cmocka_unit_test(test_a_part_of_a_transaction_does_nothing),
		cmocka_unit_test(test_without_memory_doubts_are_coarser),
		cmocka_unit_test(test_what_may_be_repeated_waits),
	};

	return cmocka_run_group_tests_name("revive_legs", tests, NULL, NULL);
}
