/*
 * One question over a line that is played: what each send takes and what each
 * receive gives is the test's.
 */
#include "alloc.h"
#include "ask.h"
#include "count.h"
#include "pair.h"
#include "replies.h"
#include "unit.h"

#include <stdio.h>

enum { LINE_END = -1 };

typedef struct line {
	/* What each send does: n takes at most n bytes, -n fails with errno n.
	 * Behind the last: all. */
	int sends[8];
	size_t nsends;
	size_t sends_done;
	char sent[256];
	size_t nsent;

	const char *bytes; /* what arrives, once all was sent */
	size_t len;
	size_t taken;
	size_t piece; /* of one receive, and nothing more in its step; 0: any */
	bool paused;
	int end; /* behind the bytes: LINE_END, an errno, or 0: nothing yet */

	rbi_sys sys;
	rbi_transport transport;
} line;

static line *line_now;

static size_t line_takes(line *l, size_t len)
{
	int most = 0;

	if (l->sends_done < l->nsends)
		most = l->sends[l->sends_done++];
	if (most >= 0)
		return most > 0 && (size_t)most < len ? (size_t)most : len;
	errno = -most;
	return 0;
}

static ssize_t line_send(int fd, const struct msghdr *msg, int flags)
{
	line *l = line_now;
	size_t n = line_takes(l, msg->msg_iov->iov_len);

	(void)fd;
	assert_true((flags & MSG_DONTWAIT) != 0);
	if (n == 0)
		return -1;
	assert_true(n <= sizeof(l->sent) - l->nsent);
	memcpy(l->sent + l->nsent, msg->msg_iov->iov_base, n);
	l->nsent += n;
	return (ssize_t)n;
}

static ssize_t line_at_end(const line *l)
{
	if (l->end == LINE_END)
		return 0;
	errno = l->end != 0 ? l->end : EAGAIN;
	return -1;
}

static ssize_t line_recv(int fd, void *buf, size_t len, int flags)
{
	line *l = line_now;
	size_t n = l->len - l->taken;

	(void)fd;
	assert_true((flags & MSG_DONTWAIT) != 0);
	assert_true(len > 0);
	if (n == 0)
		return line_at_end(l);
	if (l->piece > 0) {
		l->paused = !l->paused;
		if (!l->paused) {
			errno = EAGAIN;
			return -1;
		}
		n = l->piece < n ? l->piece : n;
	}
	n = len < n ? len : n;
	memcpy(buf, l->bytes + l->taken, n);
	l->taken += n;
	return (ssize_t)n;
}

static void line_init(line *l, const char *bytes, size_t len)
{
	memset(l, 0, sizeof(*l));
	l->bytes = bytes;
	l->len = len;
	l->sys.send = line_send;
	l->sys.recv = line_recv;
	l->transport.sys = &l->sys;
	l->transport.fd = -1;
	line_now = l;
}

static const char *const ping[] = { "PING" };

#define PING_BYTES "*1\r\n$4\r\nPING\r\n"

/* Steps until the ask is over, or the line has nothing more to give. */
static rbi_ask_state step_on(rbi_ask *ask, line *l)
{
	rbi_ask_state state;
	size_t steps = 0;

	do {
		assert_true(++steps < 100000);
		state = rbi_ask_step(ask, &l->transport);
	} while (state == RBI_ASK_WAITING &&
		 (l->taken < l->len || l->sends_done < l->nsends));
	return state;
}

static void begin(rbi_ask *ask, size_t max)
{
	assert_status(rbi_ask_begin(ask, &rbi_alloc_default, ping, 1, max),
		      RB_OK);
}

static void check_failed(const rbi_ask *ask, rb_status status,
			 const char *words)
{
	assert_int_equal(ask->state, RBI_ASK_FAILED);
	assert_status(ask->status, status);
	if (strstr(ask->problem, words) == NULL)
		fail_msg("\"%s\" is not in: %s", words, ask->problem);
	assert_null(ask->reply);
}

/* --------------------------------------------------------------- sending -- */

static void test_a_command_leaves_in_parts_of_any_size(void **state)
{
	static const char want[] =
		"*3\r\n$4\r\nAUTH\r\n$0\r\n\r\n$12\r\nhello, world\r\n";
	const char *const argv[] = { "AUTH", "", "hello, world" };
	int first;

	(void)state;
	for (first = 1; first < (int)sizeof(want); first++) {
		rbi_ask ask;
		line l;

		line_init(&l, LIT("+OK\r\n"));
		l.sends[0] = first;
		l.sends[1] = -EAGAIN;
		l.sends[2] = 1;
		l.sends[3] = -EINTR;
		l.nsends = 4;
		assert_status(rbi_ask_begin(&ask, &rbi_alloc_default, argv, 3,
					    RBI_ASK_MAX),
			      RB_OK);
		assert_int_equal(step_on(&ask, &l), RBI_ASK_ANSWERED);
		assert_int_equal(l.nsent, sizeof(want) - 1);
		assert_memory_equal(l.sent, want, l.nsent);
		rbi_ask_fini(&ask);
	}
}

static void test_it_waits_to_write_and_only_then_to_read(void **state)
{
	rbi_ask ask;
	line l;

	(void)state;
	line_init(&l, NULL, 0);
	l.sends[0] = 3;
	l.sends[1] = -EAGAIN;
	l.nsends = 2;
	begin(&ask, RBI_ASK_MAX);
	assert_int_equal(rbi_ask_events(&ask), POLLOUT);
	assert_int_equal(rbi_ask_step(&ask, &l.transport), RBI_ASK_WAITING);
	assert_int_equal(rbi_ask_events(&ask), POLLOUT);
	assert_int_equal(rbi_ask_step(&ask, &l.transport), RBI_ASK_WAITING);
	assert_int_equal(rbi_ask_events(&ask), POLLIN);
	assert_int_equal(rbi_ask_step(&ask, &l.transport), RBI_ASK_WAITING);
	assert_int_equal(l.nsent, sizeof(PING_BYTES) - 1);
	rbi_ask_fini(&ask);
}

/* An allocator whose blocks must hold no secret when they are freed. */
typedef struct block {
	size_t size;
	max_align_t bytes[];
} block;

#define SECRET "tenfold"

static void *watch_alloc(void *arg, size_t size)
{
	block *b = calloc(1, sizeof(*b) + size + 1);

	(void)arg;
	assert_non_null(b);
	b->size = size;
	return b->bytes;
}

static void watch_free(void *arg, void *ptr)
{
	block *b = (block *)(void *)((char *)ptr - offsetof(block, bytes));
	const char *bytes = ptr;
	size_t i;

	(void)arg;
	for (i = 0; i + sizeof(SECRET) - 1 <= b->size; i++)
		assert_int_not_equal(
			memcmp(bytes + i, SECRET, sizeof(SECRET) - 1), 0);
	free(b);
}

static void test_a_command_is_wiped_however_it_ends(void **state)
{
	static const int sends[] = { 0, 5, -EPIPE };
	static const rb_allocator watcher = { .alloc = watch_alloc,
					      .free = watch_free };
	const char *const argv[] = { "AUTH", SECRET };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(sends); i++) {
		rbi_ask ask;
		line l;

		line_init(&l, NULL, 0);
		l.sends[0] = sends[i];
		l.sends[1] = -EAGAIN;
		l.nsends = 2;
		assert_status(
			rbi_ask_begin(&ask, &watcher, argv, 2, RBI_ASK_MAX),
			RB_OK);
		assert_int_equal(rbi_ask_step(&ask, &l.transport),
				 RBI_ASK_WAITING);
		/* Not before it was sent, and at once when it was. */
		assert_int_equal(ask.command == NULL, sends[i] != 5);
		rbi_ask_fini(&ask);
	}
}

/* --------------------------------------------------------------- answers -- */

static void check_answer(const char *bytes, size_t piece, const char *want)
{
	rbi_ask ask;
	char *text;
	line l;

	line_init(&l, bytes, strlen(bytes));
	l.piece = piece;
	begin(&ask, RBI_ASK_MAX);
	assert_int_equal(step_on(&ask, &l), RBI_ASK_ANSWERED);
	assert_int_equal(rbi_ask_step(&ask, &l.transport), RBI_ASK_ANSWERED);
	assert_int_equal(l.taken, l.len);
	text = rbt_reply_print(ask.reply);
	assert_string_equal(text, want);
	free(text);
	rbi_ask_fini(&ask);
	assert_null(ask.reply);
}

static void test_answers_may_arrive_in_pieces_of_any_size(void **state)
{
	static const struct {
		const char *bytes, *want;
	} rows[] = {
		{ "+OK\r\n", "+OK" },
		{ "-ERR no\r\n", "-ERR no" },
		{ ":-12\r\n", ":-12" },
		{ "$-1\r\n", "nil" },
		{ "_\r\n", "nil" },
		{ "*0\r\n", "[]" },
		{ "*2\r\n*2\r\n:1\r\n+a\r\n*1\r\n%1\r\n+k\r\n-ERR x\r\n",
		  "[[:1, +a], [%[+k, -ERR x]]]" },
		{ ">1\r\n+push\r\n+OK\r\n", "+OK" },
		{ "*2\r\n|1\r\n+k\r\n+v\r\n:1\r\n:2\r\n", "[:1, :2]" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		size_t piece;

		for (piece = 0; piece <= strlen(rows[i].bytes); piece++)
			check_answer(rows[i].bytes, piece, rows[i].want);
	}
}

static void test_a_push_behind_the_answer_is_awaited_whole(void **state)
{
	static const char bytes[] = "+OK\r\n>2\r\n+invalidate\r\n*1\r\n+k\r\n";
	size_t piece;

	(void)state;
	/* From the first piece on that holds a byte of it. */
	for (piece = 6; piece < sizeof(bytes); piece++)
		check_answer(bytes, piece, "+OK");
	check_answer(bytes, 0, "+OK");
}

/* An array of texts of any length, with a number in each. */
static char *long_answer(size_t n, size_t width)
{
	char *bytes = malloc(32 + n * (width + 32));
	size_t at;
	size_t i;

	assert_non_null(bytes);
	at = (size_t)sprintf(bytes, "*%zu\r\n", n);
	for (i = 0; i < n; i++)
		at += (size_t)sprintf(bytes + at, "$%zu\r\n%0*zu\r\n", width,
				      (int)width, i);
	return bytes;
}

static void check_long_answer(size_t n, size_t width, size_t piece)
{
	char *bytes = long_answer(n, width);
	rbi_ask ask;
	size_t i;
	line l;

	line_init(&l, bytes, strlen(bytes));
	l.piece = piece;
	begin(&ask, RBI_ASK_MAX);
	assert_int_equal(step_on(&ask, &l), RBI_ASK_ANSWERED);
	assert_int_equal(rbi_reply_count(ask.reply), n);
	for (i = 0; i < n; i++) {
		rb_slice text = rbi_reply_text(rbi_reply_element(ask.reply, i));

		assert_int_equal(text.len, width);
		assert_int_equal(strtoull(text.data, NULL, 10), i);
	}
	rbi_ask_fini(&ask);
	free(bytes);
}

static void test_long_answers_are_kept_whole(void **state)
{
	(void)state;
	check_long_answer(20000, 40, 0);
	check_long_answer(20000, 40, 1013);
	check_long_answer(3, 2000000, 100003);
	check_long_answer(1, 15000000, 0);
}

static void test_bytes_behind_the_answer_are_a_failure(void **state)
{
	static const char *const rows[] = {
		"+OK\r\n+OK\r\n",   "+OK\r\n+O",
		"-ERR x\r\n:1\r\n", "+OK\r\n>1\r\n+push\r\n+OK\r\n",
		"+OK\r\nx",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbi_ask ask;
		line l;

		line_init(&l, rows[i], strlen(rows[i]));
		begin(&ask, RBI_ASK_MAX);
		assert_int_equal(step_on(&ask, &l), RBI_ASK_FAILED);
		check_failed(&ask, RB_ERR_PROTOCOL, "");
		rbi_ask_fini(&ask);
	}
}

/* -------------------------------------------------------------- failures -- */

static void test_a_line_that_ends_is_a_failure_at_any_byte(void **state)
{
	static const char bytes[] = "*2\r\n$3\r\nabc\r\n:1\r\n";
	static const int ends[] = { LINE_END, ECONNRESET };
	size_t len;
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(ends); i++) {
		for (len = 0; len < sizeof(bytes) - 1; len++) {
			rbi_ask ask;
			line l;

			line_init(&l, bytes, len);
			l.end = ends[i];
			begin(&ask, RBI_ASK_MAX);
			assert_int_equal(step_on(&ask, &l), RBI_ASK_FAILED);
			check_failed(&ask, RB_ERR_IO,
				     ends[i] == LINE_END ?
					     "closed the connection" :
					     strerror(ECONNRESET));
			assert_int_equal(rbi_ask_step(&ask, &l.transport),
					 RBI_ASK_FAILED);
			rbi_ask_fini(&ask);
		}
	}
}

static void test_what_is_no_answer_is_a_failure(void **state)
{
	static const struct {
		const char *bytes, *words;
	} rows[] = {
		{ "HTTP/1.1 400 Bad Request\r\n", "no type" },
		{ ":x\r\n", "integer" },
		{ "$3\r\nabcd\r\n", "does not end" },
		{ "*-2\r\n", "no number" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbi_ask ask;
		line l;

		line_init(&l, rows[i].bytes, strlen(rows[i].bytes));
		begin(&ask, RBI_ASK_MAX);
		assert_int_equal(step_on(&ask, &l), RBI_ASK_FAILED);
		check_failed(&ask, RB_ERR_PROTOCOL, rows[i].words);
		rbi_ask_fini(&ask);
	}
}

static void test_after_a_failed_send_only_an_error_is_believed(void **state)
{
	static const struct {
		const char *bytes;
		const char *words; /* NULL: it is the answer */
	} rows[] = {
		{ "-ERR enough\r\n", NULL },
		{ "+OK\r\n", "Broken pipe" },
		{ "", "closed the connection" },
		{ "-ERR eno", "closed the connection" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbi_ask ask;
		line l;

		line_init(&l, rows[i].bytes, strlen(rows[i].bytes));
		l.end = LINE_END;
		l.sends[0] = 5;
		l.sends[1] = -EPIPE;
		l.nsends = 2;
		begin(&ask, RBI_ASK_MAX);
		if (rows[i].words == NULL) {
			assert_int_equal(step_on(&ask, &l), RBI_ASK_ANSWERED);
			assert_true(rbi_reply_is_error(ask.reply));
		} else {
			assert_int_equal(step_on(&ask, &l), RBI_ASK_FAILED);
			check_failed(&ask, RB_ERR_IO, rows[i].words);
		}
		assert_true(ask.cut);
		rbi_ask_fini(&ask);
	}
}

/* ---------------------------------------------------------------- bounds -- */

static void test_an_answer_past_the_bound_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		bool fits;
	} rows[] = {
		{ "$121\r\n", false }, /* its bytes need not come */
		{ "$129\r\n", false },
		{ "$4000000000\r\n", false },
		{ "*9\r\n", false },
		{ "*2000000000\r\n", false },
		{ "%2000000000\r\n", false },
		{ "*8\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*1\r\n",
		  false },
		{ "*2\r\n$100\r\n", true },
		{ "$120\r\n", true },
		{ "*8\r\n", true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbi_ask ask;
		line l;

		line_init(&l, rows[i].bytes, strlen(rows[i].bytes));
		begin(&ask, 128);
		if (rows[i].fits) {
			assert_int_equal(step_on(&ask, &l), RBI_ASK_WAITING);
		} else {
			assert_int_equal(step_on(&ask, &l), RBI_ASK_FAILED);
			check_failed(&ask, RB_ERR_PROTOCOL, "");
		}
		rbi_ask_fini(&ask);
	}
}

static void test_a_bound_is_exact_for_lines_and_strings(void **state)
{
	char bytes[200];
	size_t max;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	memcpy(bytes, "-", 1);
	memcpy(bytes + 98, "\r\n", 2);
	for (max = 99; max <= 100; max++) {
		rbi_ask ask;
		line l;

		line_init(&l, bytes, 100);
		l.piece = 7;
		begin(&ask, max);
		assert_int_equal(step_on(&ask, &l),
				 max < 100 ? RBI_ASK_FAILED : RBI_ASK_ANSWERED);
		if (max < 100)
			check_failed(&ask, RB_ERR_PROTOCOL, "too long");
		assert_true(ask.received <= max);
		rbi_ask_fini(&ask);
	}
}

static void test_pushes_count_towards_the_bound(void **state)
{
	enum { TIMES = 1000 };
	static const char push[] = ">1\r\n+push\r\n";
	char *bytes = malloc(TIMES * (sizeof(push) - 1));
	rbi_ask ask;
	size_t i;
	line l;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < TIMES; i++)
		memcpy(bytes + i * (sizeof(push) - 1), push, sizeof(push) - 1);
	line_init(&l, bytes, TIMES * (sizeof(push) - 1));
	begin(&ask, 5000);
	assert_int_equal(step_on(&ask, &l), RBI_ASK_FAILED);
	check_failed(&ask, RB_ERR_PROTOCOL, "too long");
	assert_true(l.taken <= 5000);
	rbi_ask_fini(&ask);
	free(bytes);
}

static void test_what_is_announced_takes_no_memory(void **state)
{
	static const char *const rows[] = { "$16000000\r\n", "*1000000\r\n" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		rbt_count count;
		rbi_ask ask;
		line l;

		rbt_count_init(&count);
		line_init(&l, rows[i], strlen(rows[i]));
		assert_status(rbi_ask_begin(&ask, &count.allocator, ping, 1,
					    RBI_ASK_MAX),
			      RB_OK);
		assert_int_equal(step_on(&ask, &l), RBI_ASK_WAITING);
		assert_in_range(count.peak_bytes, 1, 64 * 1024);
		rbi_ask_fini(&ask);
		assert_int_equal(count.live_blocks, 0);
	}
}

/* ---------------------------------------------------------------- memory -- */

static void test_a_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
	char *bytes = long_answer(5000, 10);
	rb_status status = RB_ERR_NOMEM;
	size_t at;

	(void)state;
	for (at = 1; status != RB_OK; at++) {
		rbt_count count;
		rbi_ask ask;
		line l;

		rbt_count_init(&count);
		count.fail_at = at;
		line_init(&l, bytes, strlen(bytes));
		status = rbi_ask_begin(&ask, &count.allocator, ping, 1,
				       RBI_ASK_MAX);
		if (status != RB_OK) {
			assert_int_equal(count.live_blocks, 0);
		} else if (step_on(&ask, &l) == RBI_ASK_FAILED) {
			check_failed(&ask, RB_ERR_NOMEM, "memory");
			status = RB_ERR_NOMEM;
		}
		rbi_ask_fini(&ask);
		assert_int_equal(count.live_blocks, 0);
	}
	assert_true(at > 5);
	free(bytes);
}

static void test_memory_of_zeros_may_be_freed(void **state)
{
	rbi_ask ask;

	(void)state;
	memset(&ask, 0, sizeof(ask));
	rbi_ask_fini(&ask);
	rbi_ask_fini(&ask);
	assert_null(ask.reply);
}

/* ---------------------------------------------------------- a real socket -- */

static void test_one_connection_may_be_asked_again_and_again(void **state)
{
	rbi_transport t = { .sys = &rbi_sys_default };
	char heard[64];
	pair p;
	int i;

	(void)state;
	pair_init(&p);
	t.ctx = p.ctx;
	t.fd = p.ctx->fd;
	for (i = 0; i < 3; i++) {
		rbi_ask ask;

		begin(&ask, RBI_ASK_MAX);
		assert_int_equal(rbi_ask_step(&ask, &t), RBI_ASK_WAITING);
		assert_int_equal(recv(p.peer, heard, sizeof(heard), 0),
				 sizeof(PING_BYTES) - 1);
		pair_say(&p, LIT("+PO"));
		assert_int_equal(rbi_ask_step(&ask, &t), RBI_ASK_WAITING);
		pair_say(&p, LIT("NG\r\n"));
		assert_int_equal(rbi_ask_step(&ask, &t), RBI_ASK_ANSWERED);
		assert_string_equal(rbi_reply_text(ask.reply).data, "PONG");
		rbi_ask_fini(&ask);
	}
	pair_fini(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_command_leaves_in_parts_of_any_size),
		cmocka_unit_test(test_it_waits_to_write_and_only_then_to_read),
		cmocka_unit_test(test_a_command_is_wiped_however_it_ends),
		cmocka_unit_test(test_answers_may_arrive_in_pieces_of_any_size),
		cmocka_unit_test(
			test_a_push_behind_the_answer_is_awaited_whole),
		cmocka_unit_test(test_long_answers_are_kept_whole),
		cmocka_unit_test(test_bytes_behind_the_answer_are_a_failure),
		cmocka_unit_test(
			test_a_line_that_ends_is_a_failure_at_any_byte),
		cmocka_unit_test(test_what_is_no_answer_is_a_failure),
		cmocka_unit_test(
			test_after_a_failed_send_only_an_error_is_believed),
		cmocka_unit_test(test_an_answer_past_the_bound_is_refused),
		cmocka_unit_test(test_a_bound_is_exact_for_lines_and_strings),
		cmocka_unit_test(test_pushes_count_towards_the_bound),
		cmocka_unit_test(test_what_is_announced_takes_no_memory),
		cmocka_unit_test(
			test_a_lack_of_memory_is_told_and_leaves_nothing),
		cmocka_unit_test(test_memory_of_zeros_may_be_freed),
		cmocka_unit_test(
			test_one_connection_may_be_asked_again_and_again),
	};

	return cmocka_run_group_tests_name("ask", tests, NULL, NULL);
}
