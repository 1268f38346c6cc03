/*
 * Answers to writes, to commands of any kind and to transactions, whole and
 * byte by byte.
 */
#include "alloc.h"
#include "answer.h"
#include "replies.h"
#include "unit.h"

#include <stdio.h>

typedef struct row {
	const char *name;
	rbi_form form;
	rbi_shape shape;
	bool transaction;
	size_t count;
	const char *bytes;
	/* Its end, and what the entries then are: "D" applied, "U" unmet,
	 * "!words" an error, "?" as the chunk, a reply as it is printed. */
	rbi_progress progress;
	rb_status status;
	rb_outcome outcome;
	const char *entries;
	const char *message;
} row;

#define GATHER RBI_FORM_GATHER
#define OK_(count) RBI_FORM_GATHER, RBI_SHAPE_OK, false, (count)
#define INT_(count) RBI_FORM_GATHER, RBI_SHAPE_INTEGER, false, (count)
#define SET_(count) RBI_FORM_EACH, RBI_SHAPE_SET, false, (count)
#define ANY_(count) RBI_FORM_COMMANDS, RBI_SHAPE_REPLIES, false, (count)
#define TX_OK_(count) RBI_FORM_GATHER, RBI_SHAPE_OK, true, (count)
#define TX_SET_(count) RBI_FORM_EACH, RBI_SHAPE_SET, true, (count)
#define TX_ANY_(count) RBI_FORM_COMMANDS, RBI_SHAPE_REPLIES, true, (count)
#define DONE RBI_PROGRESS_DONE
#define BROKEN RBI_PROGRESS_BROKEN
#define Q "+QUEUED\r\n"

static const row rows[] = {
	{ "ok", OK_(3), "+OK\r\n", DONE, RB_OK, RB_ANSWERED, "? ? ?", "" },
	{ "ok: error", OK_(2), "-OOM no\r\n", DONE, RB_ERR_SERVER, RB_REJECTED,
	  "? ?", "OOM no" },
	{ "ok: queued", OK_(2), Q, DONE, RB_ERR_PROTOCOL, RB_UNKNOWN, "? ?",
	  "inside MULTI" },
	{ "ok: an integer", OK_(2), ":1\r\n", BROKEN, RB_OK, RB_ANSWERED, "? ?",
	  "an integer" },
	{ "ok: another word", OK_(2), "+KO\r\n", BROKEN, RB_OK, RB_ANSWERED,
	  "? ?", "instead of OK" },
	{ "number", INT_(2), ":17\r\n", DONE, RB_OK, RB_ANSWERED, "? ?", "" },
	{ "number: error", INT_(2), "-WRONGTYPE x\r\n", DONE, RB_ERR_SERVER,
	  RB_REJECTED, "? ?", "WRONGTYPE x" },
	{ "number: ok", INT_(2), "+OK\r\n", BROKEN, RB_OK, RB_ANSWERED, "? ?",
	  "instead of an integer" },
	{ "set", SET_(3), "+OK\r\n+OK\r\n+OK\r\n", DONE, RB_OK, RB_ANSWERED,
	  "D D D", "" },
	{ "set: some unmet", SET_(3), "+OK\r\n$-1\r\n+OK\r\n", DONE, RB_OK,
	  RB_PARTLY, "D U D", "" },
	{ "set: a null of RESP3", SET_(2), "_\r\n+OK\r\n", DONE, RB_OK,
	  RB_PARTLY, "U D", "" },
	{ "set: all unmet", SET_(2), "$-1\r\n$-1\r\n", DONE, RB_OK, RB_REJECTED,
	  "U U", "" },
	{ "set: an error", SET_(3), "+OK\r\n-ERR a\r\n-ERR b\r\n", DONE,
	  RB_ERR_PARTIAL, RB_PARTLY, "D !ERR a !ERR b", "ERR a" },
	{ "set: all errors", SET_(2), "-ERR a\r\n-ERR b\r\n", DONE,
	  RB_ERR_PARTIAL, RB_REJECTED, "!ERR a !ERR b", "ERR a" },
	{ "set: an odd one", SET_(3), "+OK\r\n:1\r\n", BROKEN, RB_OK,
	  RB_ANSWERED, "D ? ?", "an integer" },
	{ "any", ANY_(4), "+OK\r\n:1\r\n$-1\r\n*2\r\n$1\r\na\r\n-E\r\n", DONE,
	  RB_OK, RB_ANSWERED, "+OK :1 nil [\"a\", -E]", "" },
	{ "any: an error", ANY_(3), ":1\r\n-ERR a\r\n:2\r\n", DONE,
	  RB_ERR_PARTIAL, RB_PARTLY, ":1 -ERR a :2", "ERR a" },
	{ "any: all errors", ANY_(2), "-A\r\n-B\r\n", DONE, RB_ERR_PARTIAL,
	  RB_REJECTED, "-A -B", "A" },
	{ "any: too long", ANY_(2),
	  "$30\r\n012345678901234567890123456789\r\n"
	  ":2\r\n",
	  DONE, RB_ERR_PARTIAL, RB_PARTLY,
	  "!the value is longer than "
	  "max_value_bytes :2",
	  "longer than max_value_bytes" },
	{ "any: not RESP", ANY_(2), ":1\r\nwhat\r\n", BROKEN, RB_OK,
	  RB_ANSWERED, ":1 ?", "" },
	{ "tx: ok", TX_OK_(2), "+OK\r\n" Q "*1\r\n+OK\r\n", DONE, RB_OK,
	  RB_ANSWERED, "? ?", "" },
	{ "tx: error inside", TX_OK_(2), "+OK\r\n" Q "*1\r\n-ERR a\r\n", DONE,
	  RB_ERR_SERVER, RB_REJECTED, "? ?", "ERR a" },
	{ "tx: aborted", TX_OK_(2), "+OK\r\n-OOM no\r\n-EXECABORT because\r\n",
	  DONE, RB_ERR_SERVER, RB_REJECTED, "? ?",
	  "EXECABORT because (OOM no)" },
	{ "tx: an EXEC that fails by itself", TX_OK_(2),
	  "+OK\r\n" Q "-OOM at last\r\n", DONE, RB_ERR_SERVER, RB_REJECTED,
	  "? ?", "OOM at last" },
	{ "tx: an EXEC of a number", TX_ANY_(1), "+OK\r\n" Q ":1\r\n", BROKEN,
	  RB_OK, RB_ANSWERED, "?", "an array" },
	{ "tx: watch", TX_OK_(2), "+OK\r\n" Q "*-1\r\n", DONE, RB_ERR_SERVER,
	  RB_REJECTED, "? ?", "watched key" },
	{ "tx: watch in RESP3", TX_OK_(2), "+OK\r\n" Q "_\r\n", DONE,
	  RB_ERR_SERVER, RB_REJECTED, "? ?", "watched key" },
	{ "tx: no MULTI", TX_OK_(2), "-ERR nested\r\n" Q "*1\r\n+OK\r\n", DONE,
	  RB_ERR_SERVER, RB_UNKNOWN, "? ?", "ERR nested" },
	{ "tx: MULTI queued", TX_OK_(2), Q, BROKEN, RB_OK, RB_ANSWERED, "? ?",
	  "instead of OK" },
	{ "tx: not queued", TX_OK_(2), "+OK\r\n+OK\r\n", BROKEN, RB_OK,
	  RB_ANSWERED, "? ?", "instead of QUEUED" },
	{ "tx: an EXEC of one too many", TX_OK_(2),
	  "+OK\r\n" Q "*2\r\n+OK\r\n+OK\r\n", BROKEN, RB_OK, RB_ANSWERED, "? ?",
	  "an array" },
	{ "tx: an EXEC of nothing", TX_OK_(2), "+OK\r\n" Q "*0\r\n", BROKEN,
	  RB_OK, RB_ANSWERED, "? ?", "an array" },
	{ "tx: set", TX_SET_(2), "+OK\r\n" Q Q "*2\r\n$-1\r\n+OK\r\n", DONE,
	  RB_OK, RB_PARTLY, "U D", "" },
	{ "tx: set aborted", TX_SET_(2),
	  "+OK\r\n-OOM a\r\n" Q "-EXECABORT b\r\n", DONE, RB_ERR_SERVER,
	  RB_REJECTED, "!OOM a ?", "EXECABORT b (OOM a)" },
	{ "tx: any", TX_ANY_(3),
	  "+OK\r\n" Q Q Q "*3\r\n:1\r\n*1\r\n*1\r\n$1\r\nx\r\n-ERR a\r\n", DONE,
	  RB_ERR_PARTIAL, RB_PARTLY, ":1 [[\"x\"]] -ERR a", "ERR a" },
	{ "tx: any aborted twice", TX_ANY_(3),
	  "+OK\r\n-ERR a\r\n" Q "-ERR b\r\n-EXECABORT c\r\n", DONE,
	  RB_ERR_SERVER, RB_REJECTED, "!ERR a ? !ERR b",
	  "EXECABORT c (ERR a)" },
	{ "tx: any without MULTI", TX_ANY_(2),
	  "-ERR no\r\n:1\r\n*1\r\n:1\r\n-ERR EXEC without MULTI\r\n", DONE,
	  RB_ERR_SERVER, RB_UNKNOWN, "? ?", "ERR no" },
};

/* ----------------------------------------------------------------- a run -- */

typedef struct run {
	rbi_batch batch;
	rb_result *res;
	rbi_reader reader;
	rbi_answer answer;
	rbi_progress progress;
	char *bytes;
	size_t read; /* bytes it took to come to an end */
} run;

/* Lets the bytes arrive step by step. */
static void run_row(run *r, const row *w, size_t step)
{
	size_t len = strlen(w->bytes);
	size_t at = step < len ? step : len;
	rbi_cut cut = { .first = 0, .count = w->count };

	memset(r, 0, sizeof(*r));
	r->bytes = exact_copy(w->bytes, len);
	r->batch.form = w->form;
	r->batch.shape = w->shape;
	r->batch.transaction = w->transaction;
	r->batch.command.data = "NAME";
	r->batch.command.len = 4;
	r->batch.n = w->count;
	cut.batch = &r->batch;
	r->res = rbi_result_new(&rbi_alloc_default, w->count, 1, "node");
	assert_non_null(r->res);
	rbi_reader_init(&r->reader, 25);
	rbi_answer_init(&r->answer, &cut, r->res->entries, r->res);
	rbi_reader_window(&r->reader, r->bytes, r->bytes + at);
	for (;;) {
		r->progress = rbi_answer_read(&r->answer, &r->reader, r->res);
		if (r->progress != RBI_PROGRESS_MORE || at == len)
			break;
		at = at + step < len ? at + step : len;
		rbi_reader_window(&r->reader, r->reader.pos, r->bytes + at);
	}
	r->read = at;
}

static void end_run(run *r)
{
	rb_result_free(r->res);
	free(r->bytes);
}

static void say_entry(char *out, size_t size, const rbi_entry *e)
{
	char *reply;

	switch (rbi_entry_state(e)) {
	case RBI_STATE_DONE:
		snprintf(out, size, "D");
		return;
	case RBI_STATE_UNMET:
		snprintf(out, size, "U");
		return;
	case RBI_STATE_UNSET:
		snprintf(out, size, "?");
		return;
	case RBI_STATE_REPLY:
	case RBI_STATE_REPLY_ERROR:
		reply = rbt_reply_print(e->data);
		snprintf(out, size, "%s", reply);
		free(reply);
		return;
	case RBI_STATE_ERROR:
	case RBI_STATE_DOUBT:
	case RBI_STATE_SHAPE:
	case RBI_STATE_LONG:
		snprintf(out, size, "!%s", (const char *)e->data);
		return;
	case RBI_STATE_VALUE:
	case RBI_STATE_NIL:
		break;
	}
	snprintf(out, size, "a value");
}

static void check_run(const run *r, const row *w)
{
	char entries[512] = "";
	char one[200];
	size_t at = 0;
	size_t i;

	if (r->progress != w->progress)
		fail_msg("%s: progress %d", w->name, (int)r->progress);
	for (i = 0; i < w->count; i++) {
		say_entry(one, sizeof(one), &r->res->entries[i]);
		at += (size_t)snprintf(entries + at, sizeof(entries) - at,
				       "%s%s", i > 0 ? " " : "", one);
	}
	if (strcmp(entries, w->entries) != 0)
		fail_msg("%s: entries are %s", w->name, entries);
	if (strstr(r->answer.message, w->message) == NULL ||
	    (w->message[0] == '\0' && w->progress == DONE &&
	     r->answer.message[0] != '\0'))
		fail_msg("%s: it says %s", w->name, r->answer.message);
	if (w->progress != DONE)
		return;
	if (r->answer.status != w->status || r->answer.outcome != w->outcome)
		fail_msg("%s: it is \"%s\", %s", w->name,
			 rb_status_text(r->answer.status),
			 rb_outcome_text(r->answer.outcome));
	/* Exactly its bytes were taken. */
	if (r->reader.pos != r->bytes + strlen(w->bytes))
		fail_msg("%s: bytes are left", w->name);
}

static void test_every_answer_is_read_whole_and_in_pieces(void **state)
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

static void test_an_answer_is_done_at_its_last_byte_and_not_before(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		run r;

		if (rows[i].progress != DONE)
			continue;
		run_row(&r, &rows[i], 1);
		assert_int_equal(r.read, strlen(rows[i].bytes));
		end_run(&r);
	}
}

static void test_the_number_of_a_chunk_is_kept(void **state)
{
	static const row plain = { "",	  INT_(2),     ":-42\r\n", DONE,
				   RB_OK, RB_ANSWERED, "? ?",	   "" };
	static const row inside = {
		"",    GATHER, RBI_SHAPE_INTEGER,
		true,  2,      "+OK\r\n" Q "*1\r\n:9223372036854775807\r\n",
		DONE,  RB_OK,  RB_ANSWERED,
		"? ?", ""
	};
	run r;

	(void)state;
	run_row(&r, &plain, 3);
	check_run(&r, &plain);
	assert_int_equal(r.answer.number, -42);
	end_run(&r);
	run_row(&r, &inside, 3);
	check_run(&r, &inside);
	assert_true(r.answer.number == INT64_MAX);
	end_run(&r);
}

static void test_errors_of_the_connection_route_the_batch(void **state)
{
	static const struct {
		row row;
		rbi_route route;
	} routes[] = {
		{ { "", OK_(2), "-OOM no\r\n", DONE, RB_ERR_SERVER, RB_REJECTED,
		    "? ?", "OOM" },
		  RBI_ROUTE_SHRINK },
		{ { "", ANY_(2), "-NOAUTH a\r\n:1\r\n", DONE, RB_ERR_PARTIAL,
		    RB_PARTLY, "-NOAUTH a :1", "NOAUTH" },
		  RBI_ROUTE_STOP },
		{ { "", ANY_(2), "-ERR unknown command\r\n:1\r\n", DONE,
		    RB_ERR_PARTIAL, RB_PARTLY, "-ERR unknown command :1",
		    "unknown command" },
		  RBI_ROUTE_ANSWER },
		{ { "", ANY_(2), ":1\r\n-ERR Protocol error: x\r\n", DONE,
		    RB_ERR_PARTIAL, RB_PARTLY, ":1 -ERR Protocol error: x",
		    "Protocol error" },
		  RBI_ROUTE_CLOSE },
		{ { "", TX_ANY_(1), "-ERR nested\r\n:1\r\n*0\r\n", DONE,
		    RB_ERR_SERVER, RB_UNKNOWN, "?", "nested" },
		  RBI_ROUTE_STOP },
		/* What closes the connection goes on doing so. */
		{ { "", TX_ANY_(1),
		    "-ERR Protocol error: x\r\n-ERR y\r\n-ERR z\r\n", DONE,
		    RB_ERR_SERVER, RB_UNKNOWN, "?", "Protocol error" },
		  RBI_ROUTE_CLOSE },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(routes); i++) {
		run r;

		run_row(&r, &routes[i].row, 4);
		check_run(&r, &routes[i].row);
		assert_int_equal(r.answer.route, routes[i].route);
		end_run(&r);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer_is_read_whole_and_in_pieces),
		cmocka_unit_test(
			test_an_answer_is_done_at_its_last_byte_and_not_before),
		cmocka_unit_test(test_the_number_of_a_chunk_is_kept),
		cmocka_unit_test(test_errors_of_the_connection_route_the_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
