/*
 * Which failure is told of which line, in whatever order it becomes known.
 */
#include "asides.h"
#include "ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What was told, a line each: "LINE outcome node words raw". */
typedef struct fixture {
	ledger *l;
	char told[4096];
	size_t len;
} fixture;

static void note(void *arg, const ledger_failure *f)
{
	fixture *t = arg;

	t->len += (size_t)snprintf(t->told + t->len, sizeof(t->told) - t->len,
				   "%zu %s [%s] %s %.*s", f->line,
				   rb_outcome_text(f->outcome), f->node,
				   f->words, (int)f->raw.len, f->raw.data);
}

/* n commands of the lines 10, 20, ... */
static void begin(fixture *t, size_t n)
{
	*t = (fixture){ .len = 0 };
	t->l = ledger_new(note, t);
	assert_non_null(t->l);
	for (size_t i = 0; i < n; i++) {
		char raw[16];
		int len = snprintf(raw, sizeof(raw), "c%zu\n", i);
		const script_item item = { .raw = { raw, (size_t)len },
					   .file = "f",
					   .line = 10 * (i + 1) };

		assert_true(ledger_add(t->l, &item));
	}
}

static void end(fixture *t, const char *want)
{
	ledger_end(t->l, "the end");
	assert_string_equal(t->told, want);
	ledger_free(t->l);
}

static rb_chunk report(size_t first, size_t count, rb_status status,
		       rb_outcome outcome, const char *message)
{
	return (rb_chunk){ .first = first,
			   .count = count,
			   .status = status,
			   .outcome = outcome,
			   .message = message,
			   .node = "h:1",
			   .attempts = 1 };
}

static const rb_slice words = { "ERR x", 5 };

static void test_a_failure_is_told_when_both_sides_have_come(void **state)
{
	const rb_chunk chunk = report(0, 3, RB_ERR_PARTIAL, RB_PARTLY, "ERR x");
	fixture t;

	(void)state;
	begin(&t, 3);
	ledger_answered(t.l, 0);
	ledger_refused(t.l, 1, words, false);
	ledger_answered(t.l, 2);
	assert_int_equal(t.len, 0);
	ledger_report(t.l, &chunk);
	assert_int_not_equal(t.len, 0);
	end(&t, "20 answered [h:1] ERR x c1\n");
}

static void test_a_report_may_come_before_its_replies(void **state)
{
	const rb_chunk chunk = report(0, 3, RB_ERR_IO, RB_UNKNOWN, "lost");
	fixture t;

	(void)state;
	begin(&t, 3);
	ledger_report(t.l, &chunk);
	ledger_answered(t.l, 0);
	ledger_refused(t.l, 1, words, false);
	ledger_unanswered(t.l, 2, RB_ERR_IO);
	end(&t, "20 answered [h:1] ERR x c1\n30 unknown [h:1] lost c2\n");
}

static void test_numbers_of_a_report_need_not_be_in_a_row(void **state)
{
	static const size_t entries[] = { 3, 0 };
	rb_chunk chunk = report(3, 2, RB_ERR_IO, RB_NOT_SENT, "lost");
	fixture t;

	(void)state;
	chunk.entries = entries;
	begin(&t, 4);
	for (size_t i = 0; i < 4; i++) {
		if (i == 0 || i == 3)
			ledger_unanswered(t.l, i, RB_ERR_IO);
		else
			ledger_answered(t.l, i);
	}
	ledger_report(t.l, &chunk);
	end(&t, "40 not sent [h:1] lost c3\n10 not sent [h:1] lost c0\n");
}

static void test_without_a_report_only_what_was_skipped_is_sure(void **state)
{
	fixture t;

	(void)state;
	begin(&t, 4);
	ledger_unanswered(t.l, 0, RB_ERR_CANCELLED);
	ledger_unanswered(t.l, 1, RB_ERR_SKIPPED);
	ledger_refused(t.l, 2, words, false);
	end(&t, "10 unknown [] the end c0\n20 not sent [] the end c1\n"
		"30 answered [] ERR x c2\n40 unknown [] the end c3\n");
}

static void test_a_known_failure_waits_for_nothing(void **state)
{
	fixture t;

	(void)state;
	begin(&t, 1);
	ledger_refused(t.l, 0, words, true);
	assert_int_not_equal(t.len, 0);
	end(&t, "10 answered [] ERR x c0\n");
}

/* Answered in part, and nobody says which. */
static void test_a_partial_report_leaves_the_unanswered_unknown(void **state)
{
	const rb_chunk chunk =
		report(0, 1, RB_ERR_PARTIAL, RB_PARTLY, "some words");
	fixture t;

	(void)state;
	begin(&t, 1);
	ledger_unanswered(t.l, 0, RB_ERR_PROTOCOL);
	ledger_report(t.l, &chunk);
	end(&t, "10 unknown [h:1] some words c0\n");
}

static void test_places_are_kept_through_many_rounds(void **state)
{
	enum { MANY = 10000, WINDOW = 3000 };
	fixture t;

	(void)state;
	begin(&t, 0);
	for (size_t i = 0; i < MANY + WINDOW; i++) {
		const script_item item = { .raw = { "x", 1 },
					   .file = "f",
					   .line = i + 1 };
		const char *file;
		size_t line;

		if (i < MANY)
			assert_true(ledger_add(t.l, &item));
		if (i < WINDOW)
			continue;
		ledger_place(t.l, i - WINDOW, &file, &line);
		assert_int_equal(line, i - WINDOW + 1);
		assert_string_equal(file, "f");
		ledger_answered(t.l, i - WINDOW);
	}
	end(&t, "");
}

/* ------------------------------------------------------------- asides -- */

typedef struct seen {
	size_t lines[2 * ASIDES_KEPT];
	size_t n;
} seen;

static void see(void *arg, const aside *bad)
{
	seen *s = arg;

	s->lines[s->n++] = bad->line;
}

static void test_asides_come_before_their_command(void **state)
{
	static seen s;
	static asides a = { .put = see, .arg = &s };

	(void)state;
	s.n = 0;
	asides_add(&a, &(aside){ .before = 0, .line = 1 });
	asides_add(&a, &(aside){ .before = 2, .line = 4 });
	asides_add(&a, &(aside){ .before = 2, .line = 5 });
	asides_pass(&a, 0);
	assert_int_equal(s.n, 1);
	asides_pass(&a, 1);
	assert_int_equal(s.n, 1);
	asides_pass(&a, 2);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.lines[2], 5);
}

static void test_too_many_asides_come_early_but_come(void **state)
{
	static seen s;
	static asides a = { .put = see, .arg = &s };
	enum { ADDED = ASIDES_KEPT + 3 };

	(void)state;
	s.n = 0;
	for (size_t i = 0; i < ADDED; i++)
		asides_add(&a, &(aside){ .before = 9, .line = i });
	assert_int_equal(s.n, 3);
	asides_pass(&a, SIZE_MAX);
	assert_int_equal(s.n, ADDED);
	for (size_t i = 0; i < ADDED; i++)
		assert_int_equal(s.lines[i], i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_failure_is_told_when_both_sides_have_come),
		cmocka_unit_test(test_a_report_may_come_before_its_replies),
		cmocka_unit_test(test_numbers_of_a_report_need_not_be_in_a_row),
		cmocka_unit_test(
			test_without_a_report_only_what_was_skipped_is_sure),
		cmocka_unit_test(test_a_known_failure_waits_for_nothing),
		cmocka_unit_test(
			test_a_partial_report_leaves_the_unanswered_unknown),
		cmocka_unit_test(test_places_are_kept_through_many_rounds),
		cmocka_unit_test(test_asides_come_before_their_command),
		cmocka_unit_test(test_too_many_asides_come_early_but_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
