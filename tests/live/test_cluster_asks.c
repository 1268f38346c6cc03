/*
 * Slots that are being moved: ASK and TRYAGAIN, and what the client learns from
 * them, which is nothing.
 */
#include "commands.h"
#include "nodes.h"
#include "replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SLOT = 449, OPEN = 10, TO = 1, LEN = 20 };

static int open_nodes(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3 };

	return rbt_nodes_open(state, &o);
}

/* OPEN keys in the slot, all with values, of which so many have moved; the
 * client has a map from before. */
static void open_slot(rbt_nodes *n, size_t moved)
{
	char prefix[32];

	rbt_slot_tag(SLOT, prefix, sizeof(prefix));
	rbt_nodes_load(n, prefix, OPEN, 1, LEN);
	want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
	want_done(n, rbt_cluster_begin_move(n->cluster, SLOT, TO));
	for (size_t i = 0; i < moved; i++)
		want_done(n, rbt_cluster_migrate_key(n->cluster,
						     n->keys.keys[2 * i], TO));
	rbt_nodes_reset_stats(n);
}

static void close_slot(rbt_nodes *n)
{
	want_done(n, rbt_cluster_finish_move(n->cluster, SLOT, TO));
}

/* ASK is followed, and forgotten: a map with it would send the keys that are
 * still at home to a node that says MOVED. */
static void want_asked(rbt_nodes *n)
{
	assert_true(rbt_cluster_errors(n->cluster, "ASK") > 0);
	assert_true(rbt_cluster_calls(n->cluster, "asking") > 0);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
}

/* A key in the open slot that nobody has. */
static const char *new_key(char *out, size_t size, int number)
{
	char tag[32];

	rbt_slot_tag(SLOT, tag, sizeof(tag));
	snprintf(out, size, "%snew%d", tag, number);
	return out;
}

/* ----------------------------------------------------------------- reads -- */

static void test_keys_are_found_on_both_sides(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	for (size_t moved = 0; moved <= OPEN / 2; moved += OPEN / 2) {
		open_slot(n, moved);
		for (int turn = 0; turn < 3; turn++) {
			want_status(n->rb, rbt_nodes_read(n, NULL), RB_OK);
			want_read(n, 1, LEN);
			want_covered(n);
		}
		assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
		if (moved > 0)
			want_asked(n);
		want_done(n, rbt_cluster_abort_move(n->cluster, SLOT, TO));
	}
}

static void test_keys_read_one_by_one_are_found_on_both_sides(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(1, 0);

	open_slot(n, OPEN / 2);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 1, LEN);
	want_asked(n);
	/* Each redirected command had an ASKING of its own. */
	assert_int_equal(rbt_cluster_calls(n->cluster, "asking"), OPEN / 2);
	close_slot(n);
	want_status(n->rb, rbt_nodes_read(n, &o), RB_OK);
	want_read(n, 1, LEN);
}

static void test_a_present_and_an_absent_key_come_at_once(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	char absent[64];
	const char *keys[3];

	open_slot(n, 0);
	keys[0] = n->keys.keys[0];
	keys[1] = new_key(absent, sizeof(absent), 1);
	keys[2] = n->keys.keys[9];
	rbt_nodes_drop(n);
	want_status(n->rb, rb_mget_chunked(n->rb, keys, NULL, 3, NULL, &n->res),
		    RB_OK);
	want_filled(n->res, 0, LEN, 0);
	want_nil(n->res, 1);
	want_filled(n->res, 2, LEN, 9);
	want_covered(n);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
}

static void test_other_slots_do_not_wait_for_the_open_one(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	const char *keys[40];
	char texts[30][16];

	open_slot(n, OPEN / 2);
	for (size_t i = 0; i < 30; i++) {
		snprintf(texts[i], sizeof(texts[i]), "other:%zu", i);
		rbt_nodes_set(n, texts[i], texts[i]);
		keys[i] = texts[i];
	}
	memcpy(keys + 30, n->keys.keys, sizeof(keys[0]) * OPEN);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_mget_chunked(n->rb, keys, NULL, 40, NULL, &n->res),
		    RB_OK);
	for (size_t i = 0; i < 30; i++)
		want_bytes(n->res, i, texts[i], strlen(texts[i]));
	for (size_t i = 0; i < OPEN; i++)
		want_filled(n->res, 30 + i, LEN, i);
	want_covered(n);
	want_asked(n);
}

static void test_the_fields_of_a_hash_are_asked_for(void **state)
{
	static const char *fields[] = { "a", "b" };
	rbt_nodes *n = rbt_nodes_use(state);
	char hash[64];

	open_slot(n, 0);
	new_key(hash, sizeof(hash), 0);
	want_done(n, rbt_cluster_do(n->cluster, TO, "ASKING"));
	want_done(n, rbt_cluster_do(n->cluster, TO, "HSET %s a 1", hash));
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_hmget_chunked(n->rb, hash, strlen(hash), fields, NULL, 2,
				     NULL, &n->res),
		    RB_OK);
	want_text(n->res, 0, "1");
	want_nil(n->res, 1);
	want_asked(n);
}

/* ---------------------------------------------------------------- writes -- */

static void write_two_new(rbt_nodes *n, const rb_options *o)
{
	static const char *values[] = { "one", "two" };
	char keys[2][64], got[16];
	const char *list[2];

	for (int i = 0; i < 2; i++)
		list[i] = new_key(keys[i], sizeof(keys[i]), i);
	rbt_nodes_drop(n);
	want_status(
		n->rb,
		rb_mset_chunked(n->rb, list, NULL, values, NULL, 2, o, &n->res),
		RB_OK);
	for (size_t i = 0; i < 2; i++)
		want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
	want_asked(n);
	close_slot(n);
	for (size_t i = 0; i < 2; i++) {
		rbt_nodes_get(n, list[i], got, sizeof(got));
		assert_string_equal(got, values[i]);
	}
}

static void test_new_pairs_are_applied_while_a_slot_moves(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	open_slot(n, OPEN / 2);
	write_two_new(n, NULL);
}

static void test_pairs_that_expire_are_applied_likewise(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);
	char key[64];

	o.expire_ms = 500000;
	open_slot(n, OPEN / 2);
	write_two_new(n, &o);
	assert_in_range(
		rbt_nodes_number(n, "PTTL", new_key(key, sizeof(key), 0)), 1,
		500000);
}

static void test_conditions_are_asked_where_the_key_is(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rb_options o = rbt_options(0, 0);

	o.flags = RB_IF_ABSENT;
	open_slot(n, OPEN / 2);
	write_two_new(n, &o);
}

static void test_pairs_on_both_sides_are_replaced(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_pairs p;
	char prefix[32];

	rbt_slot_tag(SLOT, prefix, sizeof(prefix));
	open_slot(n, OPEN / 2);
	rbt_pairs_init(&p, prefix, OPEN, LEN + 5);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_mset_chunked(n->rb, p.keys.keys, p.keys.lens, p.values,
				    p.lens, OPEN, NULL, &n->res),
		    RB_OK);
	rbt_pairs_fini(&p);
	for (size_t i = 0; i < OPEN; i++)
		want_written(n->res, i, RB_ANSWERED);
	want_covered(n);
	close_slot(n);
	want_stored(n, 1, LEN + 5);
}

static void test_keys_on_both_sides_are_counted_once(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);

	open_slot(n, OPEN / 2);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_exists_chunked(n->rb, n->keys.keys, n->keys.lens, OPEN,
				      NULL, &n->res),
		    RB_OK);
	assert_int_equal(rb_result_total(n->res), OPEN);
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_unlink_chunked(n->rb, n->keys.keys, n->keys.lens, OPEN,
				      NULL, &n->res),
		    RB_OK);
	assert_int_equal(rb_result_total(n->res), OPEN);
	want_covered(n);
	close_slot(n);
	want_stored(n, 0, LEN);
}

/* -------------------------------------------------------------- pipelines -- */

static void test_the_ok_of_asking_is_nobodys_answer(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_commands c;

	open_slot(n, OPEN / 2);
	rbt_commands_init(&c);
	for (size_t i = 0; i < OPEN; i++) {
		rbt_commands_add(&c, "STRLEN %s", n->keys.keys[i]);
		rbt_commands_add(&c, "EXISTS %s", n->keys.keys[i]);
	}
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_pipeline_chunked(n->rb, c.list, c.n, NULL, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < OPEN; i++) {
		want_reply(n->res, 2 * i, ":20");
		want_reply(n->res, 2 * i + 1, ":1");
	}
	want_covered(n);
	want_asked(n);
}

/* The first command makes the key at the new node, and those behind it must
 * not overtake it. */
static void test_commands_to_a_new_key_keep_their_order(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_commands c;
	char key[64], want[16];

	open_slot(n, 0);
	rbt_commands_init(&c);
	for (int i = 0; i < 50; i++)
		rbt_commands_add(&c, "INCR %s",
				 new_key(key, sizeof(key), i % 2));
	rbt_nodes_drop(n);
	want_status(n->rb,
		    rb_pipeline_chunked(n->rb, c.list, c.n, NULL, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	for (size_t i = 0; i < 50; i++) {
		snprintf(want, sizeof(want), ":%zu", i / 2 + 1);
		want_reply(n->res, i, want);
	}
	want_asked(n);
}

static void test_a_transaction_is_asked_for_as_a_whole(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	rbt_commands c;
	char key[64];

	open_slot(n, 0);
	new_key(key, sizeof(key), 0);
	rbt_commands_init(&c);
	rbt_commands_add(&c, "SET %s 1", key);
	rbt_commands_add(&c, "INCR %s", key);
	rbt_nodes_drop(n);
	want_status(n->rb, rb_transaction(n->rb, c.list, c.n, NULL, &n->res),
		    RB_OK);
	rbt_commands_fini(&c);
	want_reply(n->res, 0, "+OK");
	want_reply(n->res, 1, ":2");
	want_asked(n);
	close_slot(n);
	assert_int_equal(rbt_nodes_number(n, "EXISTS", key), 1);
}

/* ---------------------------------------------------------------- streams -- */

typedef struct flow {
	const rbt_keys *keys;
	size_t given, taken;
} flow;

static int next_key(void *arg, rb_slice *key)
{
	flow *f = arg;

	if (f->given == f->keys->n)
		return 0;
	key->data = f->keys->keys[f->given];
	key->len = f->keys->lens[f->given++];
	return 1;
}

static int take(void *arg, size_t first, const rb_slice *keys,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	flow *f = arg;

	(void)keys;
	assert_int_equal(first, f->taken);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(statuses[i], RB_OK);
		assert_true(rbt_value_is(values[i].data, values[i].len, LEN,
					 first + i));
	}
	f->taken += n;
	return 0;
}

static void test_a_stream_goes_over_both_sides_in_order(void **state)
{
	rbt_nodes *n = rbt_nodes_use(state);
	flow f = { &n->keys, 0, 0 };

	open_slot(n, OPEN / 2);
	want_status(n->rb,
		    rb_mget_stream(n->rb, next_key, &f, take, &f, NULL, NULL),
		    RB_OK);
	assert_int_equal(f.taken, OPEN);
	assert_int_equal(rbt_cluster_errors(n->cluster, "MOVED"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_NODES(test_keys_are_found_on_both_sides),
		RBT_NODES(test_keys_read_one_by_one_are_found_on_both_sides),
		RBT_NODES(test_a_present_and_an_absent_key_come_at_once),
		RBT_NODES(test_other_slots_do_not_wait_for_the_open_one),
		RBT_NODES(test_the_fields_of_a_hash_are_asked_for),
		RBT_NODES(test_new_pairs_are_applied_while_a_slot_moves),
		RBT_NODES(test_pairs_that_expire_are_applied_likewise),
		RBT_NODES(test_conditions_are_asked_where_the_key_is),
		RBT_NODES(test_pairs_on_both_sides_are_replaced),
		RBT_NODES(test_keys_on_both_sides_are_counted_once),
		RBT_NODES(test_the_ok_of_asking_is_nobodys_answer),
		RBT_NODES(test_commands_to_a_new_key_keep_their_order),
		RBT_NODES(test_a_transaction_is_asked_for_as_a_whole),
		RBT_NODES(test_a_stream_goes_over_both_sides_in_order),
	};

	return cmocka_run_group_tests(tests, open_nodes, rbt_nodes_close);
}
