/*
 * Nodes that send a client on: in circles, to themselves, to places that are
 * none, and for one command only.
 */
#include "replies.h"
#include "round.h"

#include <hiredis/hiredis.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Redirects of one entry, and times that anything is sent in vain, have an end;
 * which one is the library's to say. */
enum { MOST_ROUNDS = 40 };

/* "b" and "c" are node 0's, "foo" and "a" are node 1's. */
static const char *all[] = { "b", "foo", "c", "a" };

/* Of those that concern no key of the play, nothing is said here. */
static bool is_key(const rbt_visit *v, const char *key)
{
	return rbt_visit_arg(v, 1, key) && !rbt_visit_is(v, "CLUSTER");
}

static size_t all_connections(const rbt_round *r)
{
	rbt_ring_counts counts = rbt_ring_look(r->ring);
	size_t sum = 0;

	for (size_t i = 0; i < RBT_RING_NODES; i++)
		sum += counts.connections[i];
	return sum;
}

/* ------------------------------------------------------------ the ground -- */

static void want_said(redisContext *ctx, const char *command, const char *words)
{
	redisReply *reply = redisCommand(ctx, command);

	assert_non_null(reply);
	want_words(reply->str, words);
	freeReplyObject(reply);
}

static void test_a_played_node_does_what_nodes_do(void **state)
{
	rbt_ring_options o = { .nodes = 2 };
	rbt_ring *ring = rbt_ring_start(&o);
	redisContext *ctx;
	char words[64], got[64];
	void *last = NULL;

	(void)state;
	assert_non_null(ring);
	ctx = redisConnect("127.0.0.1", rbt_ring_port(ring, 0));
	assert_true(ctx && !ctx->err);
	snprintf(words, sizeof(words), "MOVED 12182 127.0.0.1:%d",
		 rbt_ring_port(ring, 1));
	want_said(ctx, "GET foo", words);
	want_said(ctx, "GET b", "b");
	want_said(ctx, "MGET b c", "CROSSSLOT");
	assert_int_equal(rbt_ring_look(ring).asking, 0);
	assert_int_equal(redisAppendCommand(ctx, "ASKING"), REDIS_OK);
	want_said(ctx, "SET foo 1", "OK"); /* of ASKING */
	want_said(ctx, "SET b 2", "OK");   /* of SET foo */
	assert_int_equal(redisGetReply(ctx, &last), REDIS_OK);
	freeReplyObject(last);
	redisFree(ctx);
	rbt_ring_written(ring, got, sizeof(got));
	assert_string_equal(got, "foo=1 b=2 ");
	assert_int_equal(rbt_ring_look(ring).asking, 1);
	assert_int_equal(rbt_ring_look(ring).asking_alone, 0);
	assert_int_equal(rbt_ring_look(ring).commands, 5);
	rbt_ring_stop(ring);
}

/* ----------------------------------------------------------------- MOVED -- */

/* Both say that "foo" is the other's, whatever the map says. */
static bool send_to_the_other(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	if (!is_key(v, "foo"))
		return false;
	(void)arg;
	rbt_ring_redirect(v, reply, "MOVED", 1 - v->node);
	return true;
}

static void test_two_nodes_that_name_each_other_come_to_an_end(void **state)
{
	rbt_ring_options o = { .answer = send_to_the_other };
	rbt_round *r = rbt_round_use(state, &o);

	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_text(r->res, 0, "b");
	want_refused(r->res, 1, "MOVED 12182");
	want_text(r->res, 2, "c");
	want_text(r->res, 3, "a");
	assert_in_range(rbt_ring_look(r->ring).commands, 5, MOST_ROUNDS);
	assert_in_range(rbt_ring_look(r->ring).maps, 1, MOST_ROUNDS);
	assert_in_range(all_connections(r), 2, 10);
	want_status(r->rb, rbt_round_write(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_refused(r->res, 1, "MOVED 12182");
	want_written(r->res, 3, RB_ANSWERED);
}

typedef struct selfish {
	/* Its first connections that say so; the next does what it should. */
	size_t stale;
} selfish;

static bool send_to_itself(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	const selfish *s = arg;

	if (!is_key(v, "foo") || v->node != 1 || v->connection >= s->stale)
		return false;
	rbt_ring_redirect(v, reply, "MOVED", 1);
	return true;
}

static void test_a_node_that_names_itself_gets_a_fresh_connection(void **state)
{
	selfish s = { .stale = 1 };
	rbt_ring_options o = { .answer = send_to_itself, .arg = &s };
	rbt_round *r = rbt_round_use(state, &o);

	/* Told of node 0 alone, so that it has one connection to node 1. */
	rbt_round_client(r, 1, NULL);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
	rbt_round_want_keys(r, all, 4);
	assert_int_equal(rbt_ring_look(r->ring).connections[1], 2);
}

static void test_a_node_that_always_names_itself_comes_to_an_end(void **state)
{
	selfish s = { .stale = SIZE_MAX };
	rbt_ring_options o = { .answer = send_to_itself, .arg = &s };
	rbt_round *r = rbt_round_use(state, &o);

	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_refused(r->res, 1, "MOVED 12182");
	assert_int_equal(rb_result_failed(r->res), 1);
	assert_in_range(rbt_ring_look(r->ring).commands, 5, MOST_ROUNDS);
	assert_in_range(all_connections(r), 2, 20);
}

typedef struct stranger {
	const char *text; /* in place of the answer to "foo" */
	bool everywhere;  /* or only once, by node 1 */
	size_t told;
} stranger;

static bool send_to_a_stranger(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	stranger *s = arg;

	if (!is_key(v, "foo") || (!s->everywhere && s->told > 0))
		return false;
	s->told++;
	rbt_reply_text(reply, "-");
	rbt_reply_text(reply, s->text);
	rbt_reply_text(reply, "\r\n");
	return true;
}

static const char *const bad_texts[] = {
	"MOVED",
	"MOVED ",
	"MOVED 12182",
	"MOVED 12182 ",
	"MOVED 12182 127.0.0.1",
	"MOVED 12182 127.0.0.1:",
	"MOVED 12182 127.0.0.1:0",
	"MOVED 12182 127.0.0.1:65536",
	"MOVED 12182 127.0.0.1:70000",
	"MOVED 12182 127.0.0.1:-1",
	"MOVED 12182 127.0.0.1:4294967297",
	"MOVED 12182 127.0.0.1:99999999999999999999999",
	"MOVED 12182 127.0.0.1:80x",
	"MOVED 12182 :",
	"MOVED 16384 127.0.0.1:80",
	"MOVED -1 127.0.0.1:80",
	"MOVED 99999999999999999999 127.0.0.1:80",
	"MOVED x 127.0.0.1:80",
	"MOVED 12182 [::1:80",
	"MOVED 12182 a b:80",
	"ASK",
	"ASK 12182",
	"ASK 12182 127.0.0.1:0",
	"ASK 12182 127.0.0.1:70000",
	"ASK 99999 127.0.0.1:80",
};

static void test_a_place_that_is_none_fails_its_entry(void **state)
{
	for (size_t i = 0; i < COUNT(bad_texts); i++) {
		stranger s = { .text = bad_texts[i], .everywhere = true };
		rbt_ring_options o = { .answer = send_to_a_stranger,
				       .arg = &s };
		rbt_round *r = rbt_round_use(state, &o);

		if (rbt_round_read(r, all, 4, NULL) != RB_ERR_PARTIAL)
			fail_msg("%s: %s", bad_texts[i],
				 rb_client_error(r->rb));
		want_text(r->res, 0, "b");
		want_failed(r->res, 1, rb_result_status(r->res, 1),
			    rb_result_outcome(r->res, 1));
		want_text(r->res, 2, "c");
		want_text(r->res, 3, "a");
		assert_in_range(rbt_ring_look(r->ring).commands, 4,
				MOST_ROUNDS);
	}
}

/* The map is right: who asks for it finds the way. Nobody listens on port 1. */
static void test_a_place_that_is_gone_is_forgotten(void **state)
{
	static const char *const texts[] = { "MOVED 12182 127.0.0.1:1",
					     "ASK 12182 127.0.0.1:1" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		stranger s = { .text = texts[i] };
		rbt_ring_options o = { .answer = send_to_a_stranger,
				       .arg = &s };
		rbt_round *r = rbt_round_use(state, &o);

		want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
		rbt_round_want_keys(r, all, 4);
		want_status(r->rb, rbt_round_write(r, all, 4, NULL), RB_OK);
	}
}

static void test_a_long_name_of_a_host_harms_nobody(void **state)
{
	char text[2000];
	stranger s = { .text = text, .everywhere = true };
	rbt_ring_options o = { .answer = send_to_a_stranger, .arg = &s };
	rbt_round *r;
	size_t len = (size_t)snprintf(text, sizeof(text), "MOVED 12182 ");

	memset(text + len, 'h', 1500);
	strcpy(text + len + 1500, ":80");
	r = rbt_round_use(state, &o);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	assert_int_equal(rb_result_failed(r->res), 1);
	want_text(r->res, 3, "a");
}

/* ------------------------------------------------------------------- ASK -- */

/* Node 1 sends every command with "foo" to node 0, which takes it only behind
 * ASKING: the ring does so. */
static bool ask_at_the_other(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	const char *key = arg;

	if (!is_key(v, key) || v->node != 1)
		return false;
	rbt_ring_redirect(v, reply, "ASK", 0);
	return true;
}

static void test_asking_goes_before_each_command_in_one_write(void **state)
{
	static const char *keys[] = { "foo", "foo", "b", "foo", "a", "foo" };
	rbt_ring_options o = { .answer = ask_at_the_other, .arg = "foo" };
	rbt_round *r = rbt_round_use(state, &o);
	rb_options single = rbt_options(1, 0);
	rbt_ring_counts counts;

	want_status(r->rb, rbt_round_read(r, keys, 6, &single), RB_OK);
	rbt_round_want_keys(r, keys, 6);
	want_status(r->rb, rbt_round_write(r, keys, 6, &single), RB_OK);
	counts = rbt_ring_look(r->ring);
	assert_in_range(counts.asking, 2, 8);
	assert_int_equal(counts.asking_alone, 0);
	assert_int_equal(counts.asking_vain, 0);
	/* Had it been taken for the map, node 0 would have been asked for
	 * "foo" without ASKING. */
	assert_int_equal(counts.moved, 0);
}

static bool ask_in_circles(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	(void)arg;
	if (!is_key(v, "foo"))
		return false;
	rbt_ring_redirect(v, reply, "ASK", 1 - v->node);
	return true;
}

static void test_two_nodes_that_ask_at_each_other_come_to_an_end(void **state)
{
	rbt_ring_options o = { .answer = ask_in_circles };
	rbt_round *r = rbt_round_use(state, &o);

	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_refused(r->res, 1, "ASK 12182");
	assert_int_equal(rb_result_failed(r->res), 1);
	assert_in_range(rbt_ring_look(r->ring).commands, 5, MOST_ROUNDS);
}

/* A command may be refused where it was asked for; then the word is that
 * node's, and ASKING has had its own answer. */
static bool refuse_asking(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	if (ask_at_the_other(arg, v, reply))
		return true;
	if (!rbt_visit_is(v, "ASKING"))
		return false;
	rbt_reply_text(reply, "-ERR This instance has cluster support "
			      "disabled\r\n");
	return true;
}

static void test_asking_that_is_refused_is_no_answer_to_a_key(void **state)
{
	rbt_ring_options o = { .answer = refuse_asking, .arg = "foo" };
	rbt_round *r = rbt_round_use(state, &o);
	rb_status status = rbt_round_read(r, all, 4, NULL);

	assert_true(status == RB_OK || status == RB_ERR_PARTIAL);
	want_text(r->res, 0, "b");
	want_text(r->res, 2, "c");
	want_text(r->res, 3, "a");
	if (rb_result_status(r->res, 1) == RB_OK)
		want_text(r->res, 1, "foo");
	else
		want_failed(r->res, 1, rb_result_status(r->res, 1),
			    rb_result_outcome(r->res, 1));
	/* In step. */
	want_status(r->rb, rbt_round_read(r, all + 2, 2, NULL), RB_OK);
	rbt_round_want_keys(r, all + 2, 2);
}

/* -------------------------------------------------------------- TRYAGAIN -- */

typedef struct hurdle {
	const char *text;
	size_t times;  /* commands with "{t}1" that are refused; then none */
	size_t single; /* those with one key are let through: 1 */
	size_t refused;
} hurdle;

static bool refuse_for_now(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	hurdle *h = arg;
	size_t step = rbt_visit_is(v, "MSET") ? 3 : 2;

	if (!is_key(v, "{t}1") || h->refused == h->times ||
	    (h->single && (v->argc <= step || rbt_visit_is(v, "SET"))))
		return false;
	h->refused++;
	rbt_reply_text(reply, h->text);
	return true;
}

/* Waiting would not help, so the keys go one by one. */
static void test_keys_that_cannot_go_together_go_alone(void **state)
{
	static const char *keys[] = { "{t}1", "{t}2", "b", "{t}3" };
	hurdle h = { .text = "-TRYAGAIN Multiple keys request during "
			     "rehashing of slot\r\n",
		     .times = SIZE_MAX,
		     .single = 1 };
	rbt_ring_options o = { .answer = refuse_for_now, .arg = &h };
	rbt_round *r = rbt_round_use(state, &o);
	char written[256];

	want_status(r->rb, rbt_round_read(r, keys, 4, NULL), RB_OK);
	rbt_round_want_keys(r, keys, 4);
	want_status(r->rb, rbt_round_write(r, keys, 4, NULL), RB_OK);
	rbt_ring_written(r->ring, written, sizeof(written));
	for (size_t i = 0; i < 4; i++) {
		char want[32];

		snprintf(want, sizeof(want), "%s=%s ", keys[i], keys[i]);
		want_words(written, want);
	}
	assert_int_equal(strlen(written), 3 * strlen("{t}1={t}1 ") + 4);
}

static void test_what_is_down_for_a_while_is_asked_again(void **state)
{
	static const char *const texts[] = {
		"-CLUSTERDOWN The cluster is down\r\n",
		"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
		"-LOADING Redis is loading the dataset in memory\r\n",
		"-MASTERDOWN Link with MASTER is down\r\n",
	};
	static const char *keys[] = { "{t}1", "b" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		hurdle h = { .text = texts[i], .times = 2 };
		rbt_ring_options o = { .answer = refuse_for_now, .arg = &h };
		rbt_round *r = rbt_round_use(state, &o);

		want_status(r->rb, rbt_round_read(r, keys, 2, NULL), RB_OK);
		rbt_round_want_keys(r, keys, 2);
		rbt_round_rest(r);
		assert_int_equal(h.refused, 2);
	}
}

/* -------------------------------------------------------------- the order -- */

typedef struct queue {
	size_t early; /* commands that node 1 serves before the slot moves */
	size_t seen;
} queue;

static bool send_on_from_then(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	queue *q = arg;

	if (rbt_visit_is(v, "CLUSTER") && q->seen > q->early) {
		rbt_reply_array(reply, 1);
		rbt_ring_range(reply, 0, 16383, "127.0.0.1",
			       rbt_ring_port(v->ring, 0));
		return true;
	}
	if (!is_key(v, "foo"))
		return false;
	if (v->node == 1 && q->seen++ >= q->early)
		rbt_ring_redirect(v, reply, "MOVED", 0);
	else
		rbt_ring_serve(v, reply);
	return true;
}

/* Whatever part of them was sent on, the writes of a key come in order. */
static void test_writes_that_are_sent_on_keep_their_order(void **state)
{
	enum { WRITES = 12 };

	for (size_t early = 0; early <= WRITES; early++) {
		queue q = { .early = early };
		rbt_ring_options o = { .answer = send_on_from_then, .arg = &q };
		rbt_round *r = rbt_round_use(state, &o);
		rb_options each = rbt_options(1, 8);
		const char *argv[WRITES][3];
		rb_command commands[WRITES];
		char values[WRITES][8], got[512], last[16];

		for (size_t i = 0; i < WRITES; i++) {
			snprintf(values[i], sizeof(values[i]), "%zu", i);
			argv[i][0] = "SET";
			argv[i][1] = "foo";
			argv[i][2] = values[i];
			commands[i].argc = 3;
			commands[i].argv = argv[i];
			commands[i].argvlen = NULL;
		}
		want_status(r->rb,
			    rb_pipeline_chunked(r->rb, commands, WRITES, &each,
						&r->res),
			    RB_OK);
		for (size_t i = 0; i < WRITES; i++)
			want_reply(r->res, i, "+OK");
		rbt_ring_written(r->ring, got, sizeof(got));
		/* Once each, and in their order. */
		for (size_t i = 0, at = 0; i < WRITES; i++) {
			snprintf(last, sizeof(last), "foo=%zu ", i);
			if (strncmp(got + at, last, strlen(last)) != 0)
				fail_msg("after %zu: %s", early, got);
			at += strlen(last);
		}
	}
}

/* Of the writes in a call in which the nth allocation fails, those that count as
 * done were done. False: there are not so many allocations. */
static bool write_without_memory(rbt_round *r, size_t nth)
{
	static const char *keys[] = { "foo", "b", "foo", "a", "foo" };
	rb_options single = rbt_options(1, 0);
	char before[8192], after[8192];
	size_t done, written = 0;
	rb_status status;
	bool failed;

	rbt_ring_written(r->ring, before, sizeof(before));
	r->count.fail_at = r->count.asked + nth;
	status = rbt_round_write(r, keys, 5, &single);
	/* Memory is not waited for. */
	assert_int_not_equal(status, RB_ERR_TIMEOUT);
	done = status == RB_OK ? 5 : 0;
	failed = r->count.asked >= r->count.fail_at;
	r->count.fail_at = 0;
	assert_true(failed || done == 5);
	for (size_t i = 0; done < 5 && r->res && i < 5; i++)
		done += rb_result_status(r->res, i) == RB_OK;
	rbt_ring_written(r->ring, after, sizeof(after));
	for (size_t i = strlen(before); after[i]; i++)
		written += after[i] == '=';
	assert_in_range(written, done, 5);
	return failed;
}

static void test_no_memory_for_writes_that_are_sent_on_is_told(void **state)
{
	enum { MOST = 200 };
	rbt_ring_options o = { .answer = ask_at_the_other, .arg = "foo" };
	size_t nth = 0;

	do {
		rbt_round *r = rbt_round_use(state, &o);

		assert_in_range(nth, 0, MOST);
		(void)write_without_memory(r, 1000);
		if (!write_without_memory(r, ++nth))
			return;
		(void)write_without_memory(r, 1000);
	} while (true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_played_node_does_what_nodes_do),
		RBT_ROUND(test_two_nodes_that_name_each_other_come_to_an_end),
		RBT_ROUND(
			test_a_node_that_names_itself_gets_a_fresh_connection),
		RBT_ROUND(test_a_node_that_always_names_itself_comes_to_an_end),
		RBT_ROUND(test_a_place_that_is_none_fails_its_entry),
		RBT_ROUND(test_a_place_that_is_gone_is_forgotten),
		RBT_ROUND(test_a_long_name_of_a_host_harms_nobody),
		RBT_ROUND(test_asking_goes_before_each_command_in_one_write),
		RBT_ROUND(test_two_nodes_that_ask_at_each_other_come_to_an_end),
		RBT_ROUND(test_asking_that_is_refused_is_no_answer_to_a_key),
		RBT_ROUND(test_keys_that_cannot_go_together_go_alone),
		RBT_ROUND(test_what_is_down_for_a_while_is_asked_again),
		RBT_ROUND(test_writes_that_are_sent_on_keep_their_order),
		RBT_ROUND(test_no_memory_for_writes_that_are_sent_on_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
