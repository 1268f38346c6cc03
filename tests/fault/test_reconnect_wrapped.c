/*
 * Wrapped contexts that are lost, and the callback that gives others.
 */
#include "store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef enum way {
	WAY_FRESH,     /* a new context, the lost one is kept */
	WAY_FREE,      /* a new context, the lost one is freed at once */
	WAY_SAME,      /* the lost one, reconnected */
	WAY_NO,	       /* says no */
	WAY_NOTHING,   /* says yes and gives none */
	WAY_FAILED,    /* a context in error */
	WAY_NONBLOCK,  /* one that does not block */
	WAY_UNCHANGED, /* the lost one as it is */
	WAY_BUSY       /* one with a command of the caller's in it */
} way;

/* What the callback has done; the contexts are freed behind the client. */
typedef struct giver {
	way way;
	int port;
	size_t calls;
	redisContext *made[16];
	size_t nmade;
	redisContext *last; /* what the client wraps now */
	rb_client *rb;	    /* for who cancels it */
} giver;

static rbt_store store;

static void log_in(redisContext *ctx)
{
	redisReply *reply = redisCommand(ctx, "AUTH pw");

	assert_non_null(reply);
	freeReplyObject(reply);
	reply = redisCommand(ctx, "SELECT 3");
	assert_non_null(reply);
	freeReplyObject(reply);
}

static redisContext *make(giver *g)
{
	redisContext *ctx = redisConnect("127.0.0.1", g->port);

	assert_non_null(ctx);
	assert_int_equal(ctx->err, 0);
	assert_true(g->nmade < COUNT(g->made));
	g->made[g->nmade++] = ctx;
	return ctx;
}

static void forget(giver *g, redisContext *ctx)
{
	for (size_t i = 0; i < g->nmade; i++)
		if (g->made[i] == ctx)
			g->made[i] = g->made[--g->nmade];
}

static int give(void *arg, redisContext *lost, redisContext **fresh)
{
	giver *g = arg;

	assert_non_null(lost);
	assert_ptr_equal(lost, g->last);
	assert_true(lost->err != 0 || g->way == WAY_NONBLOCK ||
		    g->way == WAY_BUSY);
	assert_null(*fresh);
	g->calls++;
	switch (g->way) {
	case WAY_FRESH:
	case WAY_FREE:
		if (g->way == WAY_FREE) {
			forget(g, lost);
			redisFree(lost);
		}
		*fresh = make(g);
		log_in(*fresh);
		break;
	case WAY_SAME:
		assert_int_equal(redisReconnect(lost), REDIS_OK);
		log_in(lost);
		*fresh = lost;
		break;
	case WAY_NO:
		return -1;
	case WAY_NOTHING:
		return 0;
	case WAY_FAILED:
		*fresh = make(g);
		(*fresh)->err = REDIS_ERR_OTHER;
		/* The peer serves one after another. */
		shutdown((*fresh)->fd, SHUT_RDWR);
		break;
	case WAY_NONBLOCK:
		*fresh = redisConnectNonBlock("127.0.0.1", g->port);
		g->made[g->nmade++] = *fresh;
		break;
	case WAY_UNCHANGED:
		*fresh = lost;
		break;
	case WAY_BUSY:
		*fresh = make(g);
		redisAppendCommand(*fresh, "PING");
		break;
	}
	g->last = *fresh;
	return 0;
}

/* A peer, and a client over a context of the giver's that is logged in. */
static void begin(rbt_scene *s, giver *g, way how, const size_t *budgets,
		  size_t n)
{
	rb_options defaults = rbt_options(0, 0);

	rbt_scene_rest(s);
	memset(&store, 0, sizeof(store));
	store.nkeys = 9;
	store.value_len = 4;
	store.closed = true;
	store.budgets = budgets;
	store.nbudgets = n;
	rbt_store_open(&store, s, NULL);
	rb_client_free(s->rb);
	memset(g, 0, sizeof(*g));
	g->way = how;
	g->port = rbt_peer_port(s->peer);
	g->last = make(g);
	log_in(g->last);
	defaults.allocator = &s->count.allocator;
	assert_int_equal(rb_client_wrap(&s->rb, g->last, &defaults), RB_OK);
}

static rb_options with(giver *g, size_t chunk_keys)
{
	rb_options o = rbt_options(chunk_keys, 1);

	o.reconnect = give;
	o.reconnect_arg = g;
	return o;
}

static void end(rbt_scene *s, giver *g)
{
	rb_client_free(s->rb);
	s->rb = NULL;
	while (g->nmade > 0)
		redisFree(g->made[--g->nmade]);
	rbt_scene_rest(s);
	store.budgets = NULL;
}

static rb_stats stats_of(const rb_result *res)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	assert_int_equal(rb_result_stats(res, &stats), RB_OK);
	return stats;
}

static const way good[] = { WAY_FRESH, WAY_FREE, WAY_SAME };

/* -------------------------------------------------------------- good ones -- */

static void test_another_context_takes_the_place_of_one_lost(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(good); i++) {
		for (size_t at = 11; at < 100; at += 11) {
			size_t budgets[] = { at, 45 };
			giver g;
			rb_options o;

			begin(s, &g, good[i], budgets, 2);
			o = with(&g, 3);
			want_status(s->rb, rbt_scene_read(s, 9, &o), RB_OK);
			want_loaded(s->res, 9, 4);
			want_sound(s->res);
			assert_in_range(g.calls, 1, 2);
			assert_int_equal(stats_of(s->res).reconnects, g.calls);
			/* From then on it is the client's. */
			want_status(s->rb, rbt_scene_read(s, 9, &o), RB_OK);
			want_loaded(s->res, 9, 4);
			assert_int_equal(g.last->err, 0);
			end(s, &g);
		}
	}
}

static void test_nothing_is_asked_for_twice_that_had_arrived(void **state)
{
	static const size_t budgets[] = { 45, 35 };
	rbt_scene *s = rbt_scene_use(state);
	giver g;
	rb_options o;

	begin(s, &g, WAY_FRESH, budgets, 2);
	o = with(&g, 9);
	want_status(s->rb, rbt_scene_read(s, 9, &o), RB_OK);
	want_loaded(s->res, 9, 4);
	end(s, &g);
	assert_int_equal(store.again, 0);
	assert_int_equal(store.logins, 3);
}

/* Lost by a call without the callback, made anew by the next one with it. */
static void test_a_context_that_is_broken_already_is_made_anew(void **state)
{
	static const size_t budgets[] = { 21 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(good); i++) {
		giver g;
		rb_options o;

		begin(s, &g, good[i], budgets, 1);
		o = with(&g, 9);
		want_status(s->rb, rbt_scene_read(s, 9, NULL), RB_ERR_IO);
		assert_int_equal(g.calls, 0);
		want_status(s->rb, rbt_scene_read(s, 9, NULL), RB_ERR_INVALID);
		want_status(s->rb, rbt_scene_read(s, 9, &o), RB_OK);
		want_loaded(s->res, 9, 4);
		assert_int_equal(g.calls, 1);
		end(s, &g);
	}
}

static void test_without_the_callback_a_lost_context_ends_the_call(void **state)
{
	static const size_t budgets[] = { 10 + 4 + 2 * 10 };
	rbt_scene *s = rbt_scene_use(state);
	giver g;

	begin(s, &g, WAY_NO, budgets, 1);
	want_status(s->rb, rbt_scene_read(s, 9, NULL), RB_ERR_IO);
	want_words(rb_client_error(s->rb), "closed the connection");
	want_filled(s->res, 1, 4, 1);
	want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
	assert_int_equal(stats_of(s->res).reconnects, 0);
	assert_int_equal(rbt_peer_connections(s->peer), 1);
	assert_int_not_equal(g.last->err, 0);
	assert_null(redisCommand(g.last, "PING"));
	end(s, &g);
	assert_int_equal(g.calls, 0);
}

/* --------------------------------------------------------------- bad ones -- */

static const struct {
	way way;
	size_t calls;	  /* of three attempts, in the middle of a call */
	rb_status begins; /* what a call answers that begins so */
} bad[] = {
	{ WAY_NO, 1, RB_ERR_CONNECT },
	{ WAY_NOTHING, 1, RB_ERR_CONNECT },
	{ WAY_FAILED, 2, RB_ERR_INVALID },
	{ WAY_NONBLOCK, 2, RB_ERR_INVALID },
	{ WAY_UNCHANGED, 2, RB_ERR_INVALID },
	{ WAY_BUSY, 2, RB_ERR_BUSY },
};

static void test_a_callback_that_has_none_ends_the_call(void **state)
{
	static const size_t budgets[] = { 10 + 4 + 2 * 10 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(bad); i++) {
		giver g;
		rb_options o;

		begin(s, &g, bad[i].way, budgets, 1);
		o = with(&g, 9);
		want_status(s->rb, rbt_scene_read(s, 9, &o), RB_ERR_IO);
		want_words(rb_client_error(s->rb), "no new one");
		want_sound(s->res);
		want_filled(s->res, 0, 4, 0);
		want_filled(s->res, 1, 4, 1);
		want_failed(s->res, 2, RB_ERR_IO, RB_UNKNOWN);
		assert_in_range(g.calls, 1, bad[i].calls);
		assert_int_equal(stats_of(s->res).reconnects, 0);
		end(s, &g);
	}
}

static void test_a_callback_that_has_none_at_the_beginning(void **state)
{
	static const size_t budgets[] = { 21 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(bad); i++) {
		giver g;
		rb_options o;

		begin(s, &g, bad[i].way, budgets, 1);
		o = with(&g, 9);
		want_status(s->rb, rbt_scene_read(s, 9, NULL), RB_ERR_IO);
		want_status(s->rb, rbt_scene_read(s, 9, &o), bad[i].begins);
		assert_null(s->res);
		assert_int_not_equal(rb_client_error(s->rb)[0], '\0');
		assert_int_equal(g.calls, 1);
		end(s, &g);
		assert_int_equal(store.commands, 1);
	}
}

/* The lost one is not touched again, whatever is given in its place. */
static int free_and_refuse(void *arg, redisContext *lost, redisContext **fresh)
{
	giver *g = arg;

	(void)fresh;
	g->calls++;
	forget(g, lost);
	redisFree(lost);
	return -1;
}

static void test_a_context_that_was_freed_is_not_touched_again(void **state)
{
	static const size_t budgets[] = { 10 + 4 + 2 * 10 };
	rbt_scene *s = rbt_scene_use(state);
	giver g;
	rb_options o;

	begin(s, &g, WAY_NO, budgets, 1);
	o = with(&g, 9);
	o.reconnect = free_and_refuse;
	want_status(s->rb, rbt_scene_read(s, 9, &o), RB_ERR_IO);
	want_filled(s->res, 1, 4, 1);
	assert_int_equal(g.calls, 1);
	want_status(s->rb, rbt_scene_read(s, 9, NULL), RB_ERR_INVALID);
	end(s, &g);
}

/* A context that works at the third try. */
static int give_late(void *arg, redisContext *lost, redisContext **fresh)
{
	giver *g = arg;

	g->way = g->calls < 2 ? WAY_FAILED : WAY_FRESH;
	return give(arg, lost, fresh);
}

static void test_a_callback_is_asked_as_often_as_attempts_say(void **state)
{
	static const size_t budgets[] = { 21 };
	rbt_scene *s = rbt_scene_use(state);

	for (uint32_t attempts = 1; attempts <= 4; attempts++) {
		giver g;
		rb_options o;

		begin(s, &g, WAY_FRESH, budgets, 1);
		o = with(&g, 9);
		o.reconnect = give_late;
		o.attempts = attempts;
		want_status(s->rb, rbt_scene_read(s, 9, &o),
			    attempts < 4 ? RB_ERR_IO : RB_OK);
		assert_int_equal(g.calls, attempts - 1);
		end(s, &g);
	}
}

/* A bad one each time, and no bound but the deadline. */
static void test_the_deadline_holds_between_bad_ones(void **state)
{
	static const size_t budgets[] = { 10 + 4 + 2 * 10 };
	rbt_scene *s = rbt_scene_use(state);
	giver g;
	rb_options o;

	begin(s, &g, WAY_UNCHANGED, budgets, 1);
	o = with(&g, 9);
	o.timeout_ms = 500;
	o.attempts = 1000000;
	want_status(s->rb, rbt_scene_read(s, 9, &o), RB_ERR_TIMEOUT);
	want_sound(s->res);
	want_filled(s->res, 1, 4, 1);
	assert_int_equal(rb_result_failed(s->res), 7);
	assert_true(g.calls > 1);
	end(s, &g);
}

/* Cancelled meanwhile: the new one is the client's, and nothing was sent. */
static int give_and_cancel(void *arg, redisContext *lost, redisContext **fresh)
{
	giver *g = arg;
	int said = give(arg, lost, fresh);

	rb_client_cancel(g->rb);
	return said;
}

static void test_a_cancel_while_the_callback_is_at_work(void **state)
{
	static const size_t budgets[] = { 10 + 4 + 2 * 10 };
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(good); i++) {
		giver g;
		rb_options o;

		begin(s, &g, good[i], budgets, 1);
		g.rb = s->rb;
		o = with(&g, 9);
		o.reconnect = give_and_cancel;
		want_status(s->rb, rbt_scene_read(s, 9, &o), RB_ERR_CANCELLED);
		want_sound(s->res);
		want_filled(s->res, 1, 4, 1);
		assert_int_equal(rb_result_failed(s->res), 7);
		assert_int_equal(g.calls, 1);
		assert_int_equal(g.last->err, 0);
		want_status(s->rb, rbt_scene_read(s, 9, NULL), RB_OK);
		want_loaded(s->res, 9, 4);
		end(s, &g);
		assert_int_equal(store.commands, 2);
	}
}

/* ------------------------------------------------------------ other nodes -- */

static void test_reports_name_the_node_that_answered(void **state)
{
	static const size_t budgets[] = { 10 + 14 + 1 };
	static rbt_store second;
	rbt_peer_options p = { .family = RBT_TCP,
			       .handler = rbt_store_answer,
			       .handler_arg = &second };
	rbt_peer *other;
	char node[32];
	rbt_scene *s = rbt_scene_use(state);
	giver g;
	rb_options o;

	memset(&second, 0, sizeof(second));
	second.nkeys = 9;
	second.value_len = 4;
	second.closed = true;
	other = rbt_peer_start(&p);
	assert_non_null(other);
	begin(s, &g, WAY_FRESH, budgets, 1);
	g.port = rbt_peer_port(other);
	o = with(&g, 1);
	want_status(s->rb, rbt_scene_read(s, 9, &o), RB_OK);
	snprintf(node, sizeof(node), "127.0.0.1:%d", g.port);
	for (size_t i = 0; i < 9; i++)
		if (i > 0)
			assert_string_equal(rb_result_chunk(s->res, i)->node,
					    node);
		else
			assert_string_not_equal(
				rb_result_chunk(s->res, i)->node, node);
	end(s, &g);
	rbt_peer_stop(other);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_another_context_takes_the_place_of_one_lost),
		RBT_SCENE(test_nothing_is_asked_for_twice_that_had_arrived),
		RBT_SCENE(test_a_context_that_is_broken_already_is_made_anew),
		RBT_SCENE(
			test_without_the_callback_a_lost_context_ends_the_call),
		RBT_SCENE(test_a_callback_that_has_none_ends_the_call),
		RBT_SCENE(test_a_callback_that_has_none_at_the_beginning),
		RBT_SCENE(test_a_context_that_was_freed_is_not_touched_again),
		RBT_SCENE(test_a_callback_is_asked_as_often_as_attempts_say),
		RBT_SCENE(test_the_deadline_holds_between_bad_ones),
		RBT_SCENE(test_a_cancel_while_the_callback_is_at_work),
		RBT_SCENE(test_reports_name_the_node_that_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
