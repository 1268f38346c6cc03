/*
 * What becomes of a batch whose server answers, late or oddly; and how bytes
 * move whatever the socket takes at a time. What happens to a connection that
 * fails is in test_engine_loss.c, bounds are in test_engine_bounds.c.
 */
#include "rig.h"
#include "unit.h"

static rig r;

/* Serves n keys, count a chunk, and checks that every byte was as it should
 * be. */
static void check_all_answered(size_t n, size_t count)
{
	size_t i;

	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 0);
	assert_int_equal(rb_result_chunks(r.res), (n + count - 1) / count);
	for (i = 0; i < n; i++) {
		rb_slice value = rb_result_value(r.res, i);

		assert_int_equal(value.len, r.value_len);
		assert_memory_equal(value.data, r.value, r.value_len + 1);
	}
	rig_check_commands(&r, n, count);
	assert_false(rig_is_broken(&r));
}

/* ---------------------------------------------------------------- bytes -- */

static void test_a_batch_is_sent_and_answered_in_chunks(void **state)
{
	static const size_t counts[] = { 1, 2, 3, 4, 6, 7, 8, 100 };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(counts); i++) {
		rig_init(&r, 7, 5);
		rig_serve(&r, LIT("value"), 1000, 10);
		r.options.chunk_keys = counts[i];
		r.options.window = 3;
		rig_run(&r);
		check_all_answered(7, counts[i]);
		rig_fini(&r);
	}
}

static void test_partial_writes_keep_order(void **state)
{
	static const int one[2000] = {
		1, 2, 1, 1, 3, -EINTR, 1, -EAGAIN, 7, 1, -EWOULDBLOCK, 1, 1
	};
	static int ones[5000];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(ones); i++)
		ones[i] = 1;
	rig_init(&r, 30, 20);
	rig_serve(&r, LIT("v"), 100, 10);
	r.options.window = 8;
	r.sends = ones;
	r.nsends = N_OF(ones);
	rig_run(&r);
	check_all_answered(30, 1);
	rig_fini(&r);

	rig_init(&r, 30, 20);
	rig_serve(&r, LIT("v"), 100, 10);
	r.options.window = 8;
	r.sends = one;
	r.nsends = N_OF(one);
	rig_run(&r);
	check_all_answered(30, 1);
	rig_fini(&r);
}

static void test_large_keys_leave_in_pieces_of_any_size(void **state)
{
	static int sends[3000];
	uint64_t seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		uint64_t dice = seed;

		for (i = 0; i < N_OF(sends); i++)
			sends[i] = 1 + (int)random_below(&dice, 9000);
		rig_init(&r, 12, 20000);
		rig_serve(&r, LIT("v"), 100, 10);
		r.options.chunk_keys = 3;
		r.options.window = 4;
		r.sends = sends;
		r.nsends = N_OF(sends);
		rig_run(&r);
		check_all_answered(12, 3);
		rig_fini(&r);
	}
}

static void test_answers_may_arrive_in_pieces_of_any_size(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 5, 8, 100, 5000 };
	char value[3000];
	size_t i;

	(void)state;
	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	for (i = 0; i < N_OF(sizes); i++) {
		rig_init(&r, 20, 5);
		rig_serve(&r, value, sizeof(value) - 1, 100, 10);
		r.options.chunk_keys = 4;
		r.options.window = 3;
		r.recv_max = sizes[i];
		rig_run(&r);
		check_all_answered(20, 4);
		rig_fini(&r);
	}
}

static void test_interrupted_receives_go_on(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	rig_fail(&r, 1, EINTR);
	rig_say(&r, 1, "*1\r\n$1");
	rig_fail(&r, 1, EINTR);
	rig_fail(&r, 1, EAGAIN);
	rig_say(&r, 1, "\r\na\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_string_equal(rb_result_value(r.res, 0).data, "a");
	rig_fini(&r);
}

static void test_duplicate_keys_are_answered_each(void **state)
{
	static const char *five[] = { "c", "a", "b", "zz", "a" };
	static const size_t lens[] = { 1, 1, 1, 2, 1 };
	static const char *const want[] = { "3", "1", "", NULL, "1" };
	size_t i;

	(void)state;
	rig_init(&r, 5, 1);
	r.batch.keys = five;
	r.batch.keylens = lens;
	r.options.chunk_keys = 2;
	rig_say(&r, 28, "*2\r\n$1\r\n3\r\n$1\r\n1\r\n");
	rig_say(&r, 57, "*2\r\n$0\r\n\r\n$-1\r\n");
	rig_say(&r, 78, "*1\r\n$1\r\n1\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	for (i = 0; i < 5; i++) {
		rb_slice value = rb_result_value(r.res, i);

		assert_status(rb_result_status(r.res, i), RB_OK);
		if (want[i] == NULL)
			assert_null(value.data);
		else
			assert_string_equal(value.data, want[i]);
	}
	rig_fini(&r);
}

/* -------------------------------------------------------------- reports -- */

static void test_reports_have_exact_sizes_and_times(void **state)
{
	const rb_chunk *chunk;
	size_t size;

	(void)state;
	rig_init(&r, 1, 3);
	size = rig_size(&r, 0);
	rig_say(&r, size, "*1\r\n$1")->at_us = RIG_BEGIN_US + 5000;
	rig_say(&r, size, "\r\na\r\n")->at_us = RIG_BEGIN_US + 7000;
	rig_run(&r);
	chunk = rb_result_chunk(r.res, 0);
	assert_int_equal(chunk->request_bytes, size);
	assert_int_equal(chunk->reply_bytes, 11);
	assert_int_equal(chunk->elapsed_us, 7000);
	assert_int_equal(chunk->attempts, 1);
	assert_string_equal(chunk->node, "node");
	rig_check_chunk(&r, 0, RB_OK, RB_ANSWERED, "");
	rig_fini(&r);
}

static void test_stats_count_what_was_sent(void **state)
{
	(void)state;
	rig_init(&r, 7, 5);
	rig_serve(&r, LIT("value"), 1000, 10);
	r.options.chunk_keys = 3;
	rig_run(&r);
	assert_int_equal(r.res->stats.commands, 3);
	assert_int_equal(r.res->stats.keys, 7);
	assert_int_equal(r.res->stats.request_bytes, r.nsent);
	assert_int_equal(r.res->stats.reply_bytes, 3 * 4 + 7 * 11);
	assert_int_equal(r.res->stats.round_trips, 3);
	assert_int_equal(r.res->stats.retries, 0);
	rig_fini(&r);
}

static void test_a_window_saves_round_trips(void **state)
{
	static const struct {
		size_t window;
		size_t want;
	} cases[] = { { 1, 100 }, { 4, 25 }, { 100, 1 } };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rig_init(&r, 100, 1);
		rig_serve(&r, LIT("v"), 1000, 0);
		r.options.window = cases[i].window;
		rig_run(&r);
		assert_int_equal(r.res->stats.round_trips, cases[i].want);
		rig_fini(&r);
	}
}

/* --------------------------------------------------------------- errors -- */

static void test_an_error_fails_its_chunk_alone(void **state)
{
	(void)state;
	rig_init(&r, 3, 1);
	r.options.window = 3;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n-WRONGTYPE no\r\n*1\r\n$1\r\nc\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 1);
	rig_check_chunk(&r, 0, RB_OK, RB_ANSWERED, "");
	rig_check_chunk(&r, 1, RB_ERR_SERVER, RB_REJECTED, "WRONGTYPE no");
	rig_check_chunk(&r, 2, RB_OK, RB_ANSWERED, "");
	assert_string_equal(rb_result_message(r.res, 1), "WRONGTYPE no");
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_an_error_of_one_entry_fails_it_alone(void **state)
{
	(void)state;
	rig_init(&r, 3, 1);
	r.options.chunk_keys = 3;
	rig_say(&r, 1, "*3\r\n$1\r\nA\r\n-upstream failure\r\n$-1\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(rig_check_sums(&r), 1);
	rig_check_chunk(&r, 0, RB_ERR_PARTIAL, RB_ANSWERED, "upstream failure");
	assert_status(rb_result_status(r.res, 1), RB_ERR_SERVER);
	assert_status(rb_result_status(r.res, 2), RB_OK);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_an_error_without_hope_stops_the_batch_in_step(void **state)
{
	(void)state;
	rig_init(&r, 5, 1);
	r.options.window = 2;
	rig_say(&r, 1, "-NOAUTH Authentication required.\r\n");
	rig_say(&r, 1, "*1\r\n$1\r\nb\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_SERVER);
	assert_non_null(strstr(r.engine.why, "NOAUTH"));
	rig_check_chunk(&r, 0, RB_ERR_SERVER, RB_REJECTED, "NOAUTH");
	rig_check_chunk(&r, 1, RB_OK, RB_ANSWERED, "");
	rig_check_chunk(&r, 2, RB_ERR_SKIPPED, RB_NOT_SENT, "NOAUTH");
	rig_check_chunk(&r, 4, RB_ERR_SKIPPED, RB_NOT_SENT, "NOAUTH");
	assert_int_equal(rig_check_sums(&r), 4);
	assert_int_equal(r.commands, 2);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_stop_on_error_stops_at_the_first_failure(void **state)
{
	static const char *const answers[] = { "-WRONGTYPE no\r\n",
					       "*1\r\n-ERR inside\r\n" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(answers); i++) {
		rig_init(&r, 5, 1);
		r.options.flags = RB_STOP_ON_ERROR;
		r.options.window = 2;
		rig_say(&r, 1, answers[i]);
		rig_say(&r, 1, "*1\r\n$1\r\nb\r\n");
		rig_run(&r);
		assert_status(r.engine.status, RB_OK);
		assert_int_equal(rig_check_sums(&r), 4);
		rig_check_chunk(&r, 1, RB_OK, RB_ANSWERED, "");
		rig_check_chunk(&r, 2, RB_ERR_SKIPPED, RB_NOT_SENT,
				i == 0 ? "WRONGTYPE" : "inside");
		assert_int_equal(r.commands, 2);
		assert_false(rig_is_broken(&r));
		rig_fini(&r);
	}
}

static void test_a_connection_inside_of_multi_stays_in_step(void **state)
{
	(void)state;
	rig_init(&r, 3, 1);
	r.options.window = 2;
	rig_say(&r, 1, "+QUEUED\r\n+QUEUED\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_PROTOCOL);
	assert_non_null(strstr(r.engine.why, "MULTI"));
	rig_check_chunk(&r, 0, RB_ERR_PROTOCOL, RB_UNKNOWN, "MULTI");
	rig_check_chunk(&r, 1, RB_ERR_PROTOCOL, RB_UNKNOWN, "MULTI");
	rig_check_chunk(&r, 2, RB_ERR_SKIPPED, RB_NOT_SENT, "MULTI");
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_a_wrong_shape_breaks_the_connection(void **state)
{
	static const char *const shapes[] = {
		"$-1\r\n",
		"*-1\r\n",
		"+OK\r\n",
		":1\r\n",
		"$3\r\nabc\r\n",
		"*0\r\n",
		"*2\r\n$1\r\na\r\n",
		"*1073741824\r\n",
		"*2147483649\r\n",
		"garbage\r\n",
		"*1\r\n$2\r\nabc\r\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(shapes); i++) {
		rig_init(&r, 4, 1);
		r.options.window = 3;
		rig_say(&r, 1, "*1\r\n$1\r\na\r\n");
		rig_say(&r, 1, shapes[i]);
		rig_say(&r, 1, "*1\r\n$1\r\nc\r\n");
		rig_run(&r);
		assert_status(r.engine.status, RB_ERR_PROTOCOL);
		rig_check_chunk(&r, 0, RB_OK, RB_ANSWERED, "");
		assert_status(rb_result_status(r.res, 1), RB_ERR_PROTOCOL);
		assert_outcome(rb_result_outcome(r.res, 1), RB_UNKNOWN);
		assert_outcome(rb_result_outcome(r.res, 2), RB_UNKNOWN);
		assert_int_equal(rig_check_sums(&r), 3);
		assert_true(rig_is_broken(&r));
		assert_true(r.count.peak_bytes < 100000);
		rig_fini(&r);
	}
}

/* --------------------------------------------------------------- pushes -- */

#define PUSH ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"

static void test_pushes_change_nothing(void **state)
{
	static const char *const wires[] = {
		PUSH "*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n",
		"*1\r\n$1\r\na\r\n" PUSH "*1\r\n$1\r\nb\r\n",
		"*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n" PUSH,
		PUSH PUSH "*1\r\n$1\r\na\r\n" PUSH PUSH
			  "*1\r\n$1\r\nb\r\n" PUSH PUSH,
	};
	size_t i;
	size_t piece;

	(void)state;
	for (i = 0; i < N_OF(wires); i++) {
		for (piece = 0; piece < 40; piece++) {
			rig_init(&r, 2, 1);
			r.options.window = 2;
			r.recv_max = piece;
			rig_say(&r, 1, wires[i]);
			rig_run(&r);
			assert_status(r.engine.status, RB_OK);
			assert_int_equal(rig_check_sums(&r), 0);
			assert_string_equal(rb_result_value(r.res, 0).data,
					    "a");
			assert_string_equal(rb_result_value(r.res, 1).data,
					    "b");
			assert_false(rig_is_broken(&r));
			rig_fini(&r);
		}
	}
}

static void test_a_push_cut_behind_the_last_answer_is_awaited(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n>2\r\n+x\r\n$3\r\na");
	rig_say(&r, 1, "bc\r\n")->at_us = RIG_BEGIN_US + 70000;
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_int_equal(r.now_us, RIG_BEGIN_US + 70000);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_an_empty_push_behind_the_last_answer_ends_it(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	r.engine.deadline_us = RIG_BEGIN_US + 1000000;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n>0\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_OK);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_a_push_that_never_ends_meets_the_deadline(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	r.engine.deadline_us = RIG_BEGIN_US + 30000;
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n>2\r\n+x\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_TIMEOUT);
	assert_int_equal(r.now_us, RIG_BEGIN_US + 30000);
	assert_status(rb_result_status(r.res, 0), RB_OK);
	assert_string_equal(rb_result_value(r.res, 0).data, "a");
	assert_true(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_an_answer_too_many_breaks_the_connection(void **state)
{
	(void)state;
	rig_init(&r, 1, 1);
	rig_say(&r, 1, "*1\r\n$1\r\na\r\n+PONG\r\n");
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_PROTOCOL);
	assert_status(rb_result_status(r.res, 0), RB_OK);
	assert_string_equal(rb_result_value(r.res, 0).data, "a");
	assert_true(rig_is_broken(&r));
	rig_fini(&r);
}

/* ------------------------------------------------------------- callback -- */

typedef struct told {
	rb_chunk chunks[32];
	size_t n;
	size_t cancel_at; /* this call of them, from 1 */
} told;

static int tell(void *arg, const rb_chunk *chunk)
{
	told *t = arg;

	assert_true(t->n < N_OF(t->chunks));
	t->chunks[t->n++] = *chunk;
	return t->n == t->cancel_at ? -1 : 0;
}

static void test_the_callback_is_told_each_chunk_in_order(void **state)
{
	told t = { .n = 0 };
	size_t i;

	(void)state;
	rig_init(&r, 7, 1);
	rig_serve(&r, LIT("v"), 1000, 10);
	r.options.window = 3;
	r.options.on_chunk = tell;
	r.options.on_chunk_arg = &t;
	rig_run(&r);
	assert_int_equal(t.n, 7);
	for (i = 0; i < 7; i++)
		assert_memory_equal(&t.chunks[i], rb_result_chunk(r.res, i),
				    sizeof(rb_chunk));
	rig_fini(&r);
}

static void test_cancelling_awaits_what_is_in_flight(void **state)
{
	told t = { .cancel_at = 2 };
	size_t i;

	(void)state;
	rig_init(&r, 10, 1);
	rig_serve(&r, LIT("v"), 1000, 10);
	r.options.window = 3;
	r.options.on_chunk = tell;
	r.options.on_chunk_arg = &t;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_CANCELLED);
	/* Two more went when the first was answered, perhaps. */
	assert_in_range(r.commands, 3, 5);
	for (i = 0; i < r.commands; i++)
		rig_check_chunk(&r, i, RB_OK, RB_ANSWERED, "");
	for (; i < 10; i++)
		rig_check_chunk(&r, i, RB_ERR_SKIPPED, RB_NOT_SENT,
				"cancelled");
	assert_int_equal(rig_check_sums(&r), 10 - r.commands);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_cancelling_at_the_last_chunk_is_told_too(void **state)
{
	told t = { .cancel_at = 2 };

	(void)state;
	rig_init(&r, 2, 1);
	rig_serve(&r, LIT("v"), 1000, 10);
	r.options.on_chunk = tell;
	r.options.on_chunk_arg = &t;
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_CANCELLED);
	assert_int_equal(rig_check_sums(&r), 0);
	assert_false(rig_is_broken(&r));
	rig_fini(&r);
}

static void test_chunks_that_were_not_sent_are_not_told(void **state)
{
	static const int sends[] = { 10, -EAGAIN, -EAGAIN, -EAGAIN };
	told t = { .n = 0 };

	(void)state;
	rig_init(&r, 5, 1);
	r.options.window = 3;
	r.options.on_chunk = tell;
	r.options.on_chunk_arg = &t;
	r.sends = sends;
	r.nsends = N_OF(sends);
	rig_fail(&r, 1, ECONNRESET);
	rig_run(&r);
	assert_status(r.engine.status, RB_ERR_IO);
	assert_int_equal(rb_result_chunk(r.res, 0)->attempts, 1);
	assert_int_equal(rb_result_chunk(r.res, 1)->attempts, 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.chunks[0].first, 0);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_batch_is_sent_and_answered_in_chunks),
		cmocka_unit_test(test_partial_writes_keep_order),
		cmocka_unit_test(test_large_keys_leave_in_pieces_of_any_size),
		cmocka_unit_test(test_answers_may_arrive_in_pieces_of_any_size),
		cmocka_unit_test(test_interrupted_receives_go_on),
		cmocka_unit_test(test_duplicate_keys_are_answered_each),
		cmocka_unit_test(test_reports_have_exact_sizes_and_times),
		cmocka_unit_test(test_stats_count_what_was_sent),
		cmocka_unit_test(test_a_window_saves_round_trips),
		cmocka_unit_test(test_an_error_fails_its_chunk_alone),
		cmocka_unit_test(test_an_error_of_one_entry_fails_it_alone),
		cmocka_unit_test(
			test_an_error_without_hope_stops_the_batch_in_step),
		cmocka_unit_test(test_stop_on_error_stops_at_the_first_failure),
		cmocka_unit_test(
			test_a_connection_inside_of_multi_stays_in_step),
		cmocka_unit_test(test_a_wrong_shape_breaks_the_connection),
		cmocka_unit_test(test_pushes_change_nothing),
		cmocka_unit_test(
			test_a_push_cut_behind_the_last_answer_is_awaited),
		cmocka_unit_test(
			test_an_empty_push_behind_the_last_answer_ends_it),
		cmocka_unit_test(
			test_a_push_that_never_ends_meets_the_deadline),
		cmocka_unit_test(test_an_answer_too_many_breaks_the_connection),
		cmocka_unit_test(test_the_callback_is_told_each_chunk_in_order),
		cmocka_unit_test(test_cancelling_awaits_what_is_in_flight),
		cmocka_unit_test(test_cancelling_at_the_last_chunk_is_told_too),
		cmocka_unit_test(test_chunks_that_were_not_sent_are_not_told),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
