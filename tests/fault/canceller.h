/*
 * Who cancels a call that a scripted peer is busy with, and when: from the
 * peer's thread before it answers a command, or from a thread of its own.
 */
#ifndef CANCELLER_H
#define CANCELLER_H

#include "store.h"
#include "tick.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SOON_US = 2000000, WITHIN_MS = 20 };

static rbt_store store;

/* ------------------------------------------------------------- who cancels -- */

/* Whom, when it was done, and where in the peer's work. */
static rb_client *_Atomic target;
static atomic_ullong moment_us;
static atomic_size_t cancel_at;

static inline void cancel_now(void)
{
	atomic_store(&moment_us, rbt_now_us());
	rb_client_cancel(atomic_load(&target));
}

/* From the peer's thread, before it answers a command. */
static inline void cancel_at_command(void *arg, size_t ncommands)
{
	(void)arg;
	if (ncommands == atomic_load(&cancel_at))
		cancel_now();
}

/* From a thread of its own, a little after the peer has seen so much. */
typedef struct watcher {
	pthread_t thread;
	rbt_peer *peer;
	size_t commands, connections, steps;
} watcher;

static inline void *watch(void *arg)
{
	watcher *w = arg;

	if (w->commands > 0)
		rbt_peer_await_commands(w->peer, w->commands, 20000);
	if (w->steps > 0)
		rbt_peer_await_step(w->peer, w->steps, 20000);
	for (int i = 0; w->peer && i < 20000 &&
			rbt_peer_connections(w->peer) < w->connections;
	     i++)
		rbt_sleep_ms(1);
	/* Into the wait that follows; should it be over, the test asserts no
	 * less. */
	rbt_sleep_ms(WITHIN_MS);
	cancel_now();
	return NULL;
}

static inline void start(watcher *w)
{
	assert_int_equal(pthread_create(&w->thread, NULL, watch, w), 0);
}

static inline void join(watcher *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
}

/* The call, which has just returned, did so soon. */
static inline void want_soon(const char *what)
{
	uint64_t us = rbt_now_us() - atomic_load(&moment_us);

	print_message("cancelled %s: back after %u.%03u ms\n", what,
		      (unsigned)(us / 1000), (unsigned)(us % 1000));
	assert_in_range(us, 0, SOON_US);
}

/* ------------------------------------------------------------ the scene -- */

static inline void begin(rbt_scene *s, size_t at, const rb_options *o)
{
	rbt_scene_rest(s);
	store.nkeys = 100;
	store.value_len = 4;
	store.hook = cancel_at_command;
	atomic_store(&cancel_at, at);
	if (store.closed)
		rbt_store_open(&store, s, o);
	else
		rbt_store_wrap(&store, s);
	atomic_store(&target, s->rb);
}

static inline void clear(rbt_scene *s)
{
	rbt_scene_rest(s);
	memset(&store, 0, sizeof(store));
}

/* A call on an own client goes well again. */
static inline void want_well(rbt_scene *s)
{
	rb_options o = rbt_options(0, 0);

	want_status(s->rb, rbt_scene_read(s, 6, &o), RB_OK);
	want_loaded(s->res, 6, 4);
}

/* Nothing of a wrapped context is in between. */
static inline void want_settled(rbt_scene *s)
{
	if (s->ctx->err == 0)
		rbt_scene_want_pong(s);
	else
		rbt_scene_want_broken(s);
}

#endif
