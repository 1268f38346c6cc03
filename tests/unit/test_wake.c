#include "unit.h"
#include "wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static rbi_wake wake;

/* Whether a wait on it would end at once, or after so long at most. */
static bool wakes(int timeout_ms)
{
	struct pollfd fd = { .fd = rbi_wake_fd(&wake), .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static void check_quiet(void)
{
	assert_false(rbi_wake_is_requested(&wake));
	assert_false(wakes(0));
}

static void check_requested(void)
{
	assert_true(rbi_wake_is_requested(&wake));
	assert_true(wakes(0));
}

static void test_a_request_is_seen_and_ends_a_wait(void **state)
{
	(void)state;
	assert_true(rbi_wake_init(&wake));
	check_quiet();
	rbi_wake_request(&wake);
	check_requested();
	/* And stays until it is heard. */
	check_requested();
	rbi_wake_clear(&wake);
	check_quiet();
	rbi_wake_fini(&wake);
}

static void test_many_requests_are_one_and_never_block(void **state)
{
	size_t i;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	/* More than a pipe has room for. */
	for (i = 0; i < 200000; i++)
		rbi_wake_request(&wake);
	check_requested();
	rbi_wake_clear(&wake);
	check_quiet();
	rbi_wake_fini(&wake);
}

static void test_every_round_of_request_and_clear_is_alike(void **state)
{
	size_t i;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	for (i = 0; i < 1000; i++) {
		rbi_wake_request(&wake);
		check_requested();
		rbi_wake_clear(&wake);
		check_quiet();
	}
	rbi_wake_fini(&wake);
}

static void test_to_clear_what_nobody_asked_for_is_fine(void **state)
{
	(void)state;
	assert_true(rbi_wake_init(&wake));
	rbi_wake_clear(&wake);
	check_quiet();
	rbi_wake_request(&wake);
	check_requested();
	rbi_wake_fini(&wake);
}

static void test_no_wake_asks_for_nothing(void **state)
{
	(void)state;
	assert_false(rbi_wake_is_requested(NULL));
	assert_int_equal(rbi_wake_fd(NULL), -1);
}

static void test_its_ends_are_closed_in_other_programs(void **state)
{
	int i;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	for (i = 0; i < 2; i++) {
		int flags = fcntl(wake.fds[i], F_GETFL);

		assert_true((flags & O_NONBLOCK) != 0);
		assert_int_equal(fcntl(wake.fds[i], F_GETFD), FD_CLOEXEC);
	}
	rbi_wake_fini(&wake);
	assert_int_equal(wake.fds[0], -1);
	/* A second time is harmless. */
	rbi_wake_fini(&wake);
}

static void test_without_descriptors_there_is_none(void **state)
{
	struct rlimit before;
	struct rlimit none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_false(rbi_wake_init(&wake));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(wake.fds[0], -1);
	assert_int_equal(wake.fds[1], -1);
	assert_true(rbi_wake_init(&wake));
	rbi_wake_fini(&wake);
}

/* --------------------------------------------------------------- signals -- */

static void request_by_signal(int number)
{
	(void)number;
	rbi_wake_request(&wake);
	/* A handler must leave errno alone, whatever the pipe said. */
	rbi_wake_request(&wake);
}

static void catch_alarms(struct sigaction *before)
{
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_handler = request_by_signal;
	sigemptyset(&act.sa_mask);
	assert_int_equal(sigaction(SIGALRM, &act, before), 0);
}

static void test_a_signal_handler_may_ask(void **state)
{
	struct sigaction before;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	catch_alarms(&before);
	errno = ENOTTY;
	assert_int_equal(raise(SIGALRM), 0);
	assert_int_equal(errno, ENOTTY);
	check_requested();
	rbi_wake_clear(&wake);
	check_quiet();
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	rbi_wake_fini(&wake);
}

static void test_errno_survives_a_pipe_that_is_full(void **state)
{
	char bytes[4096] = { 0 };

	(void)state;
	assert_true(rbi_wake_init(&wake));
	while (write(wake.fds[1], bytes, sizeof(bytes)) > 0)
		;
	errno = ENOTTY;
	rbi_wake_request(&wake);
	assert_int_equal(errno, ENOTTY);
	check_requested();
	rbi_wake_clear(&wake);
	check_quiet();
	rbi_wake_fini(&wake);
}

/* --------------------------------------------------------------- threads -- */

#define ROUNDS 2000

/* Asks once for each round that the other side has heard. */
static void *ask(void *arg)
{
	const int *turn = arg;
	char byte;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		rbi_wake_request(&wake);
		if (read(*turn, &byte, 1) != 1)
			break;
	}
	return NULL;
}

static void test_no_request_of_another_thread_is_lost(void **state)
{
	pthread_t thread;
	int turn[2];
	int i;

	(void)state;
	assert_int_equal(pipe(turn), 0);
	assert_true(rbi_wake_init(&wake));
	assert_int_equal(pthread_create(&thread, NULL, ask, &turn[0]), 0);
	for (i = 0; i < ROUNDS; i++) {
		assert_true(wakes(30000));
		assert_true(rbi_wake_is_requested(&wake));
		rbi_wake_clear(&wake);
		assert_int_equal(write(turn[1], "", 1), 1);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	check_quiet();
	rbi_wake_fini(&wake);
	assert_int_equal(close(turn[0]), 0);
	assert_int_equal(close(turn[1]), 0);
}

static void *ask_often(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 20000; i++)
		rbi_wake_request(&wake);
	return NULL;
}

/* Two ask while we hear: whatever falls together, the flag and the pipe agree
 * once it is quiet, and a last request is seen by both. */
static void test_flag_and_pipe_agree_whatever_falls_together(void **state)
{
	pthread_t threads[2];
	int i;

	(void)state;
	assert_true(rbi_wake_init(&wake));
	for (i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, ask_often, NULL), 0);
	for (i = 0; i < 5000; i++) {
		if (rbi_wake_is_requested(&wake))
			rbi_wake_clear(&wake);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	rbi_wake_request(&wake);
	assert_true(rbi_wake_is_requested(&wake));
	rbi_wake_clear(&wake);
	assert_false(rbi_wake_is_requested(&wake));
	rbi_wake_request(&wake);
	check_requested();
	rbi_wake_fini(&wake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_is_seen_and_ends_a_wait),
		cmocka_unit_test(test_many_requests_are_one_and_never_block),
		cmocka_unit_test(
			test_every_round_of_request_and_clear_is_alike),
		cmocka_unit_test(test_to_clear_what_nobody_asked_for_is_fine),
		cmocka_unit_test(test_no_wake_asks_for_nothing),
		cmocka_unit_test(test_its_ends_are_closed_in_other_programs),
		cmocka_unit_test(test_without_descriptors_there_is_none),
		cmocka_unit_test(test_a_signal_handler_may_ask),
		cmocka_unit_test(test_errno_survives_a_pipe_that_is_full),
		cmocka_unit_test(test_no_request_of_another_thread_is_lost),
		cmocka_unit_test(
			test_flag_and_pipe_agree_whatever_falls_together),
	};

	return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
