#include "alloc.h"
#include "count.h"
#include "dial.h"
#include "patience.h"
#include "peer.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define LONG_MS 60000

typedef struct dialled {
	redisContext *ctx;
	rb_status status;
	char why[512];
} dialled;

static dialled dial_by(const char *text, const rb_allocator *a,
		       const rbi_clock *clock, uint64_t deadline_us)
{
	const char *problem = NULL;
	dialled d;
	rbi_uri uri;

	memset(&d, 0, sizeof(d));
	assert_status(rbi_uri_parse(&uri, text, &rbi_alloc_default, &problem),
		      RB_OK);
	d.status = rbi_dial(&d.ctx, &uri, a, clock, deadline_us, NULL, d.why,
			    sizeof(d.why));
	if (d.status != RB_OK)
		assert_null(d.ctx);
	rbi_uri_fini(&uri, &rbi_alloc_default);
	return d;
}

static dialled dial(const char *text)
{
	uint64_t now = rbi_clock_now(&rbi_clock_monotonic);

	return dial_by(text, &rbi_alloc_default, &rbi_clock_monotonic,
		       rbi_clock_after(now, LONG_MS));
}

/* Credentials and database around the address of a peer. */
static const char *uri_of(const rbt_peer *peer, const char *before,
			  const char *behind)
{
	static char text[1024];

	snprintf(text, sizeof(text), "redis://%s127.0.0.1:%d%s", before,
		 rbt_peer_port(peer), behind);
	return text;
}

static rbt_peer *play(const rbt_step *script)
{
	const rbt_peer_options o = { .script = script, .record = 4096 };
	rbt_peer *peer = rbt_peer_start(&o);

	assert_non_null(peer);
	return peer;
}

static void check_over(rbt_peer *peer)
{
	char problem[160];

	rbt_peer_problem(peer, problem, sizeof(problem));
	assert_string_equal(problem, "");
	assert_true(rbt_peer_await_over(peer, LONG_MS));
}

/* ---------------------------------------------------------------- fine -- */

static void test_without_credentials_nothing_is_sent(void **state)
{
	static const rbt_step script[] = { RBT_ACCEPT, RBT_END };
	rbt_peer *peer = play(script);
	dialled d = dial(uri_of(peer, "", ""));

	(void)state;
	assert_status(d.status, RB_OK);
	assert_int_equal(d.ctx->err, 0);
	assert_true((d.ctx->flags & REDIS_CONNECTED) != 0);
	check_over(peer);
	assert_int_equal(rbt_peer_bytes(peer), 0);
	redisFree(d.ctx);
	rbt_peer_stop(peer);
}

static void test_a_unix_socket_is_dialled(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					   RBT_END };
	const rbt_peer_options o = { .family = RBT_UNIX, .script = script };
	rbt_peer *peer = rbt_peer_start(&o);
	char text[200];
	dialled d;

	(void)state;
	assert_non_null(peer);
	snprintf(text, sizeof(text), "unix://%s?db=1", rbt_peer_path(peer));
	d = dial(text);
	assert_string_equal(d.why, "");
	assert_status(d.status, RB_OK);
	redisFree(d.ctx);
	rbt_peer_stop(peer);
}

static void check_sent(const char *before, const char *behind,
		       const rbt_step *script, const char *want)
{
	rbt_peer *peer = play(script);
	dialled d = dial(uri_of(peer, before, behind));
	char sent[4096];
	size_t n;

	assert_string_equal(d.why, "");
	assert_status(d.status, RB_OK);
	check_over(peer);
	n = rbt_peer_recorded(peer, sent, sizeof(sent));
	assert_int_equal(n, strlen(want));
	assert_memory_equal(sent, want, n);
	redisFree(d.ctx);
	rbt_peer_stop(peer);
}

static void test_auth_and_select_are_sent_one_by_one(void **state)
{
	static const rbt_step once[] = { RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					 RBT_END };
	static const rbt_step twice[] = { RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					  RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					  RBT_END };

	(void)state;
	check_sent(":pw@", "", once, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n");
	check_sent("user:p%20w@", "", once,
		   "*3\r\n$4\r\nAUTH\r\n$4\r\nuser\r\n$3\r\np w\r\n");
	check_sent("", "/12", once, "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n");
	check_sent(":pw@", "/3", twice,
		   "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"
		   "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n");
}

static void test_answers_may_come_byte_by_byte(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1),
					   RBT_TRICKLE("+OK\r\n", 0),
					   RBT_EXPECT(1),
					   RBT_TRICKLE("+OK\r\n", 0), RBT_END };

	(void)state;
	check_sent(":pw@", "/3", script,
		   "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"
		   "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n");
}

static void test_the_node_is_named(void **state)
{
	static const struct {
		const char *uri;
		const char *want;
	} cases[] = {
		{ "redis://u:secret@example.net/3", "example.net:6379" },
		{ "redis://[::1]:7000", "[::1]:7000" },
		{ "unix://:secret@/run/x.sock?db=1", "/run/x.sock" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		const char *problem = NULL;
		char node[64];
		rbi_uri uri;

		assert_status(rbi_uri_parse(&uri, cases[i].uri,
					    &rbi_alloc_default, &problem),
			      RB_OK);
		rbi_dial_node(&uri, node, sizeof(node));
		assert_string_equal(node, cases[i].want);
		rbi_uri_fini(&uri, &rbi_alloc_default);
	}
}

/* -------------------------------------------------------------- refused -- */

static void check_refused(const rbt_step *script, const char *before,
			  const char *behind, const char *words)
{
	rbt_peer *peer = play(script);
	dialled d = dial(uri_of(peer, before, behind));
	char node[32];

	assert_status(d.status, RB_ERR_CONNECT);
	snprintf(node, sizeof(node), "127.0.0.1:%d: ", rbt_peer_port(peer));
	assert_memory_equal(d.why, node, strlen(node));
	if (strstr(d.why, words) == NULL)
		fail_msg("\"%s\" is not in: %s", words, d.why);
	assert_null(strstr(d.why, "tenfold"));
	rbt_peer_stop(peer);
}

#define AUTH_ANSWERED(text)                            \
	{                                              \
		RBT_EXPECT(1), RBT_SEND(text), RBT_END \
	}

static void test_bad_answers_to_auth_are_told(void **state)
{
	static const struct {
		rbt_step script[3];
		const char *words;
	} cases[] = {
		{ AUTH_ANSWERED(
			  "-WRONGPASS invalid username-password pair\r\n"),
		  "AUTH failed: WRONGPASS invalid" },
		{ AUTH_ANSWERED("-ERR Client sent AUTH, but no password is set"
				"\r\n"),
		  "no password is set" },
		{ AUTH_ANSWERED("-\r\n"), "AUTH failed" },
		{ AUTH_ANSWERED("$2\r\nOK\r\n"), "unexpected" },
		{ AUTH_ANSWERED("+QUEUED\r\n"), "unexpected" },
		{ AUTH_ANSWERED("+OK\r\n+OK\r\n"), "unexpected" },
		{ AUTH_ANSWERED(":1\r\n"), "unexpected" },
		{ AUTH_ANSWERED("HTTP/1.1 400 Bad Request\r\n"),
		  "AUTH failed" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_refused(cases[i].script, ":tenfold@", "", cases[i].words);
}

static void test_a_refused_select_is_told(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_SEND("+OK\r\n"), RBT_EXPECT(1),
		RBT_SEND("-ERR DB index is out of range\r\n"), RBT_END
	};

	(void)state;
	check_refused(script, ":tenfold@", "/99",
		      "SELECT failed: ERR DB index is out of range");
}

static void test_an_answer_without_end_is_told(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1), RBT_REPEAT("-EEEEEEEEEEEEEEEEEEE", 100), RBT_END
	};

	(void)state;
	check_refused(script, ":tenfold@", "", "too long");
}

static void test_a_server_that_hangs_up_is_told(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_CLOSE, RBT_END };

	(void)state;
	check_refused(script, ":tenfold@", "", "closed the connection");
}

static void test_a_server_that_resets_is_told(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_RESET, RBT_END };

	(void)state;
	check_refused(script, ":tenfold@", "", strerror(ECONNRESET));
}

static void test_last_words_are_told_and_no_signal_comes(void **state)
{
	static const rbt_step script[] = {
		RBT_SEND("-ERR max number of clients reached\r\n"), RBT_SHUT,
		RBT_END
	};

	(void)state;
	assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
	check_refused(script, ":tenfold@", "", "max number of clients reached");
}

static void test_an_answer_that_repeats_the_password_is_not_told(void **state)
{
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("-ERR unknown command 'AUTH', with args beginning "
			 "with: 'tenfold' \r\n"),
		RBT_END
	};

	(void)state;
	check_refused(script, ":tenfold@", "", "AUTH failed");
}

#define TEN "tenfold789"
#define FIFTY TEN TEN TEN TEN TEN

static void test_not_even_the_beginning_of_the_password_is_told(void **state)
{
	/* Servers cut the arguments that they repeat at 128 bytes. */
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("-ERR unknown command 'AUTH', with args beginning "
			 "with: '" FIFTY FIFTY TEN TEN "tenfold7' \r\n"),
		RBT_END
	};

	(void)state;
	check_refused(script, ":" FIFTY FIFTY FIFTY "@", "", "AUTH failed");
}

static void test_a_password_with_line_ends_is_not_told(void **state)
{
	/* Servers put blanks in place of what would end the line. */
	static const rbt_step script[] = {
		RBT_EXPECT(1),
		RBT_SEND("-ERR unknown command 'AUTH', with args beginning "
			 "with: 'tenfold  more' \r\n"),
		RBT_END
	};

	(void)state;
	check_refused(script, ":tenfold%0d%0amore@", "", "AUTH failed");
}

/* A port that nobody listens at, kept from others as long as *fd is open. */
static int deaf_port(int *fd)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	memset(&address, 0, sizeof(address));
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(*fd >= 0);
	assert_int_equal(bind(*fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(*fd, (struct sockaddr *)&address, &len),
			 0);
	return ntohs(address.sin_port);
}

static void test_a_port_without_listener_is_told(void **state)
{
	char text[64];
	dialled d;
	int fd;

	(void)state;
	snprintf(text, sizeof(text), "redis://127.0.0.1:%d", deaf_port(&fd));
	d = dial(text);
	assert_status(d.status, RB_ERR_CONNECT);
	assert_non_null(strstr(d.why, strerror(ECONNREFUSED)));
	assert_int_equal(close(fd), 0);
}

static void test_a_path_that_is_not_there_is_told(void **state)
{
	dialled d = dial("unix:///nowhere/at/all.sock");

	(void)state;
	assert_status(d.status, RB_ERR_CONNECT);
	assert_non_null(strstr(d.why, "/nowhere/at/all.sock: "));
	assert_non_null(strstr(d.why, strerror(ENOENT)));
}

static void test_no_descriptor_is_left_by_a_failure(void **state)
{
	int before = dup(0);
	int after;

	(void)state;
	assert_true(before >= 0);
	assert_int_equal(close(before), 0);
	test_a_path_that_is_not_there_is_told(state);
	test_a_port_without_listener_is_told(state);
	test_a_server_that_hangs_up_is_told(state);
	test_bad_answers_to_auth_are_told(state);
	after = dup(0);
	assert_int_equal(after, before);
	assert_int_equal(close(after), 0);
}

static void test_without_memory_the_connection_is_given_up(void **state)
{
	static const rbt_step script[] = { RBT_DRAIN(LONG_MS), RBT_END };
	rbt_peer *peer = play(script);
	rbt_count count;
	dialled d;

	(void)state;
	rbt_count_init(&count);
	count.fail_at = 1;
	d = dial_by(uri_of(peer, ":tenfold@", ""), &count.allocator,
		    &rbi_clock_monotonic, RBI_NEVER);
	assert_status(d.status, RB_ERR_NOMEM);
	assert_int_equal(count.live_blocks, 0);
	assert_true(rbt_peer_await_ends(peer, 1, LONG_MS));
	rbt_peer_stop(peer);
}

static void test_what_was_sent_is_freed(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_SEND("+OK\r\n"),
					   RBT_END };
	rbt_peer *peer = play(script);
	rbt_count count;
	dialled d;

	(void)state;
	rbt_count_init(&count);
	d = dial_by(uri_of(peer, ":tenfold@", ""), &count.allocator,
		    &rbi_clock_monotonic, RBI_NEVER);
	assert_status(d.status, RB_OK);
	assert_true(count.allocs > 0);
	assert_int_equal(count.live_blocks, 0);
	redisFree(d.ctx);
	rbt_peer_stop(peer);
}

/* ---------------------------------------------------------- the deadline -- */

/* Goes on by 400 us with each look. */
static uint64_t tick(void *arg)
{
	uint64_t *now = arg;

	*now += 400;
	return *now;
}

static void test_a_silent_server_is_waited_for_until_the_deadline(void **state)
{
	static const rbt_step script[] = { RBT_DRAIN(LONG_MS), RBT_END };
	rbt_peer *peer = play(script);
	uint64_t now = 0;
	const rbi_clock clock = { tick, &now };
	dialled d = dial_by(uri_of(peer, ":tenfold@", ""), &rbi_alloc_default,
			    &clock, 5000);

	(void)state;
	assert_status(d.status, RB_ERR_TIMEOUT);
	assert_non_null(strstr(d.why, "deadline"));
	assert_null(strstr(d.why, "tenfold"));
	assert_in_range(now, 5000, 5400);
	rbt_peer_stop(peer);
}

static void test_half_an_answer_does_not_move_the_deadline(void **state)
{
	static const rbt_step script[] = { RBT_EXPECT(1), RBT_SEND("+O"),
					   RBT_DRAIN(LONG_MS), RBT_END };
	rbt_peer *peer = play(script);
	uint64_t now = 0;
	const rbi_clock clock = { tick, &now };
	dialled d = dial_by(uri_of(peer, ":tenfold@", ""), &rbi_alloc_default,
			    &clock, 50000);

	(void)state;
	assert_status(d.status, RB_ERR_TIMEOUT);
	assert_in_range(now, 50000, 50400);
	rbt_peer_stop(peer);
}

static void test_a_server_that_reads_nothing_meets_the_deadline(void **state)
{
	static const char before[] = "redis://:";
	size_t len = (size_t)32 * 1024 * 1024;
	char *text = malloc(sizeof(before) + len + 64);
	uint64_t now = 0;
	const rbi_clock clock = { tick, &now };
	dialled d;
	int fd;

	(void)state;
	assert_non_null(text);
	memcpy(text, before, sizeof(before));
	memset(text + sizeof(before) - 1, 'p', len);
	snprintf(text + sizeof(before) - 1 + len, 64, "@127.0.0.1:%d",
		 deaf_port(&fd));
	assert_int_equal(listen(fd, 1), 0);
	d = dial_by(text, &rbi_alloc_default, &clock, 20000);
	assert_status(d.status, RB_ERR_TIMEOUT);
	assert_non_null(strstr(d.why, "deadline"));
	assert_null(strstr(d.why, "pppp"));
	assert_int_equal(close(fd), 0);
	free(text);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* Lets signals come each millisecond, or no longer. */
static void rain(bool on)
{
	struct itimerval each = { { 0, on ? 1000 : 0 }, { 0, on ? 1000 : 0 } };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = count_signal;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &each, NULL), 0);
}

static void test_signals_do_not_put_off_the_deadline(void **state)
{
	uint64_t deadline;
	unsigned ms = 0;
	char text[64];
	dialled d;
	int fd;

	(void)state;
	snprintf(text, sizeof(text), "redis://:tenfold@127.0.0.1:%d",
		 deaf_port(&fd));
	/* Connections are taken by the system, and nobody ever answers. */
	assert_int_equal(listen(fd, 1), 0);
	do {
		deadline = rbi_clock_after(rbi_clock_now(&rbi_clock_monotonic),
					   rbt_more_patience(&ms));
		signals = 0;
		rain(true);
		d = dial_by(text, &rbi_alloc_default, &rbi_clock_monotonic,
			    deadline);
		rain(false);
		assert_status(d.status, RB_ERR_TIMEOUT);
		assert_true(rbi_clock_now(&rbi_clock_monotonic) >= deadline);
		/* Those that come while we may not run are one. */
	} while (signals < 2);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_credentials_nothing_is_sent),
		cmocka_unit_test(test_a_unix_socket_is_dialled),
		cmocka_unit_test(test_auth_and_select_are_sent_one_by_one),
		cmocka_unit_test(test_answers_may_come_byte_by_byte),
		cmocka_unit_test(test_the_node_is_named),
		cmocka_unit_test(test_bad_answers_to_auth_are_told),
		cmocka_unit_test(test_a_refused_select_is_told),
		cmocka_unit_test(test_an_answer_without_end_is_told),
		cmocka_unit_test(test_a_server_that_hangs_up_is_told),
		cmocka_unit_test(test_a_server_that_resets_is_told),
		cmocka_unit_test(test_last_words_are_told_and_no_signal_comes),
		cmocka_unit_test(
			test_an_answer_that_repeats_the_password_is_not_told),
		cmocka_unit_test(
			test_not_even_the_beginning_of_the_password_is_told),
		cmocka_unit_test(test_a_password_with_line_ends_is_not_told),
		cmocka_unit_test(test_a_port_without_listener_is_told),
		cmocka_unit_test(test_a_path_that_is_not_there_is_told),
		cmocka_unit_test(test_no_descriptor_is_left_by_a_failure),
		cmocka_unit_test(
			test_without_memory_the_connection_is_given_up),
		cmocka_unit_test(test_what_was_sent_is_freed),
		cmocka_unit_test(
			test_a_silent_server_is_waited_for_until_the_deadline),
		cmocka_unit_test(
			test_half_an_answer_does_not_move_the_deadline),
		cmocka_unit_test(
			test_a_server_that_reads_nothing_meets_the_deadline),
		cmocka_unit_test(test_signals_do_not_put_off_the_deadline),
	};

	return cmocka_run_group_tests_name("dial", tests, NULL, NULL);
}
