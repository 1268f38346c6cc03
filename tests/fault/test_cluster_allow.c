/*
 * Nodes that were named by a server are connected to only if the caller thinks
 * well of them: they would be sent the password.
 */
#include "replies.h"
#include "round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "b" and "c" are node 0's, "foo" and "a" are node 1's. */
static const char *all[] = { "b", "foo", "c", "a" };

typedef struct doorman {
	unsigned refused; /* this port; 0: none */
	size_t asked;
	char host[64];
	unsigned port;
} doorman;

static int judge(void *arg, const char *host, unsigned port)
{
	doorman *d = arg;

	d->asked++;
	d->port = port;
	snprintf(d->host, sizeof(d->host), "%s", host);
	return port != d->refused;
}

static rb_options guarded(doorman *d)
{
	rb_options o = rbt_options(0, 0);

	o.allow_node = judge;
	o.allow_node_arg = d;
	o.failover_ms = 300;
	return o;
}

static unsigned port_of(const rbt_round *r, size_t node)
{
	return (unsigned)rbt_ring_port(r->ring, node);
}

static void want_half(rbt_round *r)
{
	want_text(r->res, 0, "b");
	want_text(r->res, 2, "c");
	for (size_t i = 1; i < 4; i += 2)
		want_failed(r->res, i, rb_result_status(r->res, i),
			    rb_result_outcome(r->res, i));
	assert_int_equal(rbt_ring_look(r->ring).connections[1], 0);
}

static void test_a_node_of_the_map_may_be_refused(void **state)
{
	rbt_ring_options ring = { .nodes = 2 };
	rbt_round *r = rbt_round_use(state, &ring);
	doorman d = { .refused = port_of(r, 1) };
	rb_options o = guarded(&d);

	rbt_round_client(r, 1, &o);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_half(r);
	assert_in_range(d.asked, 1, 20);
	assert_string_equal(d.host, "127.0.0.1");
	assert_int_equal(d.port, port_of(r, 1));
	want_status(r->rb, rbt_round_write(r, all, 4, NULL), RB_ERR_PARTIAL);
	for (size_t i = 1; i < 4; i += 2)
		assert_int_equal(rb_result_outcome(r->res, i), RB_NOT_SENT);
	assert_int_equal(rbt_ring_look(r->ring).connections[1], 0);
}

/* The map names one node alone, and that one names another. */
static bool name_the_other(void *arg, const rbt_visit *v, rbt_reply *reply)
{
	const char *word = arg;

	if (rbt_visit_is(v, "CLUSTER")) {
		rbt_reply_array(reply, 1);
		rbt_ring_range(reply, 0, 16383, "127.0.0.1",
			       rbt_ring_port(v->ring, 0));
		return true;
	}
	if (v->node != 0 ||
	    (!rbt_visit_arg(v, 1, "foo") && !rbt_visit_arg(v, 1, "a")))
		return false;
	rbt_ring_redirect(v, reply, word, 1);
	return true;
}

static void refuse_redirect(void **state, char *word)
{
	rbt_ring_options ring = { .answer = name_the_other, .arg = word };
	rbt_round *r = rbt_round_use(state, &ring);
	doorman d = { .refused = port_of(r, 1) };
	rb_options o = guarded(&d);

	rbt_round_client(r, 1, &o);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_ERR_PARTIAL);
	want_half(r);
	assert_in_range(d.asked, 1, 20);
	assert_in_range(rbt_ring_look(r->ring).commands, 4, 60);
}

static void test_a_redirect_to_a_node_may_be_refused(void **state)
{
	static char moved[] = "MOVED", ask[] = "ASK";

	refuse_redirect(state, moved);
	refuse_redirect(state, ask);
}

static void test_a_node_that_is_thought_well_of_is_used(void **state)
{
	rbt_ring_options ring = { .nodes = 2 };
	rbt_round *r = rbt_round_use(state, &ring);
	doorman d = { .refused = 0 };
	rb_options o = guarded(&d);

	rbt_round_client(r, 1, &o);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
	rbt_round_want_keys(r, all, 4);
	assert_true(d.asked > 0);
}

/* They were named by the caller. */
static void test_seeds_are_not_asked_about(void **state)
{
	rbt_ring_options ring = { .nodes = 2 };
	rbt_round *r = rbt_round_use(state, &ring);
	doorman d = { .refused = port_of(r, 1) };
	rb_options o = guarded(&d);

	rbt_round_client(r, 0, &o);
	want_status(r->rb, rbt_round_read(r, all, 4, NULL), RB_OK);
	rbt_round_want_keys(r, all, 4);
	assert_int_equal(d.asked, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_ROUND(test_a_node_of_the_map_may_be_refused),
		RBT_ROUND(test_a_redirect_to_a_node_may_be_refused),
		RBT_ROUND(test_a_node_that_is_thought_well_of_is_used),
		RBT_ROUND(test_seeds_are_not_asked_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
