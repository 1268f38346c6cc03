/*
 * Answers that say "not now", "I do not know" or "in part": what they make of
 * a chunk, whole and byte by byte; and answers that are sizes.
 */
#include "alloc.h"
#include "answer.h"
#include "unit.h"

#include <stdio.h>

typedef struct row {
	const char *name;
	rbi_form form;
	rbi_shape shape;
	bool reads;
	size_t count;
	const char *bytes;
	rb_status status;
	rb_outcome outcome;
	rbi_route route;
	/* The outcome of each entry: a(nswered), r(ejected), u(nknown), ... */
	const char *outcomes;
} row;

#define MGET(count) RBI_FORM_GATHER, RBI_SHAPE_VALUES, true, (count)
#define MSET(count) RBI_FORM_GATHER, RBI_SHAPE_OK, false, (count)
#define HSET(count) RBI_FORM_GATHER, RBI_SHAPE_INTEGER, false, (count)
#define SET(count) RBI_FORM_EACH, RBI_SHAPE_SET, false, (count)
#define ANY(count) RBI_FORM_COMMANDS, RBI_SHAPE_REPLIES, false, (count)
#define SIZES(count) RBI_FORM_EACH, RBI_SHAPE_SIZES, true, (count)

#define UP "-upstream failure\r\n"
#define BUSY "-BUSY a script\r\n"
#define TRY "-TRYAGAIN later\r\n"

static const row rows[] = {
	/* One command. */
	{ "mget: not now", MGET(2), BUSY, RB_ERR_SERVER, RB_REJECTED,
	  RBI_ROUTE_LATER, "rr" },
	{ "mget: a proxy", MGET(2), UP, RB_ERR_SERVER, RB_REJECTED,
	  RBI_ROUTE_AGAIN, "rr" },
	{ "mget: a proxy, of one", MGET(3), "*3\r\n$1\r\nA\r\n" UP "$-1\r\n",
	  RB_ERR_PARTIAL, RB_ANSWERED, RBI_ROUTE_ANSWER, "ara" },
	{ "mset: not now", MSET(2), TRY, RB_ERR_SERVER, RB_REJECTED,
	  RBI_ROUTE_AGAIN, "rr" },
	{ "mset: a proxy", MSET(2), UP, RB_ERR_SERVER, RB_UNKNOWN,
	  RBI_ROUTE_FAIL, "uu" },
	{ "mset: twemproxy", MSET(1), "-ERR Connection timed out\r\n",
	  RB_ERR_SERVER, RB_UNKNOWN, RBI_ROUTE_FAIL, "u" },
	{ "mset: in part", MSET(3), "-finished with 2 error(s)\r\n",
	  RB_ERR_SERVER, RB_PARTLY, RBI_ROUTE_FAIL, "ppp" },
	{ "hset: a proxy", HSET(2), "-no upstream host\r\n", RB_ERR_SERVER,
	  RB_UNKNOWN, RBI_ROUTE_FAIL, "uu" },
	{ "hset: memory", HSET(2), "-OOM no\r\n", RB_ERR_SERVER, RB_REJECTED,
	  RBI_ROUTE_SHRINK, "rr" },
	/* A command for each. */
	{ "set: all not now", SET(3), BUSY BUSY BUSY, RB_ERR_SERVER,
	  RB_REJECTED, RBI_ROUTE_LATER, "rrr" },
	{ "set: some not now", SET(3), BUSY "+OK\r\n" BUSY, RB_ERR_PARTIAL,
	  RB_PARTLY, RBI_ROUTE_ANSWER, "rar" },
	{ "set: the last not now", SET(3), "+OK\r\n+OK\r\n" BUSY,
	  RB_ERR_PARTIAL, RB_PARTLY, RBI_ROUTE_ANSWER, "aar" },
	{ "set: not now, and never", SET(2), BUSY "-WRONGTYPE a\r\n",
	  RB_ERR_PARTIAL, RB_REJECTED, RBI_ROUTE_FAIL, "rr" },
	{ "set: not now, and unmet", SET(2), BUSY "$-1\r\n", RB_ERR_PARTIAL,
	  RB_REJECTED, RBI_ROUTE_ANSWER, "rr" },
	{ "set: all of a slot", SET(2), TRY TRY, RB_ERR_SERVER, RB_REJECTED,
	  RBI_ROUTE_AGAIN, "rr" },
	{ "set: a proxy", SET(3), "+OK\r\n" UP "+OK\r\n", RB_ERR_PARTIAL,
	  RB_PARTLY, RBI_ROUTE_FAIL, "aua" },
	{ "set: memory", SET(2), "+OK\r\n-OOM no\r\n", RB_ERR_PARTIAL,
	  RB_PARTLY, RBI_ROUTE_STOP, "ar" },
	{ "set: a key", SET(2), "-NOPERM access a key\r\n+OK\r\n",
	  RB_ERR_PARTIAL, RB_PARTLY, RBI_ROUTE_FAIL, "ra" },
	/* Commands of any kind. */
	{ "any: all not now", ANY(3), BUSY BUSY BUSY, RB_ERR_SERVER,
	  RB_REJECTED, RBI_ROUTE_LATER, "rrr" },
	{ "any: some not now", ANY(3), BUSY ":1\r\n" BUSY, RB_ERR_PARTIAL,
	  RB_PARTLY, RBI_ROUTE_ANSWER, "rar" },
	{ "any: an array of not now", ANY(1), "*2\r\n" BUSY BUSY, RB_OK,
	  RB_ANSWERED, RBI_ROUTE_ANSWER, "a" },
	{ "any: memory", ANY(2), "-OOM no\r\n:1\r\n", RB_ERR_PARTIAL, RB_PARTLY,
	  RBI_ROUTE_ANSWER, "ra" },
	{ "any: a key", ANY(2), "-NOPERM access a key\r\n:1\r\n",
	  RB_ERR_PARTIAL, RB_PARTLY, RBI_ROUTE_ANSWER, "ra" },
	{ "any: a quota", ANY(2), ":1\r\n-ERR max requests limit exceeded\r\n",
	  RB_ERR_PARTIAL, RB_PARTLY, RBI_ROUTE_STOP, "ar" },
	/* Sizes. */
	{ "sizes", SIZES(3), ":5\r\n:0\r\n:536870912\r\n", RB_OK, RB_ANSWERED,
	  RBI_ROUTE_ANSWER, "aaa" },
	{ "sizes: another type", SIZES(2), "-WRONGTYPE a\r\n:1\r\n", RB_OK,
	  RB_ANSWERED, RBI_ROUTE_ANSWER, "aa" },
	{ "sizes: a key", SIZES(2), ":1\r\n-NOPERM access a key\r\n",
	  RB_ERR_PARTIAL, RB_PARTLY, RBI_ROUTE_FAIL, "ar" },
	{ "sizes: all not now", SIZES(2), BUSY BUSY, RB_ERR_SERVER, RB_REJECTED,
	  RBI_ROUTE_LATER, "rr" },
	{ "sizes: some not now", SIZES(2), BUSY ":7\r\n", RB_ERR_PARTIAL,
	  RB_PARTLY, RBI_ROUTE_ANSWER, "ra" },
};

/* ----------------------------------------------------------------- a run -- */

typedef struct run {
	rbi_batch batch;
	rb_result *res;
	rbi_reader reader;
	rbi_answer answer;
	rbi_progress progress;
	char *bytes;
} run;

static void run_row(run *r, const row *w, size_t step)
{
	size_t len = strlen(w->bytes);
	size_t at = step < len ? step : len;
	rbi_cut cut = { .first = 0, .count = w->count };

	memset(r, 0, sizeof(*r));
	r->bytes = exact_copy(w->bytes, len);
	r->batch.form = w->form;
	r->batch.shape = w->shape;
	r->batch.reads = w->reads;
	r->batch.command.data = "NAME";
	r->batch.command.len = 4;
	r->batch.n = w->count;
	cut.batch = &r->batch;
	r->res = rbi_result_new(&rbi_alloc_default, w->count, 1, "node");
	assert_non_null(r->res);
	rbi_reader_init(&r->reader, 1000);
	rbi_answer_init(&r->answer, &cut, r->res->entries, r->res);
	rbi_reader_window(&r->reader, r->bytes, r->bytes + at);
	for (;;) {
		r->progress = rbi_answer_read(&r->answer, &r->reader, r->res);
		if (r->progress != RBI_PROGRESS_MORE || at == len)
			break;
		at = at + step < len ? at + step : len;
		rbi_reader_window(&r->reader, r->reader.pos, r->bytes + at);
	}
}

static void end_run(run *r)
{
	rb_result_free(r->res);
	free(r->bytes);
}

static char letter(rb_outcome outcome)
{
	return rb_outcome_text(outcome)[0];
}

static void check_run(const run *r, const row *w)
{
	const rbi_answer *a = &r->answer;
	size_t i;

	if (r->progress != RBI_PROGRESS_DONE)
		fail_msg("%s: progress %d", w->name, (int)r->progress);
	if (a->status != w->status || a->outcome != w->outcome ||
	    a->route != w->route)
		fail_msg("%s: \"%s\", %s, route %d", w->name,
			 rb_status_text(a->status), rb_outcome_text(a->outcome),
			 (int)a->route);
	for (i = 0; i < w->count; i++) {
		rb_outcome got =
			rbi_entry_outcome(&r->res->entries[i], a->outcome);

		if (letter(got) != w->outcomes[i])
			fail_msg("%s: entry %zu is %s", w->name, i,
				 rb_outcome_text(got));
	}
	assert_int_equal(*a->message == '\0', w->status == RB_OK);
}

static void test_every_answer_is_understood_whole_and_in_pieces(void **state)
{
	size_t i;
	size_t step;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		for (step = strlen(rows[i].bytes); step > 0; step--) {
			run r;

			run_row(&r, &rows[i], step);
			check_run(&r, &rows[i]);
			end_run(&r);
		}
	}
}

static void test_refusals_for_now_are_counted(void **state)
{
	static const row all = { "", SET(3), BUSY TRY BUSY, 0, 0, 0, "" };
	static const row some = {
		"", SET(3), BUSY "+OK\r\n" BUSY, 0, 0, 0, ""
	};
	static const row none = { "", SET(3), "+OK\r\n+OK\r\n+OK\r\n", 0, 0,
				  0,  "" };
	run r;

	(void)state;
	run_row(&r, &all, 3);
	assert_int_equal(r.answer.later, 3);
	end_run(&r);
	run_row(&r, &some, 3);
	assert_int_equal(r.answer.later, 2);
	end_run(&r);
	run_row(&r, &none, 3);
	assert_int_equal(r.answer.later, 0);
	end_run(&r);
}

/* ----------------------------------------------------------------- sizes -- */

static void test_sizes_are_kept_with_the_entries(void **state)
{
	static const row sizes = {
		"",
		SIZES(5),
		":5\r\n:0\r\n-WRONGTYPE a\r\n:-1\r\n:9223372036854775807\r\n",
		0,
		0,
		0,
		""
	};
	static const size_t want[] = { 5, 0, 0, 0, UINT32_MAX };
	size_t step;
	size_t i;

	(void)state;
	for (step = 1; step < 60; step++) {
		run r;

		run_row(&r, &sizes, step);
		assert_int_equal(r.progress, RBI_PROGRESS_DONE);
		for (i = 0; i < N_OF(want); i++)
			assert_int_equal(rbi_entry_number(&r.res->entries[i]),
					 want[i]);
		end_run(&r);
	}
}

static void test_a_size_that_is_none_breaks_the_connection(void **state)
{
	static const char *const bytes[] = {
		"$1\r\n5\r\n", "+OK\r\n", "*1\r\n:5\r\n", "$-1\r\n", "_\r\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(bytes); i++) {
		row w = { "", SIZES(1), bytes[i], 0, 0, 0, "" };
		run r;

		run_row(&r, &w, 100);
		assert_int_equal(r.progress, RBI_PROGRESS_BROKEN);
		assert_non_null(strstr(r.answer.message, "integer"));
		end_run(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_every_answer_is_understood_whole_and_in_pieces),
		cmocka_unit_test(test_refusals_for_now_are_counted),
		cmocka_unit_test(test_sizes_are_kept_with_the_entries),
		cmocka_unit_test(
			test_a_size_that_is_none_breaks_the_connection),
	};

	return cmocka_run_group_tests_name("answer_later", tests, NULL, NULL);
}
