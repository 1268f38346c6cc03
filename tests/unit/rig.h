/*
 * An engine on a bench: its clock is turned by hand, its socket is played.
 *
 * The context is a real one, over a socketpair, so that it can be broken; but
 * bytes go through rbi_sys functions of our own. Sends follow a list of what
 * each call does. Receives come from a list of arrivals, each of which waits
 * for its time and for so many bytes to have been sent. Or a small server
 * makes the arrivals: it answers each command with the same value for every
 * key, rtt_us after it came and service_us after the answer before. Or a
 * function of the test's plays the server, and a connection that it ends may be
 * made anew (rig_redial).
 *
 * Polling turns the clock to the next thing that happens, so nothing ever
 * sleeps, and a wait without an end for nothing fails the test.
 */
#ifndef RBT_RIG_H
#define RBT_RIG_H

#include "count.h"
#include "engine.h"
#include "keys.h"
#include "options.h"
#include "pair.h"
#include "peer_reply.h"
#include "peer_request.h"
#include "unit.h"

#define RIG_END (-1)
#define RIG_BEGIN_US 1000000
#define RIG_SPINS 2000000

typedef struct rig_arrival {
	uint64_t at_us;
	size_t after; /* bytes sent before it comes */
	char *bytes;
	size_t len;
	int error; /* RIG_END, an errno, or 0: bytes */
	bool is_answer;
} rig_arrival;

typedef struct rig rig;

/* Puts the answer to one command into reply, and what follows it into
 * reply->then; nothing: no answer. */
typedef void rig_server(rig *r, size_t argc, const rbt_arg *argv,
			rbt_reply *reply);

struct rig {
	pair pair;
	uint64_t now_us;
	rbi_clock clock;

	/* What each send does: 0 takes all, n at most n bytes, -n fails with
	 * errno n. Behind the end: all. */
	const int *sends;
	size_t nsends;
	size_t sends_done;
	bool deaf; /* no send takes anything */
	char *sent;
	size_t nsent;
	size_t sent_cap;

	rig_arrival *arrivals;
	size_t narrivals;
	size_t arrivals_cap;
	size_t first;
	size_t taken;	 /* bytes of the first */
	size_t recv_max; /* of one receive; 0: any */

	rig_server *server; /* NULL: none of the test's */
	void *server_arg;
	bool closed;	  /* it hears nothing more on this connection */
	size_t redials;	  /* how often a new one was asked for */
	size_t unwilling; /* so many of the first are refused */
	rb_status why_not;

	const char *value; /* of the small server; NULL: there is none */
	size_t value_len;
	uint64_t rtt_us;
	uint64_t service_us;
	uint64_t free_at_us;
	rbt_request request;
	size_t commands;
	size_t answers;
	size_t most_in_flight;
	uint64_t sent_at_us[2000]; /* when each command was whole */
	size_t spins;

	rbt_count count;
	keys keys;
	rbi_batch batch;
	rb_options options;
	rbi_lane lane;
	rbi_transport transport;
	rbi_array_feed feed;
	rbi_engine engine;
	rbi_learned learned;
	rbi_limits limits;
	rb_result *res;
};

static rig *rig_now;

/* ------------------------------------------------------------- arrivals -- */

static inline rig_arrival *rig_arrive(rig *r)
{
	rig_arrival *a;

	if (r->narrivals == r->arrivals_cap) {
		r->arrivals_cap = 2 * r->arrivals_cap + 8;
		r->arrivals =
			realloc(r->arrivals, r->arrivals_cap * sizeof(*a));
		assert_non_null(r->arrivals);
	}
	a = &r->arrivals[r->narrivals++];
	memset(a, 0, sizeof(*a));
	return a;
}

/* Bytes that come once after bytes were sent. */
static inline rig_arrival *rig_say_bytes(rig *r, size_t after,
					 const char *bytes, size_t len)
{
	rig_arrival *a = rig_arrive(r);

	a->after = after;
	a->bytes = exact_copy(bytes, len);
	a->len = len;
	return a;
}

static inline rig_arrival *rig_say(rig *r, size_t after, const char *text)
{
	return rig_say_bytes(r, after, text, strlen(text));
}

/* RIG_END or an errno. */
static inline rig_arrival *rig_fail(rig *r, size_t after, int error)
{
	rig_arrival *a = rig_arrive(r);

	a->after = after;
	a->error = error;
	return a;
}

static inline rig_arrival *rig_next_arrival(const rig *r)
{
	if (r->first == r->narrivals || r->arrivals[r->first].after > r->nsent)
		return NULL;
	return &r->arrivals[r->first];
}

/* ---------------------------------------------------------- the server -- */

/* The same value for every key. */
static inline void rig_serve_values(rig *r, size_t argc, rbt_reply *reply)
{
	size_t nkeys = argc - rbi_batch_fixed_args(&r->batch);
	size_t i;

	rbt_reply_array(reply, nkeys);
	for (i = 0; i < nkeys; i++)
		rbt_reply_bulk(reply, r->value, r->value_len);
}

static inline void rig_arrive_reply(rig *r, const rbt_reply *reply)
{
	rig_arrival *a = rig_arrive(r);

	a->bytes = exact_copy(reply->buf, reply->len);
	a->len = reply->len;
	a->is_answer = true;
	a->at_us = r->now_us + r->rtt_us;
	if (a->at_us < r->free_at_us + r->service_us)
		a->at_us = r->free_at_us + r->service_us;
	r->free_at_us = a->at_us;
}

static inline void rig_arrive_end(rig *r, rbt_then then)
{
	rig_arrival *a = rig_arrive(r);

	a->error = then == RBT_THEN_RESET ? ECONNRESET : RIG_END;
	a->at_us = r->free_at_us;
	r->closed = true;
}

static inline void rig_answer(rig *r, size_t argc, const rbt_arg *argv)
{
	rbt_reply reply;

	rbt_reply_init(&reply);
	if (r->server != NULL)
		r->server(r, argc, argv, &reply);
	else
		rig_serve_values(r, argc, &reply);
	if (reply.len > 0)
		rig_arrive_reply(r, &reply);
	if (reply.then != RBT_THEN_GO_ON)
		rig_arrive_end(r, reply.then);
	rbt_reply_fini(&reply);
}

static inline void rig_hear(rig *r, const char *bytes, size_t n)
{
	const rbt_arg *argv;
	size_t argc;
	char *room = rbt_request_space(&r->request, n);

	assert_non_null(room);
	memcpy(room, bytes, n);
	rbt_request_filled(&r->request, n);
	while (!r->closed && rbt_request_next(&r->request, &argc, &argv) == 1) {
		r->sent_at_us[r->commands % N_OF(r->sent_at_us)] = r->now_us;
		r->commands++;
		if (r->commands - r->answers > r->most_in_flight)
			r->most_in_flight = r->commands - r->answers;
		if (r->value != NULL || r->server != NULL)
			rig_answer(r, argc, argv);
	}
}

/* --------------------------------------------------------- system calls -- */

static inline void rig_note_sent(rig *r, const char *bytes, size_t n)
{
	while (r->sent_cap - r->nsent < n) {
		r->sent_cap = 2 * r->sent_cap + 1024;
		r->sent = realloc(r->sent, r->sent_cap);
		assert_non_null(r->sent);
	}
	memcpy(r->sent + r->nsent, bytes, n);
	r->nsent += n;
	rig_hear(r, bytes, n);
}

static inline ssize_t rig_send(int fd, const struct msghdr *msg, int flags)
{
	rig *r = rig_now;
	int act = r->sends_done < r->nsends ? r->sends[r->sends_done++] : 0;
	size_t room = act > 0 ? (size_t)act : SIZE_MAX;
	size_t took = 0;
	size_t i;

	assert_int_equal(fd, r->pair.ctx->fd);
	assert_int_equal(flags, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (act < 0 || r->deaf) {
		errno = r->deaf ? EAGAIN : -act;
		return -1;
	}
	for (i = 0; i < (size_t)msg->msg_iovlen && room > took; i++) {
		size_t n = rbi_min(msg->msg_iov[i].iov_len, room - took);

		rig_note_sent(r, msg->msg_iov[i].iov_base, n);
		took += n;
	}
	assert_true(took > 0);
	return (ssize_t)took;
}

static inline ssize_t rig_take(rig *r, rig_arrival *a, void *buf, size_t len)
{
	size_t n = rbi_min(len, a->len - r->taken);

	if (r->recv_max > 0)
		n = rbi_min(n, r->recv_max);
	memcpy(buf, a->bytes + r->taken, n);
	r->taken += n;
	if (r->taken == a->len) {
		r->answers += a->is_answer;
		r->first++;
		r->taken = 0;
	}
	return (ssize_t)n;
}

static inline ssize_t rig_recv(int fd, void *buf, size_t len, int flags)
{
	rig *r = rig_now;
	rig_arrival *a = rig_next_arrival(r);

	assert_int_equal(fd, r->pair.ctx->fd);
	assert_true((flags & MSG_DONTWAIT) != 0);
	assert_true(len > 0);
	if (a == NULL || a->at_us > r->now_us || (flags & MSG_PEEK) != 0) {
		errno = EAGAIN;
		return -1;
	}
	if (a->error == 0)
		return rig_take(r, a, buf, len);
	if (a->error == RIG_END)
		return 0;
	if (a->error == EINTR || a->error == EAGAIN)
		r->first++;
	errno = a->error;
	return -1;
}

static inline int rig_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	rig *r = rig_now;
	/* It waits for the time alone while it has no connection. */
	bool pause = fds[0].fd != r->pair.ctx->fd;
	rig_arrival *a = pause ? NULL : rig_next_arrival(r);
	uint64_t until = UINT64_MAX;

	/* The other is what a client is woken by. */
	assert_in_range(n, 1, 2);
	assert_true((fds[0].events & POLLIN) != 0);
	assert_true(++r->spins < RIG_SPINS);
	if ((fds[0].events & POLLOUT) != 0 && !r->deaf)
		return 1;
	if (a != NULL && a->at_us <= r->now_us)
		return 1;
	if (timeout_ms >= 0)
		until = r->now_us + (uint64_t)timeout_ms * 1000;
	if (a != NULL && a->at_us < until)
		until = a->at_us;
	if (until == UINT64_MAX)
		fail_msg("it waits for ever");
	r->now_us = until;
	return a != NULL && a->at_us <= until;
}

static const rbi_sys rig_sys = { rig_send, rig_recv, rig_poll };

static inline uint64_t rig_clock(void *arg)
{
	const rig *r = arg;

	return r->now_us;
}

/* ------------------------------------------------------------ the bench -- */

/* A batch of nkeys keys of keylen bytes, with one key a chunk and a window of
 * one until the test says otherwise. */
static inline void rig_init(rig *r, size_t nkeys, size_t keylen)
{
	rb_options none;

	memset(r, 0, sizeof(*r));
	rig_now = r;
	pair_init(&r->pair);
	r->now_us = RIG_BEGIN_US;
	r->clock.now_us = rig_clock;
	r->clock.arg = r;
	rbt_request_init(&r->request);
	rbt_count_init(&r->count);
	keys_init(&r->keys, nkeys, NULL, keylen);
	r->batch = keys_mget(&r->keys);
	rb_options_init(&none);
	rb_options_init(&r->options);
	rbi_options_fill(&r->options, &none);
	r->options.chunk_keys = 1;
	r->options.window = 1;
	rbi_lane_init(&r->lane, &r->count.allocator);
	r->engine.deadline_us = RBI_NEVER;
}

static inline void rig_serve(rig *r, const char *value, size_t len,
			     uint64_t rtt_us, uint64_t service_us)
{
	r->value = value;
	r->value_len = len;
	r->rtt_us = rtt_us;
	r->service_us = service_us;
}

static inline void rig_play(rig *r, rig_server *server, void *arg)
{
	r->server = server;
	r->server_arg = arg;
	r->rtt_us = 1000;
}

/* What was said on the old connection and not received is gone with it. */
static inline void rig_forget_arrivals(rig *r)
{
	r->first = r->narrivals;
	r->taken = 0;
	r->answers = r->commands;
	r->closed = false;
	rbt_request_reset(&r->request);
}

/* For rbi_engine.redial: the next connection, unless the test is unwilling. */
static inline rb_status rig_redial(void *arg, uint64_t deadline_us,
				   rbi_transport *transport, char *why,
				   size_t why_size)
{
	const char *problem = NULL;
	rig *r = arg;

	assert_int_equal(deadline_us, r->engine.deadline_us);
	r->redials++;
	if (r->redials <= r->unwilling) {
		rbi_print(why, why_size, "unwilling");
		return r->why_not;
	}
	assert_true(pair_is_ended(&r->pair));
	pair_fini(&r->pair);
	pair_init(&r->pair);
	rig_forget_arrivals(r);
	return rbi_transport_take(transport, r->pair.ctx, &rig_sys,
				  rbi_transport_plain(), &problem);
}

/* From now on lost connections are made anew. */
static inline void rig_renew(rig *r)
{
	r->engine.redial = rig_redial;
	r->engine.redial_arg = r;
}

/* False: no memory for a result. */
static inline bool rig_begin(rig *r)
{
	const char *problem = NULL;

	assert_status(rbi_transport_take(&r->transport, r->pair.ctx, &rig_sys,
					 rbi_transport_plain(), &problem),
		      RB_OK);
	r->res = rbi_result_new(&r->count.allocator, r->batch.n, 1, "node");
	if (r->res == NULL)
		return false;
	r->engine.options = &r->options;
	rbi_array_feed_init(&r->feed, &r->batch, r->res);
	r->engine.batch = &r->batch;
	r->engine.feed = &r->feed.feed;
	r->engine.result = r->res;
	r->engine.lane = &r->lane;
	r->engine.transport = &r->transport;
	r->engine.learned = &r->learned;
	r->engine.limits = &r->limits;
	rbi_engine_begin(&r->engine);
	return true;
}

static inline void rig_run(rig *r)
{
	assert_true(rig_begin(r));
	rbi_engine_run(&r->engine, &r->clock);
	assert_true(r->engine.over);
	assert_int_equal(r->lane.count, 0);
}

static inline void rig_fini(rig *r)
{
	size_t i;

	for (i = 0; i < r->narrivals; i++)
		free(r->arrivals[i].bytes);
	free(r->arrivals);
	free(r->sent);
	rbt_request_fini(&r->request);
	rbi_lane_fini(&r->lane);
	rb_result_free(r->res);
	assert_int_equal(r->count.live_blocks, 0);
	keys_fini(&r->keys);
	pair_fini(&r->pair);
}

/* The bytes of the command for key i alone. */
static inline size_t rig_size(const rig *r, size_t i)
{
	size_t size;
	char *command = print_command(&r->batch, i, 1, &size);

	assert_true(size > 0);
	free(command);
	return size;
}

/* ---------------------------------------------------------------- looks -- */

static inline bool rig_is_broken(const rig *r)
{
	bool broken = rbi_transport_is_broken(r->pair.ctx);

	assert_int_equal(pair_is_ended(&r->pair), broken);
	return broken;
}

/* All that can be said of any call: each entry is in one chunk, and what the
 * entry says fits its chunk. The number of entries that failed. */
static inline size_t rig_check_sums(const rig *r)
{
	size_t next = 0;
	size_t failed = 0;
	size_t i;

	for (i = 0; i < rb_result_chunks(r->res); i++) {
		const rb_chunk *chunk = rb_result_chunk(r->res, i);

		assert_int_equal(chunk->first, next);
		assert_true(chunk->count > 0);
		assert_non_null(chunk->message);
		if (chunk->status == RB_ERR_SKIPPED)
			assert_outcome(chunk->outcome, RB_NOT_SENT);
		if (chunk->outcome == RB_UNKNOWN)
			assert_true(chunk->attempts >= 1);
		next += chunk->count;
	}
	assert_int_equal(next, r->batch.n);
	for (i = 0; i < r->batch.n; i++) {
		failed += rb_result_status(r->res, i) != RB_OK;
		if (rb_result_status(r->res, i) != RB_OK)
			assert_null(rb_result_value(r->res, i).data);
	}
	assert_int_equal(rb_result_failed(r->res), failed);
	return failed;
}

static inline void rig_check_chunk(const rig *r, size_t i, rb_status status,
				   rb_outcome outcome, const char *words)
{
	const rb_chunk *chunk = rb_result_chunk(r->res, i);

	assert_non_null(chunk);
	assert_status(chunk->status, status);
	assert_outcome(chunk->outcome, outcome);
	if (*words == '\0')
		assert_string_equal(chunk->message, "");
	else if (strstr(chunk->message, words) == NULL)
		fail_msg("chunk %zu: \"%s\" is not in: %s", i, words,
			 chunk->message);
}

/* How many chunks ended in this way. */
static inline size_t rig_count_outcome(const rig *r, rb_outcome outcome)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < rb_result_chunks(r->res); i++)
		n += rb_result_chunk(r->res, i)->outcome == outcome;
	return n;
}

/* What was sent is exactly the commands for entries 0 .. n - 1, count each. */
static inline void rig_check_commands(const rig *r, size_t n, size_t count)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < n; i += count) {
		size_t left = n - i < count ? n - i : count;
		size_t size;
		char *command = print_command(&r->batch, i, left, &size);

		assert_true(r->nsent - at >= size);
		assert_memory_equal(r->sent + at, command, size);
		at += size;
		free(command);
	}
	assert_int_equal(at, r->nsent);
}

#endif
