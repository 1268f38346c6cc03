#include "unit.h"
#include "wake.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

/* Whether a wait would end now. */
static bool ends(const rbi_wake *w)
{
	struct pollfd fd = { .fd = rbi_wake_fd(w), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void test_a_request_is_one_until_it_was_heard(void **state)
{
	rbi_wake w;

	(void)state;
	assert_true(rbi_wake_init(&w));
	assert_false(rbi_wake_is_requested(&w));
	assert_false(ends(&w));
	errno = 77;
	rbi_wake_request(&w);
	rbi_wake_request(&w);
	assert_int_equal(errno, 77);
	assert_true(rbi_wake_is_requested(&w));
	assert_true(ends(&w));
	rbi_wake_clear(&w);
	assert_false(rbi_wake_is_requested(&w));
	assert_false(ends(&w));
	rbi_wake_request(&w);
	assert_true(rbi_wake_is_requested(&w));
	assert_true(ends(&w));
	rbi_wake_fini(&w);
}

static void test_draining_leaves_the_request(void **state)
{
	rbi_wake w;

	(void)state;
	assert_true(rbi_wake_init(&w));
	rbi_wake_request(&w);
	rbi_wake_drain(&w);
	assert_false(ends(&w));
	assert_true(rbi_wake_is_requested(&w));
	rbi_wake_fini(&w);
}

static void test_nobody_can_ask_where_there_is_none(void **state)
{
	(void)state;
	assert_false(rbi_wake_is_requested(NULL));
	assert_int_equal(rbi_wake_fd(NULL), -1);
}

static void test_without_descriptors_there_is_none(void **state)
{
	struct rlimit before;
	struct rlimit none;
	bool made;
	rbi_wake w;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	made = rbi_wake_init(&w);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(made);
	assert_int_equal(rbi_wake_fd(&w), -1);
	rbi_wake_fini(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_is_one_until_it_was_heard),
		cmocka_unit_test(test_draining_leaves_the_request),
		cmocka_unit_test(test_nobody_can_ask_where_there_is_none),
		cmocka_unit_test(test_without_descriptors_there_is_none),
	};

	return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
