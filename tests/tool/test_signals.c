/*
 * A signal ends the run while the program waits for its input or its output. A
 * child stands for a command: it says that it is about to block, blocks, and
 * tells by its exit status what it was told.
 */
#include "out.h"
#include "signals.h"
#include "text.h"

#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { READ = 0, WRITE = 1, TOLD = 40, WRONG = 41, TOO_LATE_US = 1000000 };

typedef int blocks(void);

/* A child with pipes for its standard input and output, whose other ends are
 * open here and are left alone. */
typedef struct child {
	pid_t pid;
	int in;
	int out;
} child;

static void start(child *c, blocks *run)
{
	int in[2];
	int from[2];

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(from), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		dup2(in[READ], STDIN_FILENO);
		dup2(from[WRITE], STDOUT_FILENO);
		close(in[WRITE]);
		close(from[READ]);
		signals_init();
		/* exit(), so that what was covered is counted. */
		exit(run());
	}
	close(in[READ]);
	close(from[WRITE]);
	c->in = in[WRITE];
	c->out = from[READ];
}

static int finish(child *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	close(c->in);
	close(c->out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Until it has written something, which is when it is about to block. */
static void await_output(const child *c)
{
	struct pollfd p = { .fd = c->out, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 10000), 1);
}

/* Takes what it said, so that the next can be awaited. */
static void take_output(const child *c)
{
	char ready;

	await_output(c);
	assert_int_equal(read(c->out, &ready, 1), 1);
}

static void say_ready(void)
{
	if (write(STDOUT_FILENO, "r", 1) != 1)
		exit(WRONG);
}

static int read_input(void)
{
	text *t = text_open("-", '\n');
	rb_slice record;
	text_got got;
	int error;

	if (t == NULL)
		return WRONG;
	say_ready();
	got = text_next(t, &record);
	error = errno;
	text_close(t);
	return got == TEXT_FAILED && error == EINTR ? TOLD : WRONG;
}

/* A signal that came before the program is about to block. */
static int read_input_late(void)
{
	kill(getpid(), SIGINT);
	return signals_caught() == SIGINT ? read_input() : WRONG;
}

static int write_output(void)
{
	static char some[100000];
	out *o = out_open(NULL);
	int error = 0;

	while (o != NULL && error == 0) {
		out_write(o, some, sizeof(some));
		error = out_error(o);
	}
	out_free(o);
	return error == EINTR ? TOLD : WRONG;
}

static int write_output_late(void)
{
	kill(getpid(), SIGTERM);
	return signals_caught() == SIGTERM ? write_output() : WRONG;
}

/* Goes on all the same, as a lookup of a name does; tells of a first signal. */
static int go_on(void)
{
	struct pollfd nothing = { .fd = -1 };
	bool told = false;

	say_ready();
	for (int i = 0; i < 2000; i++) {
		(void)poll(&nothing, 1, 10);
		if (signals_caught() != 0 && !told)
			say_ready();
		told = signals_caught() != 0;
	}
	return WRONG;
}

static void want_told(blocks *run, int number)
{
	uint64_t sent;
	child c;

	start(&c, run);
	await_output(&c);
	sent = rbt_now_us();
	kill(c.pid, number);
	assert_int_equal(finish(&c), TOLD);
	assert_true(rbt_now_us() - sent < TOO_LATE_US);
}

static void test_a_signal_ends_the_waiting_for_input(void **state)
{
	(void)state;
	want_told(read_input, SIGINT);
	want_told(read_input, SIGTERM);
}

static void test_a_signal_ends_the_waiting_for_a_reader(void **state)
{
	(void)state;
	want_told(write_output, SIGINT);
	want_told(write_output, SIGTERM);
}

static void test_a_signal_before_the_waiting_is_not_lost(void **state)
{
	child c;

	(void)state;
	start(&c, read_input_late);
	assert_int_equal(finish(&c), TOLD);
	start(&c, write_output_late);
	assert_int_equal(finish(&c), TOLD);
}

/* Wherever it comes, also between the look and the blocking call. */
static void test_a_signal_at_any_moment_is_not_lost(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		child c;

		start(&c, i % 2 ? read_input : write_output);
		await_output(&c);
		for (volatile int spin = 0; spin < i * 50; spin++)
			;
		kill(c.pid, SIGTERM);
		assert_int_equal(finish(&c), TOLD);
	}
}

static void test_a_second_signal_ends_at_once(void **state)
{
	static const int pairs[][2] = { { SIGINT, SIGINT },
					{ SIGINT, SIGTERM },
					{ SIGTERM, SIGINT } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		child c;

		start(&c, go_on);
		take_output(&c);
		kill(c.pid, pairs[i][0]);
		take_output(&c);
		kill(c.pid, pairs[i][1]);
		assert_int_equal(finish(&c), 128 + pairs[i][1]);
	}
}

static void make_directory(char *dir)
{
	strcpy(dir, "/tmp/rbt.XXXXXX");
	assert_non_null(mkdtemp(dir));
}

/* What is known when a signal ends the run is still written to files. */
static int complete_file(void)
{
	char dir[32];
	char path[64];
	out *o;
	int error;

	make_directory(dir);
	snprintf(path, sizeof(path), "%s/file", dir);
	o = out_open(path);
	kill(getpid(), SIGINT);
	out_text(o, "known");
	error = out_commit(o);
	out_free(o);
	if (unlink(path) != 0 || rmdir(dir) != 0)
		return WRONG;
	return error == 0 ? TOLD : WRONG;
}

static void test_a_file_is_completed_after_a_signal(void **state)
{
	child c;

	(void)state;
	start(&c, complete_file);
	assert_int_equal(finish(&c), TOLD);
}

/* Opening a named pipe waits for its other end. */
static char fifo[64];

static int open_for_reading(void)
{
	rb_slice record;
	text *t;
	text_got got;
	int error;

	say_ready();
	t = text_open(fifo, '\n');
	if (t == NULL)
		return WRONG;
	got = text_next(t, &record);
	error = errno;
	text_close(t);
	return got == TEXT_FAILED && error == EINTR ? TOLD : WRONG;
}

static int open_for_writing(void)
{
	out *o;
	int error;

	say_ready();
	o = out_open(fifo);
	if (o == NULL)
		return WRONG;
	error = out_commit(o);
	out_free(o);
	return error == EINTR ? TOLD : WRONG;
}

/* The signal is sent until it is heard, since open() itself cannot look at the
 * pipe: here the moment before it is not covered. */
static void want_open_ended(blocks *run)
{
	struct pollfd nothing = { .fd = -1 };
	child c;

	start(&c, run);
	await_output(&c);
	(void)poll(&nothing, 1, 50);
	kill(c.pid, SIGINT);
	assert_int_equal(finish(&c), TOLD);
}

static void test_a_signal_ends_the_waiting_for_a_named_pipe(void **state)
{
	struct stat st;
	char dir[32];

	(void)state;
	make_directory(dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	want_open_ended(open_for_reading);
	want_open_ended(open_for_writing);
	assert_int_equal(stat(fifo, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	unlink(fifo);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_signal_ends_the_waiting_for_input),
		cmocka_unit_test(test_a_signal_ends_the_waiting_for_a_reader),
		cmocka_unit_test(test_a_signal_before_the_waiting_is_not_lost),
		cmocka_unit_test(test_a_signal_at_any_moment_is_not_lost),
		cmocka_unit_test(test_a_second_signal_ends_at_once),
		cmocka_unit_test(test_a_file_is_completed_after_a_signal),
		cmocka_unit_test(
			test_a_signal_ends_the_waiting_for_a_named_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
