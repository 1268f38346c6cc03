/*
 * What nodes may say of who has which slot, true or not, and of where they are.
 */
#include "replies.h"
#include "round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "b" and "c" are node 0's, "foo" and "a" are node 1's. */
static const char *all[] = { "b", "foo", "c", "a" };

/* Of this node, or of all, every map is this. */
typedef struct teller {
	const char *text;
	void (*tell)(const rbt_visit *v, rbt_reply *reply);
	size_t node;  /* RBT_RING_NODES: all */
	size_t times; /* 0: always */
	size_t told;
} teller;

static bool tell_a_map(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	teller *t = arg;

	if (!rbt_visit_is(v, "CLUSTER") ||
	    (t->node < RBT_RING_NODES && v->node != t->node) ||
	    (t->times > 0 && t->told == t->times))
		return false;
	t->told++;
	if (t->tell)
		t->tell(v, reply);
	else
		rbt_reply_text(reply, t->text);
	return true;
}

/* A node of a map, as RESP: "*3 ip port id". */
#define ID "$40\r\n0123456789012345678901234567890123456789\r\n"
#define HERE "$9\r\n127.0.0.1\r\n"
#define NODE(port) "*3\r\n" HERE ":" port "\r\n" ID
#define RANGE(first, last, node) "*3\r\n:" first "\r\n:" last "\r\n" node

/* ------------------------------------------------------------- bad maps -- */

typedef struct bad_map {
	const char *name, *text;
} bad_map;

static const bad_map bad_maps[] = {
	{ "a status", "+OK\r\n" },
	{ "a number", ":3\r\n" },
	{ "a string", "$3\r\nabc\r\n" },
	{ "nil", "$-1\r\n" },
	{ "no array", "*-1\r\n" },
	{ "an error", "-ERR This instance has cluster support disabled\r\n" },
	{ "an unknown command", "-ERR unknown command\r\n" },
	{ "numbers", "*2\r\n:1\r\n:2\r\n" },
	{ "empty ranges", "*1\r\n*0\r\n" },
	{ "a range without a node", "*1\r\n*2\r\n:0\r\n:16383\r\n" },
	{ "texts for slots",
	  "*1\r\n*3\r\n$1\r\n0\r\n$5\r\n16383\r\n" NODE("1") },
	{ "the end before the begin", "*1\r\n" RANGE("16383", "0", NODE("1")) },
	{ "below 0", "*1\r\n" RANGE("-1", "16383", NODE("1")) },
	{ "a slot too many", "*1\r\n" RANGE("0", "16384", NODE("1")) },
	{ "far too many", "*1\r\n" RANGE("0", "4294967296", NODE("1")) },
	{ "beyond all numbers",
	  "*1\r\n" RANGE("0", "9223372036854775807", NODE("1")) },
	{ "below all numbers",
	  "*1\r\n" RANGE("-9223372036854775808", "16383", NODE("1")) },
	{ "port 0", "*1\r\n" RANGE("0", "16383", NODE("0")) },
	{ "port 65536", "*1\r\n" RANGE("0", "16383", NODE("65536")) },
	{ "port 70000", "*1\r\n" RANGE("0", "16383", NODE("70000")) },
	{ "port -1", "*1\r\n" RANGE("0", "16383", NODE("-1")) },
	{ "a port past 32 bits",
	  "*1\r\n" RANGE("0", "16383", NODE("4294967297")) },
	{ "a node that is none", "*1\r\n" RANGE("0", "16383", "*0\r\n") },
	{ "a node that is a text",
	  "*1\r\n" RANGE("0", "16383", "$3\r\nabc\r\n") },
	{ "a host that is a number",
	  "*1\r\n" RANGE("0", "16383", "*3\r\n:5\r\n:80\r\n" ID) },
	{ "a port that is a text",
	  "*1\r\n" RANGE("0", "16383", "*3\r\n" HERE "$2\r\n80\r\n" ID) },
	{ "a host with a NUL in it",
	  "*1\r\n" RANGE("0", "16383", "*3\r\n$3\r\na!b\r\n:80\r\n" ID) },
};

static const bad_map *being_told;

/* With a NUL for each "!". */
static void tell_bad(const rbt_visit *v, rbt_reply *reply)
{
	(void)v;
	rbt_reply_text(reply, being_told->text);
	for (size_t i = 0; i < reply->len; i++)
		if (reply->buf[i] == '!')
			reply->buf[i] = '\0';
}

static void want_no_values(const rbt_round *r)
{
	for (size_t i = 0; i < rb_result_count(r->res); i++) {
		assert_int_not_equal(rb_result_status(r->res, i), RB_OK);
		assert_int_not_equal(rb_result_outcome(r->res, i), RB_ANSWERED);
	}
}

/* There is no way to any key, and the call says so. */
static void test_a_bad_map_ends_the_call(void **state)
{
	rb_options o = rbt_options(0, 0);

	o.attempts = 1;
	for (size_t i = 0; i < COUNT(bad_maps); i++) {
		teller t = { .tell = tell_bad, .node = RBT_RING_NODES };
		rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
		rbt_round *r;

		being_told = &bad_maps[i];
		r = rbt_round_use(state, &ring);
		rbt_round_client(r, 0, &o);
		if (rbt_round_read(r, all, 4, NULL) == RB_OK)
			fail_msg("%s was taken for a map", bad_maps[i].name);
		assert_int_not_equal(rb_client_error(r->rb)[0], '\0');
		want_no_values(r);
		if (rbt_ring_look(r->ring).maps > 20)
			fail_msg("%s was asked for %zu times", bad_maps[i].name,
				 rbt_ring_look(r->ring).maps);
		assert_int_equal(rbt_ring_look(r->ring).commands, 0);
	}
}

static void test_a_better_map_is_asked_of_another_seed(void **state)
{
	for (size_t i = 0; i < COUNT(bad_maps); i++) {
		teller t = { .tell = tell_bad, .node = 0 };
		rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
		rbt_round *r;
		rb_status status;

		being_told = &bad_maps[i];
		r = rbt_round_use(state, &ring);
		status = rbt_round_read(r, all, 4, NULL);
		if (status != RB_OK)
			fail_msg("%s: %s: %s", bad_maps[i].name,
				 rb_status_text(status),
				 rb_client_error(r->rb));
		rbt_round_want_keys(r, all, 4);
	}
}

/* They promise more than may come, or nest without an end. */
static void test_a_map_without_bounds_is_not_followed(void **state)
{
	static const char *const texts[] = {
		"*1000000000\r\n*3\r\n:0\r\n:1\r\n",
		"*1\r\n*1000000000\r\n:0\r\n:1\r\n",
		"*1\r\n" RANGE("0", "16383",
			       "*3\r\n$1000000000\r\n127.0.0.1\r\n:1\r\n"),
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
		"!is no RESP\r\n",
	};
	rb_options o = rbt_options(0, 0);

	o.timeout_ms = 1000;
	for (size_t i = 0; i < COUNT(texts); i++) {
		teller t = { .text = texts[i], .node = RBT_RING_NODES };
		rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
		rbt_round *r = rbt_round_use(state, &ring);

		rbt_round_client(r, 0, &o);
		if (rbt_round_read(r, all, 4, NULL) == RB_OK)
			fail_msg("%s was taken for a map", texts[i]);
		want_no_values(r);
		assert_true(r->count.peak_bytes < (size_t)8 << 20);
	}
}

/* Two claim a slot: whoever is believed, keys are found by MOVED. */
static void tell_overlapping(const rbt_visit *v, rbt_reply *reply)
{
	rbt_reply_array(reply, 3);
	for (size_t i = 0; i < 2; i++)
		rbt_ring_range(reply, 0, 16383, "127.0.0.1",
			       rbt_ring_port(v->ring, i));
	rbt_ring_range(reply, 100, 12182, "127.0.0.1",
		       rbt_ring_port(v->ring, 0));
}

static void test_two_that_claim_a_slot_do_no_harm(void **state)
{
	teller t = { .tell = tell_overlapping, .node = RBT_RING_NODES };
	rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
	rbt_round *r = rbt_round_use(state, &ring);
	rb_status status = rbt_round_read(r, all, 4, NULL);

	if (status != RB_OK)
		want_no_values(r);
	else
		rbt_round_want_keys(r, all, 4);
}

static void tell_by_single_slots(const rbt_visit *v, rbt_reply *reply)
{
	rbt_reply_array(reply, 16384);
	for (long long slot = 0; slot < 16384; slot++)
		rbt_ring_range(reply, slot, slot, "127.0.0.1",
			       rbt_ring_port(v->ring, slot < 8192 ? 0 : 1));
}

static void test_a_map_in_sixteen_thousand_pieces_is_one(void **state)
{
	teller t = { .tell = tell_by_single_slots, .node = RBT_RING_NODES };
	rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
	rbt_round *r = rbt_round_use(state, &ring);

	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
	rbt_round_want_keys(r, all, 4);
	assert_int_equal(rbt_ring_look(r->ring).moved, 0);
}

/* Slots that nobody has are left out: a gap is no fault of the map. */
static void tell_half(const rbt_visit *v, rbt_reply *reply)
{
	rbt_reply_array(reply, 1);
	rbt_ring_range(reply, 0, 8191, "127.0.0.1", rbt_ring_port(v->ring, 0));
}

static void test_a_gap_in_the_map_may_be_served_all_the_same(void **state)
{
	teller t = { .tell = tell_half, .node = RBT_RING_NODES };
	rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
	rbt_round *r = rbt_round_use(state, &ring);
	rb_options o = rbt_options(0, 0);
	rb_status status;

	o.timeout_ms = 5000;
	status = rbt_round_read(r, all, 4, &o);
	want_text(r->res, 0, "b");
	want_text(r->res, 2, "c");
	/* Somebody is asked who knows better, or it is said that nobody has
	 * it. */
	if (status == RB_OK)
		rbt_round_want_keys(r, all, 4);
	else
		want_failed(r->res, 1, rb_result_status(r->res, 1),
			    rb_result_outcome(r->res, 1));
}

static void test_an_empty_map_means_wait(void **state)
{
	teller t = { .text = "*0\r\n", .node = RBT_RING_NODES, .times = 2 };
	rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
	rbt_round *r = rbt_round_use(state, &ring);

	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
	rbt_round_want_keys(r, all, 4);
	rbt_round_rest(r);
	assert_int_equal(t.told, 2);
}

static void test_a_map_that_stays_empty_ends_the_call(void **state)
{
	teller t = { .text = "*0\r\n", .node = RBT_RING_NODES };
	rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
	rbt_round *r = rbt_round_use(state, &ring);
	rb_options o = rbt_options(0, 0);

	o.timeout_ms = 1500;
	rbt_round_client(r, 0, &o);
	assert_int_not_equal(rbt_round_read(r, all, 4, NULL), RB_OK);
	want_no_values(r);
	/* Not as fast as it can. */
	assert_in_range(rbt_ring_look(r->ring).maps, 1, 60);
}

/* ---------------------------------------------------------------- places -- */

/* A node [host, port, id, metadata], in RESP. */
static void tell_range(rbt_reply *reply, long long first, long long last,
		       const char *node, int port)
{
	char line[64];

	snprintf(line, sizeof(line), "*3\r\n:%lld\r\n:%lld\r\n", first, last);
	rbt_reply_text(reply, line);
	for (const char *at = node; *at; at++)
		if (*at == '@') {
			snprintf(line, sizeof(line), ":%d\r\n", port);
			rbt_reply_text(reply, line);
		} else {
			rbt_reply_bytes(reply, at, 1);
		}
}

static const char *place; /* of the nodes, with @ for the port */

static void tell_places(const rbt_visit *v, rbt_reply *reply)
{
	rbt_reply_array(reply, 2);
	tell_range(reply, 0, 8191, place, rbt_ring_port(v->ring, 0));
	tell_range(reply, 8192, 16383, place, rbt_ring_port(v->ring, 1));
}

static void test_a_host_may_be_left_to_be_guessed(void **state)
{
	static const char *const places[] = {
		/* As it is; with metadata; without an id. */
		"*3\r\n" HERE "@" ID,
		"*4\r\n" HERE "@" ID "*0\r\n",
		"*2\r\n" HERE "@",
		"*4\r\n" HERE "@" ID "*2\r\n$8\r\nhostname\r\n$1\r\nx\r\n",
		/* None: who answers. */
		"*3\r\n$0\r\n\r\n@" ID,
		"*4\r\n$-1\r\n@" ID "*2\r\n$2\r\nip\r\n" HERE,
		"*4\r\n$0\r\n\r\n@" ID "*0\r\n",
		/* Not known: what the metadata say, or who answers. */
		"*4\r\n$1\r\n?\r\n@" ID "*2\r\n$2\r\nip\r\n" HERE,
		"*4\r\n$1\r\n?\r\n@" ID "*0\r\n",
		"*3\r\n$1\r\n?\r\n@" ID,
		/* A name. */
		"*3\r\n$9\r\nlocalhost\r\n@" ID,
		"*4\r\n$9\r\nlocalhost\r\n@" ID "*2\r\n$2\r\nip\r\n" HERE,
	};

	for (size_t i = 0; i < COUNT(places); i++) {
		teller t = { .tell = tell_places, .node = RBT_RING_NODES };
		rbt_ring_options ring = { .answer = tell_a_map, .arg = &t };
		rbt_round *r;
		rb_status status;

		place = places[i];
		r = rbt_round_use(state, &ring);
		rbt_round_client(r, 1, NULL);
		status = rbt_round_read(r, all, 4, NULL);
		if (status != RB_OK)
			fail_msg("%s: %s: %s", places[i],
				 rb_status_text(status),
				 rb_client_error(r->rb));
		rbt_round_want_keys(r, all, 4);
		assert_int_equal(rbt_ring_look(r->ring).moved, 0);
	}
}

/* It is in the map, in MOVED and in ASK, with its colons. */
static bool move_and_ask(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	(void)arg;
	if (v->node != 1)
		return false;
	if (rbt_visit_arg(v, 1, "foo"))
		rbt_ring_redirect(v, reply, "ASK", 0);
	else if (rbt_visit_arg(v, 1, "a") && v->connection == 0)
		rbt_ring_redirect(v, reply, "MOVED", 1);
	else
		return false;
	return true;
}

static void want_found_at(void **state, const char *host, bool ipv6)
{
	rbt_ring_options ring = { .answer = move_and_ask,
				  .host = host,
				  .ipv6 = ipv6 };
	rbt_round *r = rbt_round_use(state, &ring);

	if (!r)
		skip();
	rbt_round_client(r, 1, NULL);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
	rbt_round_want_keys(r, all, 4);
	want_status(r->rb, rbt_round_write(r, all, 4, NULL), RB_OK);
}

static void test_an_address_with_colons_is_found(void **state)
{
	want_found_at(state, "::1", true);
}

static void test_the_name_of_a_host_is_looked_up(void **state)
{
	want_found_at(state, "localhost", false);
}

static void test_no_host_is_the_one_that_answers(void **state)
{
	want_found_at(state, "", false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_ROUND(test_a_bad_map_ends_the_call),
		RBT_ROUND(test_a_better_map_is_asked_of_another_seed),
		RBT_ROUND(test_a_map_without_bounds_is_not_followed),
		RBT_ROUND(test_two_that_claim_a_slot_do_no_harm),
		RBT_ROUND(test_a_map_in_sixteen_thousand_pieces_is_one),
		RBT_ROUND(test_a_gap_in_the_map_may_be_served_all_the_same),
		RBT_ROUND(test_an_empty_map_means_wait),
		RBT_ROUND(test_a_map_that_stays_empty_ends_the_call),
		RBT_ROUND(test_a_host_may_be_left_to_be_guessed),
		RBT_ROUND(test_an_address_with_colons_is_found),
		RBT_ROUND(test_the_name_of_a_host_is_looked_up),
		RBT_ROUND(test_no_host_is_the_one_that_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
