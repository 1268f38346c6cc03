#include "alloc.h"
#include "answer.h"
#include "unit.h"

#include <stdio.h>

typedef struct fixture {
	rb_result *res;
	rbi_batch batch;
	rbi_reader reader;
	rbi_answer answer;
	char *bytes;
} fixture;

static void begin(fixture *f, size_t count, size_t max_value)
{
	rbi_cut cut = { .first = 0 };

	memset(f, 0, sizeof(*f));
	f->res = rbi_result_new(&rbi_alloc_default, count, 1, "node");
	assert_non_null(f->res);
	f->batch.command.data = "MGET";
	f->batch.command.len = 4;
	f->batch.n = count;
	rbi_reader_init(&f->reader, max_value);
	cut.batch = &f->batch;
	cut.count = count;
	rbi_answer_init(&f->answer, &cut, f->res->entries, f->res);
}

static void end(fixture *f)
{
	rb_result_free(f->res);
	free(f->bytes);
}

/* The same bytes and more of them, where the first ones were. */
static rbi_progress read_more(fixture *f, size_t n)
{
	char *pos = f->reader.pos != NULL ? f->reader.pos : f->bytes;

	rbi_reader_window(&f->reader, pos, f->bytes + n);
	return rbi_answer_read(&f->answer, &f->reader, f->res);
}

/* Reads it whole; f is begun for count entries. */
static rbi_progress read_whole(fixture *f, size_t count, const char *bytes,
			       size_t len)
{
	begin(f, count, 1000);
	f->bytes = exact_copy(bytes, len);
	return read_more(f, len);
}

/* "a" for the value a, "-" for nil, "!words" for an entry that failed. */
static void tell_entries(const fixture *f, char *out, size_t size)
{
	size_t at = 0;
	size_t i;

	out[0] = '\0';
	for (i = 0; i < f->answer.count; i++) {
		const rbi_entry *e = &f->res->entries[i];
		rbi_state state = rbi_entry_state(e);
		const char *words = e->data != NULL ? e->data : "";

		if (state == RBI_STATE_VALUE)
			assert_int_equal(strlen(words), e->word >> 8);
		at += (size_t)snprintf(
			out + at, size - at, "%s%s%s", i > 0 ? " " : "",
			state == RBI_STATE_UNSET ? "?" :
			state == RBI_STATE_NIL	 ? "-" :
			state == RBI_STATE_VALUE ? "" :
						   "!",
			state == RBI_STATE_UNSET || state == RBI_STATE_NIL ?
				"" :
				words);
	}
}

static void check_entries(const fixture *f, const char *want)
{
	char got[512];

	tell_entries(f, got, sizeof(got));
	assert_string_equal(got, want);
}

/* ------------------------------------------------------------- elements -- */

typedef struct answer_case {
	const char *name;
	const char *bytes;
	size_t len;
	size_t count;
	const char *want;
	size_t failed;
} answer_case;

static void check_case(const answer_case *c, size_t cut)
{
	char got[512];
	fixture f;

	begin(&f, c->count, 8);
	f.bytes = exact_copy(c->bytes, c->len);
	if (cut < c->len)
		assert_int_equal(read_more(&f, cut), RBI_PROGRESS_MORE);
	assert_int_equal(read_more(&f, c->len), RBI_PROGRESS_DONE);
	tell_entries(&f, got, sizeof(got));
	if (strcmp(got, c->want) != 0)
		fail_msg("%s, cut at %zu: %s", c->name, cut, got);
	assert_int_equal(f.answer.failed, c->failed);
	assert_int_equal(f.answer.seen, c->count);
	assert_status(f.answer.status, c->failed > 0 ? RB_ERR_PARTIAL : RB_OK);
	assert_outcome(f.answer.outcome, RB_ANSWERED);
	assert_int_equal(f.answer.route, RBI_ROUTE_ANSWER);
	assert_ptr_equal(f.reader.pos, f.reader.end);
	end(&f);
}

static void test_elements_become_entries_however_they_arrive(void **state)
{
	static const answer_case cases[] = {
		{ "one", LIT("*1\r\n$1\r\na\r\n"), 1, "a", 0 },
		{ "values and nil",
		  LIT("*4\r\n$1\r\na\r\n$-1\r\n$0\r\n\r\n$2\r\nbc\r\n"), 4,
		  "a -  bc", 0 },
		{ "all nil", LIT("*3\r\n$-1\r\n$-1\r\n$-1\r\n"), 3, "- - -",
		  0 },
		{ "nulls", LIT("*2\r\n_\r\n$1\r\na\r\n"), 2, "- a", 0 },
		{ "an error inside",
		  LIT("*3\r\n$1\r\nA\r\n-upstream failure\r\n$-1\r\n"), 3,
		  "A !upstream failure -", 1 },
		{ "errors all over", LIT("*2\r\n-ERR a\r\n-ERR b\r\n"), 2,
		  "!ERR a !ERR b", 2 },
		{ "a blob error", LIT("*1\r\n!3\r\nbad\r\n"), 1, "!bad", 1 },
		{ "too long",
		  LIT("*3\r\n$1\r\na\r\n$9\r\n123456789\r\n$1\r\nb\r\n"), 3,
		  "a !the value is longer than max_value_bytes b", 1 },
		{ "an integer", LIT("*2\r\n:5\r\n$1\r\na\r\n"), 2,
		  "!answered by an integer instead of a value a", 1 },
		{ "a simple string", LIT("*2\r\n$1\r\na\r\n+OK\r\n"), 2,
		  "a !answered by a simple string instead of a value", 1 },
		{ "an array inside",
		  LIT("*3\r\n$1\r\na\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n$1\r\nb"
		      "\r\n"),
		  3, "a !answered by an array instead of a value b", 1 },
		{ "an empty array inside", LIT("*2\r\n*0\r\n$1\r\na\r\n"), 2,
		  "!answered by an array instead of a value a", 1 },
		{ "a nil array inside", LIT("*2\r\n*-1\r\n$1\r\na\r\n"), 2,
		  "!answered by an array instead of a value a", 1 },
		{ "a map inside",
		  LIT("*2\r\n%1\r\n$1\r\nk\r\n$1\r\nv\r\n$1\r\na\r\n"), 2,
		  "!answered by something other than a value a", 1 },
		{ "a boolean", LIT("*1\r\n#t\r\n"), 1,
		  "!answered by something other than a value", 1 },
		{ "attributes",
		  LIT("|1\r\n+k\r\n+v\r\n*2\r\n|1\r\n+ttl\r\n:3\r\n$1\r\nA"
		      "\r\n$1\r\nB\r\n"),
		  2, "A B", 0 },
		{ "a push before", LIT(">1\r\n+x\r\n*1\r\n$1\r\na\r\n"), 1, "a",
		  0 },
	};
	size_t i;
	size_t cut;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		for (cut = 0; cut <= cases[i].len; cut++)
			check_case(&cases[i], cut);
	}
}

static void test_the_chunk_is_told_the_first_reason(void **state)
{
	fixture f;

	(void)state;
	read_whole(&f, 3, LIT("*3\r\n$1\r\na\r\n-ERR first\r\n:1\r\n"));
	assert_string_equal(f.answer.message, "ERR first");
	end(&f);
}

static void test_values_stay_where_they_arrived(void **state)
{
	fixture f;

	(void)state;
	read_whole(&f, 2, LIT("*2\r\n$1\r\na\r\n$3\r\nb\0c\r\n"));
	assert_ptr_equal(f.res->entries[0].data, f.bytes + 8);
	assert_ptr_equal(f.res->entries[1].data, f.bytes + 15);
	assert_memory_equal(f.res->entries[1].data, "b\0c", 4);
	end(&f);
}

static void test_keep_is_behind_what_is_pointed_to(void **state)
{
	fixture f;

	(void)state;
	read_whole(&f, 2, LIT("*2\r\n$1\r\na\r\n$-1\r\n"));
	assert_ptr_equal(f.answer.keep, f.bytes + 11);
	end(&f);
	read_whole(&f, 2, LIT("*2\r\n$-1\r\n$-1\r\n"));
	assert_null(f.answer.keep);
	end(&f);
	read_whole(&f, 1, LIT("*1\r\n-ERR a\r\n"));
	assert_ptr_equal(f.answer.keep, f.reader.end);
	end(&f);
}

static void test_what_arrived_before_the_cut_is_kept(void **state)
{
	fixture f;

	(void)state;
	assert_int_equal(
		read_whole(&f, 3, LIT("*3\r\n$1\r\na\r\n$-1\r\n$5\r\nab")),
		RBI_PROGRESS_MORE);
	check_entries(&f, "a - ?");
	assert_int_equal(f.answer.seen, 2);
	end(&f);
}

static void test_what_follows_the_answer_is_left_alone(void **state)
{
	static const char bytes[] = "*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n";
	fixture f;

	(void)state;
	assert_int_equal(read_whole(&f, 1, bytes, sizeof(bytes) - 1),
			 RBI_PROGRESS_DONE);
	assert_int_equal(f.reader.end - f.reader.pos, 11);
	assert_memory_equal(f.reader.pos, "*1\r\n$1\r\nb\r\n", 11);
	end(&f);
}

/* ----------------------------------------------------------------- heads -- */

static void test_an_error_refuses_the_whole_chunk(void **state)
{
	static const struct {
		const char *bytes;
		const char *message;
		rbi_route route;
	} cases[] = {
		{ "-WRONGTYPE Operation\r\n", "WRONGTYPE Operation",
		  RBI_ROUTE_FAIL },
		{ "-NOAUTH Authentication required.\r\n",
		  "NOAUTH Authentication required.", RBI_ROUTE_STOP },
		{ "-ERR Protocol error: invalid bulk length\r\n",
		  "ERR Protocol error: invalid bulk length", RBI_ROUTE_CLOSE },
		{ "!8\r\nERR a\r\nb\r\n", "ERR a\r\nb", RBI_ROUTE_FAIL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		fixture f;

		assert_int_equal(read_whole(&f, 2, cases[i].bytes,
					    strlen(cases[i].bytes)),
				 RBI_PROGRESS_DONE);
		assert_status(f.answer.status, RB_ERR_SERVER);
		assert_outcome(f.answer.outcome, RB_REJECTED);
		assert_string_equal(f.answer.message, cases[i].message);
		assert_int_equal(f.answer.route, cases[i].route);
		check_entries(&f, "? ?");
		end(&f);
	}
}

static void test_an_error_without_text_has_words_of_ours(void **state)
{
	fixture f;

	(void)state;
	assert_int_equal(read_whole(&f, 1, LIT("-\r\n")), RBI_PROGRESS_DONE);
	assert_status(f.answer.status, RB_ERR_SERVER);
	assert_outcome(f.answer.outcome, RB_REJECTED);
	assert_true(strlen(f.answer.message) > 0);
	end(&f);
	assert_int_equal(read_whole(&f, 2, LIT("*2\r\n-\r\n$1\r\na\r\n")),
			 RBI_PROGRESS_DONE);
	assert_status(f.answer.status, RB_ERR_PARTIAL);
	assert_true(strlen(f.answer.message) > 0);
	assert_status(rb_result_status(f.res, 0), RB_ERR_SERVER);
	assert_true(strlen(rb_result_message(f.res, 0)) > 0);
	end(&f);
}

static void test_a_very_long_error_is_kept_whole(void **state)
{
	size_t len = 4000;
	char *bytes = malloc(len + 3);
	fixture f;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'E', len + 1);
	bytes[0] = '-';
	memcpy(bytes + len + 1, "\r\n", 2);
	assert_int_equal(read_whole(&f, 1, bytes, len + 3), RBI_PROGRESS_DONE);
	assert_status(f.answer.status, RB_ERR_SERVER);
	assert_int_equal(strlen(f.answer.message), len);
	free(bytes);
	end(&f);
}

static void test_an_error_past_the_value_bound_is_still_an_error(void **state)
{
	static const char bytes[] = "!14\r\nERR some words\r\n";
	fixture f;

	(void)state;
	begin(&f, 1, 4);
	f.bytes = exact_copy(bytes, sizeof(bytes) - 1);
	assert_int_equal(read_more(&f, sizeof(bytes) - 1), RBI_PROGRESS_DONE);
	assert_status(f.answer.status, RB_ERR_SERVER);
	end(&f);
}

static void test_a_command_that_was_queued_was_not_run(void **state)
{
	fixture f;

	(void)state;
	assert_int_equal(read_whole(&f, 2, LIT("+QUEUED\r\n")),
			 RBI_PROGRESS_DONE);
	assert_status(f.answer.status, RB_ERR_PROTOCOL);
	assert_outcome(f.answer.outcome, RB_UNKNOWN);
	assert_int_equal(f.answer.route, RBI_ROUTE_STOP);
	assert_non_null(strstr(f.answer.message, "MULTI"));
	check_entries(&f, "? ?");
	end(&f);
}

static void test_any_other_shape_breaks_the_connection(void **state)
{
	static const struct {
		const char *bytes;
		const char *message;
	} cases[] = {
		{ "$-1\r\n", "MGET was answered by nil instead of an array" },
		{ "*-1\r\n", "MGET was answered by nil instead of an array" },
		{ "_\r\n", "MGET was answered by nil instead of an array" },
		{ "+OK\r\n", "MGET was answered by a simple string instead of "
			     "an array" },
		{ "+QUEUEDX\r\n", "MGET was answered by a simple string "
				  "instead of an array" },
		{ ":1\r\n",
		  "MGET was answered by an integer instead of an array" },
		{ "$3\r\nabc\r\n",
		  "MGET was answered by a string instead of an array" },
		{ "%1\r\n:1\r\n:2\r\n",
		  "MGET was answered by a map instead of an array" },
		{ "~2\r\n:1\r\n:2\r\n",
		  "MGET was answered by a set instead of an array" },
		{ "*0\r\n", "MGET of 2 was answered by 0 elements" },
		{ "*1\r\n$1\r\na\r\n", "MGET of 2 was answered by 1 elements" },
		{ "*3\r\n", "MGET of 2 was answered by 3 elements" },
		{ "*1073741824\r\n",
		  "MGET of 2 was answered by 1073741824 elements" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		fixture f;

		assert_int_equal(read_whole(&f, 2, cases[i].bytes,
					    strlen(cases[i].bytes)),
				 RBI_PROGRESS_BROKEN);
		assert_string_equal(f.answer.message, cases[i].message);
		check_entries(&f, "? ?");
		end(&f);
	}
}

static void test_what_is_not_resp_breaks_the_connection(void **state)
{
	static const char *const broken[] = {
		"*2147483649\r\n",    "*9223372036854775807\r\n",
		"HTTP/1.1 400\r\n",   "*2\r\n$1\r\na\r\n$x\r\n",
		"*2\r\n$1\r\nab\r\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(broken); i++) {
		fixture f;

		assert_int_equal(
			read_whole(&f, 2, broken[i], strlen(broken[i])),
			RBI_PROGRESS_BROKEN);
		assert_true(strlen(f.answer.message) > 0);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_elements_become_entries_however_they_arrive),
		cmocka_unit_test(test_the_chunk_is_told_the_first_reason),
		cmocka_unit_test(test_values_stay_where_they_arrived),
		cmocka_unit_test(test_keep_is_behind_what_is_pointed_to),
		cmocka_unit_test(test_what_arrived_before_the_cut_is_kept),
		cmocka_unit_test(test_what_follows_the_answer_is_left_alone),
		cmocka_unit_test(test_an_error_refuses_the_whole_chunk),
		cmocka_unit_test(test_an_error_without_text_has_words_of_ours),
		cmocka_unit_test(test_a_very_long_error_is_kept_whole),
		cmocka_unit_test(
			test_an_error_past_the_value_bound_is_still_an_error),
		cmocka_unit_test(test_a_command_that_was_queued_was_not_run),
		cmocka_unit_test(test_any_other_shape_breaks_the_connection),
		cmocka_unit_test(test_what_is_not_resp_breaks_the_connection),
	};

	return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
