/* The signal is at its default action here, which would end the program. */
#include "sigpipe.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static void raise_it(void)
{
	assert_int_equal(pthread_kill(pthread_self(), SIGPIPE), 0);
}

static bool is_in(const sigset_t *set)
{
	return sigismember(set, SIGPIPE) == 1;
}

static bool is_waiting(void)
{
	sigset_t set;

	assert_int_equal(sigpending(&set), 0);
	return is_in(&set);
}

static bool is_blocked(void)
{
	sigset_t set;

	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
	return is_in(&set);
}

static void test_a_signal_in_between_is_taken_away(void **state)
{
	rbi_sigpipe quiet;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	rbi_sigpipe_begin(&quiet);
	assert_int_equal(write(fds[1], "x", 1), -1);
	assert_true(is_waiting());
	errno = EPIPE;
	rbi_sigpipe_end(&quiet);
	assert_int_equal(errno, EPIPE);
	assert_false(is_waiting());
	assert_false(is_blocked());
	close(fds[1]);
}

static void test_a_signal_from_before_stays(void **state)
{
	rbi_sigpipe quiet;
	sigset_t only;
	int number;

	(void)state;
	sigemptyset(&only);
	sigaddset(&only, SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &only, NULL), 0);
	raise_it();
	rbi_sigpipe_begin(&quiet);
	raise_it();
	rbi_sigpipe_end(&quiet);
	assert_true(is_waiting());
	assert_true(is_blocked());
	assert_int_equal(sigwait(&only, &number), 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &only, NULL), 0);
}

static void test_the_turn_of_a_turn_is_fine(void **state)
{
	rbi_sigpipe outer;
	rbi_sigpipe inner;

	(void)state;
	rbi_sigpipe_begin(&outer);
	rbi_sigpipe_begin(&inner);
	raise_it();
	rbi_sigpipe_end(&inner);
	assert_true(is_blocked());
	rbi_sigpipe_end(&outer);
	assert_false(is_blocked());
	assert_false(is_waiting());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_signal_in_between_is_taken_away),
		cmocka_unit_test(test_a_signal_from_before_stays),
		cmocka_unit_test(test_the_turn_of_a_turn_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
