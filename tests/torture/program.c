#include "program.h"

#include "scenarios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_SCENARIOS = 64, MOST_POINTS = 100000, LONG_SCALE = 2 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* Divides no count of calls that a scenario makes again and again. */
#ifdef SANITIZED
enum { SHORT_STRIDE = 3 };
#else
enum { SHORT_STRIDE = 1 };
#endif

static const scenario_table *const tables[] = {
	&scenarios_reads,   &scenarios_writes,	&scenarios_pipelines,
	&scenarios_streams, &scenarios_clients, &scenarios_limits,
};

static struct program {
	void (*fn)(torture *t);
	rbt_live *live;
	const torture_setting *settings;
	size_t nsettings;
	size_t points;
	size_t least;
	bool skipped;
	torture runs[MOST_SCENARIOS];
	struct CMUnitTest tests[MOST_SCENARIOS + 1];
	size_t n;
} program;

bool program_is_long(void)
{
	const char *value = getenv("RBT_TORTURE");

	return value && value[0] != '\0' && strcmp(value, "0") != 0;
}

static size_t stride(void)
{
	return program_is_long() ? 1 : SHORT_STRIDE;
}

void program_count(torture *t, torture_point *p, size_t *at)
{
	*at = 1;
	while (torture_run(t, p)) {
		*at += t->stride;
		assert_in_range(*at, 1, MOST_POINTS);
	}
	*at = 0;
}

/* ----------------------------------------------------------- around a test -- */

static int begin_test(void **state)
{
	torture *t = *state;

	t->live = program.live;
	return rbt_live_begin((void **)&program.live);
}

static int end_test(void **state)
{
	torture *t = *state;

	if (!t->passed && t->where[0] != '\0')
		print_message("# went wrong at %s\n", t->where);
	torture_clear(t);
	torture_forget(t);
	free(t->text);
	t->text = NULL;
	program.points += t->points;
	return rbt_live_end((void **)&program.live);
}

/* --------------------------------------------------------------- the tests -- */

/* The only connections are those of the points, and one to look at them. */
static void drop_fixture(rbt_live *live)
{
	rb_client_free(live->rb);
	live->rb = NULL;
	redisFree(live->ctx);
	live->ctx = NULL;
}

static void run_setting(torture *t, const torture_setting *setting)
{
	const torture_point none = { .fail_at = 0 };

	t->setting = *setting;
	torture_forget(t);
	/* Twice, so that a scenario that differs by itself is found out. */
	assert_false(torture_run(t, &none));
	assert_false(torture_run(t, &none));
	program.fn(t);
}

static void test_scenario(void **state)
{
	torture *t = *state;

	program.skipped = true;
	drop_fixture(rbt_live_use((void **)&program.live));
	program.skipped = false;
	t->scale = program_is_long() ? LONG_SCALE : 1;
	t->stride = stride();
	for (size_t i = 0; i < program.nsettings; i++)
		run_setting(t, &program.settings[i]);
	print_message("# %zu points\n", t->points);
	t->passed = true;
}

static void test_enough_points_were_reached(void **state)
{
	(void)state;
	if (program.skipped)
		skip();
	print_message("# %zu points in all\n", program.points);
	assert_true(program.points >= program.least / stride());
}

static void add_scenario(const scenario *s)
{
	struct CMUnitTest *test = &program.tests[program.n];
	torture *t = &program.runs[program.n];

	if (program.n == MOST_SCENARIOS)
		abort();
	t->scenario = s;
	test->name = s->name;
	test->test_func = test_scenario;
	test->setup_func = begin_test;
	test->teardown_func = end_test;
	test->initial_state = t;
	program.n++;
}

/* Those where points are many come last. */
static const torture_setting settings[] = { { 6, 3 },
					    { 10, 1 },
					    { 1, 16 },
					    { 7, 0 } };

int program_main(int argc, char **argv, void (*fn)(torture *t),
		 size_t nsettings, size_t least)
{
	static const struct CMUnitTest last =
		cmocka_unit_test(test_enough_points_were_reached);
	size_t n = sizeof(tables) / sizeof(tables[0]);
	int failed;

	program.fn = fn;
	program.settings = settings;
	program.nsettings = program_is_long() ?
				    sizeof(settings) / sizeof(settings[0]) :
				    nsettings;
	program.least = least;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < tables[i]->n; k++)
			add_scenario(&tables[i]->list[k]);
	program.tests[program.n] = last;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	/* A test's own state is not heeded where a group has one. */
	if (rbt_live_open((void **)&program.live) != 0)
		return 1;
	failed = _cmocka_run_group_tests("torture", program.tests,
					 program.n + 1, NULL, NULL);
	(void)rbt_live_close((void **)&program.live);
	return failed;
}
