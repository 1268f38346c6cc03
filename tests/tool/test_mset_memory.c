/*
 * redisbatch mset takes no more memory for a longer input, nor when all of it
 * fails. Of the children of this program none but the tool has ended when it is
 * looked at what they took.
 */
#include "sanitized.h"
#include "tooling.h"

#include <sys/resource.h>

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum { MOST_KB = 64 * 1024, N = 400000, VALUE = 200 };

static void write_records(const char *path)
{
	FILE *f = fopen(path, "wb");
	char value[VALUE + 1];

	assert_non_null(f);
	memset(value, 'x', VALUE);
	value[VALUE] = '\0';
	for (int i = 0; i < N; i++)
		fprintf(f, "key:%d\t%s\\n\n", i, value);
	assert_int_equal(fclose(f), 0);
}

static void want_flat(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	/* What a sanitizer keeps of freed memory is not ours. */
	if (!RBT_SANITIZED && usage.ru_maxrss > MOST_KB)
		fail_msg("it took %ld KB", usage.ru_maxrss);
}

static void test_a_long_input_takes_little_memory(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char path[512];
	char failed[512];
	rbt_spawned s;

	write_records(rbt_path(live, "in.tsv", path));
	rbt_tool_want(live, &s, NULL, 0, ARGS("mset", path), 0);
	rbt_spawned_free(&s);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), N);
	want_flat();
	rbt_do(live->admin, "CONFIG SET maxmemory 1");
	rbt_tool_want(
		live, &s, NULL, 0,
		ARGS("mset", "--failed", rbt_path(live, "f", failed), path), 1);
	rbt_do(live->admin, "CONFIG SET maxmemory 0");
	rbt_spawned_free(&s);
	want_flat();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_a_long_input_takes_little_memory),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
