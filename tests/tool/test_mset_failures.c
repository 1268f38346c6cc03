/*
 * redisbatch mset when not all goes well: no record is lost without a word,
 * and a second run with the file of failures completes the job.
 */
#include "block.h"
#include "tooling.h"

#include <fcntl.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BYTES(text) text, sizeof(text) - 1

/* "130 sent, 120 acknowledged, ..." of the summary: the number before a word;
 * 0 if it is not there. */
static size_t number_before(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	if (at == NULL || at == text)
		return 0;
	at--;
	while (at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return strtoul(at, NULL, 10);
}

/* -------------------------------------------------------------- refusals -- */

static void test_what_the_server_has_no_memory_for_can_be_sent_later(
	void **state)
{
	enum { N = 2500 };
	rbt_live *live = rbt_live_use(state);
	char failed[512];
	char again[512];
	size_t len;
	char *in = rbt_make_tsv("key:", N, &len);
	char *kept;
	rbt_spawned s;

	rbt_path(live, "failed.tsv", failed);
	rbt_path(live, "again.tsv", again);
	rbt_do(live->admin, "CONFIG SET maxmemory 1");
	rbt_tool_want(live, &s, in, len, ARGS("mset", "--failed", failed), 1);
	want_words(s.err, "standard input:1: key:0: ");
	want_words(s.err, "OOM command not allowed");
	want_words(s.err, "nothing more is sent: ");
	want_words(s.err, rbt_server_socket(live->server));
	assert_true(number_before(s.err, " sent,") >= 1000);
	want_words(s.err, " sent, 0 acknowledged, 0 of which nobody");
	want_words(s.err, "2500 failed");
	rbt_spawned_free(&s);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 0);
	kept = rbt_read_file(failed, &len);
	assert_string_equal(kept, in);
	free(kept);

	rbt_do(live->admin, "CONFIG SET maxmemory 0");
	rbt_tool_want(live, &s, NULL, 0,
		      ARGS("mset", "--failed", again, failed), 0);
	rbt_spawned_free(&s);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), N);
	rbt_want_text(live, "key:2499", "value2499");
	free(rbt_read_file(again, &len));
	assert_int_equal(len, 0);
	free(in);
}

static void test_keys_that_the_user_may_not_set_fail_alone(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char uri[512];
	char failed[512];
	char *kept;
	size_t len;
	const char *const argv[] = { rbt_tool(), "mset",
				     "-u",	 uri,
				     "--failed", rbt_path(live, "f", failed),
				     NULL };
	rbt_spawned s;

	rbt_do(live->admin, "ACL SETUSER someone on >secret ~ok:* +@all");
	snprintf(uri, sizeof(uri), "redis://someone:secret@127.0.0.1:%d",
		 rbt_server_port(live->server));
	rbt_spawn_run(&(rbt_spawn){ .argv = argv,
				    .in = BYTES("ok:1\t1\nno:1\ta\\tb\n"
						"ok:2\t2\nno:2\t4\n") },
		      &s);
	assert_int_equal(s.status, 1);
	want_words(s.err, "standard input:2: no:1: ");
	want_words(s.err, "standard input:4: no:2: ");
	want_words(s.err, "NOPERM");
	want_no_words(s.err, "secret");
	rbt_want_text(live, "ok:1", "1");
	rbt_want_text(live, "ok:2", "2");
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), 2);
	kept = rbt_read_file(failed, &len);
	assert_string_equal(kept, "no:1\ta\\tb\nno:2\t4\n");
	free(kept);
	rbt_do(live->admin, "ACL DELUSER someone");
	rbt_spawned_free(&s);
}

static void test_a_server_that_is_not_there_ends_with_3(void **state)
{
	const char *const argv[] = { rbt_tool(), "mset", "-s", "/nowhere/s",
				     NULL };
	rbt_spawned s;

	(void)state;
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = BYTES("a\t1\n") }, &s);
	assert_int_equal(s.status, 3);
	rbt_spawned_free(&s);
}

static void test_a_full_disk_for_the_failures_ends_with_4(void **state)
{
	rbt_live *live = rbt_live_use(state);
	rbt_spawned s;

	rbt_tool_want(live, &s, BYTES("a\t1\nbad\n"),
		      ARGS("mset", "--failed", "/dev/full"), 4);
	want_words(s.err, "/dev/full: No space left on device");
	rbt_want_text(live, "a", "1");
	rbt_spawned_free(&s);
}

/* ------------------------------------------------------------ in mid-run -- */

/* More than a block has, so that some are acknowledged. */
enum { SOME_KEYS = 60000 };

/* What is done to a run once so many keys are set. */
typedef struct meddler {
	rbt_live *live;
	redisContext *ctx;
	/* Where the program has left its pid; NULL: the server is killed. */
	const char *pid_path;
	int signal;
	int fifo;
	atomic_bool over;
	pthread_t thread;
} meddler;

static void meddle(const meddler *m)
{
	size_t len;
	char *text;

	if (m->pid_path == NULL) {
		rbt_live_kill(m->live);
		return;
	}
	text = rbt_read_file(m->pid_path, &len);
	kill((pid_t)strtol(text, NULL, 10), m->signal);
	free(text);
}

static void *watch(void *arg)
{
	meddler *m = arg;

	while (!atomic_load(&m->over)) {
		if (rbt_ask_number(m->ctx, "DBSIZE") < SOME_KEYS)
			continue;
		meddle(m);
		break;
	}
	return NULL;
}

static void begin(meddler *m)
{
	m->ctx = rbt_live_unix(m->live);
	assert_int_equal(pthread_create(&m->thread, NULL, watch, m), 0);
}

static void end(meddler *m)
{
	atomic_store(&m->over, true);
	pthread_join(m->thread, NULL);
	redisFree(m->ctx);
}

static void test_a_server_that_dies_leaves_no_record_unaccounted(void **state)
{
	enum { N = 600000 };
	rbt_live *live = rbt_live_use(state);
	meddler m = { .live = live };
	char failed[512];
	size_t len;
	char *in = rbt_make_tsv("key:", N, &len);
	char *kept;
	size_t nkept;
	rbt_spawned s;

	rbt_path(live, "failed", failed);
	begin(&m);
	rbt_tool_want(live, &s, in, len,
		      ARGS("mset", "--attempts", "1", "--failed", failed), 3);
	end(&m);
	kept = rbt_read_file(failed, &len);
	nkept = rbt_count_lines(kept);
	want_words(s.err, "nothing more is sent");
	assert_true(nkept > 0 && nkept < N);
	assert_int_equal(number_before(s.err, " acknowledged") + nkept, N);
	assert_int_equal(number_before(s.err, " failed;"), nkept);
	/* The last one that failed is the last of the input. */
	want_words(kept, "\nkey:599999\tvalue599999\n");
	free(kept);
	free(in);
	rbt_spawned_free(&s);
}

static void stop_by(rbt_live *live, int number)
{
	enum { N = 600000 };
	char pid[512];
	char path[512];
	char failed[512];
	meddler m = { .live = live,
		      .signal = number,
		      .pid_path = rbt_path(live, "pid", pid) };
	size_t len;
	char *in = rbt_make_tsv("key:", N, &len);
	const char *const argv[] = { "/bin/sh",
				     "-c",
				     "echo $$ >\"$0\"; exec \"$@\"",
				     pid,
				     rbt_tool(),
				     "mset",
				     "-s",
				     rbt_server_socket(live->server),
				     "--failed",
				     rbt_path(live, "failed", failed),
				     rbt_path(live, "in.tsv", path),
				     NULL };
	uint64_t keys;
	uint64_t acknowledged;
	char *kept;
	rbt_spawned s;

	rbt_write_file(path, in, len);
	begin(&m);
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, &s);
	end(&m);
	assert_int_equal(s.status, 128 + number);
	want_words(s.err, "were not tried, and are kept too");
	kept = rbt_read_file(failed, &len);
	keys = (uint64_t)rbt_ask_number(live->admin, "DBSIZE");
	acknowledged = number_before(s.err, " acknowledged");
	/* What is not acknowledged may be set, but then it is listed. */
	assert_true(keys > 0 && keys < N);
	assert_true(acknowledged <= keys);
	assert_int_equal(acknowledged + rbt_count_lines(kept), N);
	assert_true(number_before(s.err, " failed;") <= rbt_count_lines(kept));
	free(kept);
	free(in);
	rbt_spawned_free(&s);
	/* A second run completes the job. */
	rbt_tool_want(live, &s, NULL, 0, ARGS("mset", failed), 0);
	assert_int_equal(rbt_ask_number(live->admin, "DBSIZE"), N);
	rbt_spawned_free(&s);
}

static void test_an_interrupt_ends_a_run_in_order(void **state)
{
	stop_by(rbt_live_use(state), SIGINT);
}

static void test_a_termination_ends_a_run_in_order(void **state)
{
	stop_by(rbt_live_use(state), SIGTERM);
}

/* More than a block, to a program that will wait for the rest of the next. */
static void *feed(void *arg)
{
	const meddler *m = arg;
	size_t len;
	char *in = rbt_make_tsv("key:", SOME_KEYS, &len);

	assert_int_equal(write(m->fifo, in, len), len);
	free(in);
	while (rbt_ask_number(m->ctx, "DBSIZE") < BLOCK_RECORDS)
		;
	meddle(m);
	return NULL;
}

static void test_an_interrupt_ends_the_waiting_for_input(void **state)
{
	rbt_live *live = rbt_live_use(state);
	char pid[512];
	char fifo[512];
	char failed[512];
	meddler m = { .live = live,
		      .signal = SIGINT,
		      .pid_path = rbt_path(live, "pid", pid) };
	const char *const argv[] = { "/bin/sh",
				     "-c",
				     "echo $$ >\"$0\"; exec \"$@\"",
				     pid,
				     rbt_tool(),
				     "mset",
				     "-s",
				     rbt_server_socket(live->server),
				     "--failed",
				     rbt_path(live, "failed", failed),
				     rbt_path(live, "fifo", fifo),
				     NULL };
	char *kept;
	size_t len;
	rbt_spawned s;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	/* As a writer that never ends. */
	m.fifo = open(fifo, O_RDWR);
	assert_true(m.fifo >= 0);
	m.ctx = rbt_live_unix(live);
	assert_int_equal(pthread_create(&m.thread, NULL, feed, &m), 0);
	rbt_spawn_run(&(rbt_spawn){ .argv = argv }, &s);
	end(&m);
	close(m.fifo);
	unlink(fifo);
	assert_int_equal(s.status, 130);
	want_words(s.err, "was read up to byte ");
	want_words(s.err, " 50000 acknowledged");
	kept = rbt_read_file(failed, &len);
	assert_string_equal(strchr(kept, '\t'), strstr(kept, "\tvalue50000"));
	assert_int_equal(number_before(s.err, " failed;"),
			 rbt_count_lines(kept));
	free(kept);
	rbt_spawned_free(&s);
}

static void test_a_deadline_is_that_of_the_whole_run(void **state)
{
	enum { N = 120000 };
	rbt_live *live = rbt_live_use(state);
	char failed[512];
	size_t len;
	char *in = rbt_make_tsv("key:", N, &len);
	char *kept;
	rbt_spawned s;

	rbt_path(live, "failed", failed);
	rbt_live_stop(live);
	rbt_tool_run(live, &s, in, len,
		     ARGS("mset", "--timeout", "300ms", "--attempts", "1",
			  "--failed", failed));
	rbt_live_go_on(live);
	assert_int_equal(s.status, 3);
	rbt_spawned_free(&s);

	/* Each of the three blocks takes no more than 1.25 s by this rate, all
	 * of them 3 s. */
	rbt_tool_want(live, &s, in, len,
		      ARGS("mset", "--rate", "40", "--timeout", "1500ms",
			   "--failed", failed),
		      3);
	kept = rbt_read_file(failed, &len);
	assert_int_equal(number_before(s.err, " acknowledged") +
				 rbt_count_lines(kept),
			 N);
	free(kept);
	free(in);
	rbt_spawned_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(
			test_what_the_server_has_no_memory_for_can_be_sent_later),
		RBT_LIVE(test_keys_that_the_user_may_not_set_fail_alone),
		RBT_LIVE(test_a_server_that_is_not_there_ends_with_3),
		RBT_LIVE(test_a_full_disk_for_the_failures_ends_with_4),
		RBT_LIVE(test_a_server_that_dies_leaves_no_record_unaccounted),
		RBT_LIVE(test_an_interrupt_ends_a_run_in_order),
		RBT_LIVE(test_a_termination_ends_a_run_in_order),
		RBT_LIVE(test_an_interrupt_ends_the_waiting_for_input),
		RBT_LIVE(test_a_deadline_is_that_of_the_whole_run),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
