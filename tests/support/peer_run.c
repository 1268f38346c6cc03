/*
 * What the peer's thread does: a script step by step, or a handler's answers.
 */
#include "peer_state.h"
#include "tick.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------- receiving -- */

static uint64_t bound(const rbt_peer *peer)
{
	return rbt_now_us() + (uint64_t)peer->options.give_up_ms * 1000;
}

static rbt_got need_connection(rbt_peer *peer)
{
	rbt_got got;

	if (peer->wire.fd >= 0)
		return RBT_GOT_DONE;
	rbt_request_reset(&peer->request);
	got = rbt_wire_accept(&peer->wire, bound(peer));
	if (got == RBT_GOT_DONE) {
		rbt_peer_lock(peer);
		peer->counts.connections++;
		rbt_peer_unlock_changed(peer);
	}
	return got;
}

/* Once more from the wire into the parser, at most so many bytes. */
static rbt_got receive(rbt_peer *peer, size_t most, uint64_t end_us)
{
	size_t n, size = peer->options.read_size;
	char *room;
	rbt_got got;

	if (size > most)
		size = most;
	room = rbt_request_space(&peer->request, size);
	if (!room)
		return RBT_GOT_ERROR;
	got = rbt_wire_recv(&peer->wire, room, size, &n, end_us);
	if (got == RBT_GOT_DONE) {
		rbt_peer_count_received(peer, room, n);
		rbt_request_filled(&peer->request, n);
	}
	if (got == RBT_GOT_END)
		rbt_peer_count_end(peer);
	return got;
}

static rbt_got read_commands(rbt_peer *peer, size_t want)
{
	uint64_t end_us = bound(peer);
	const rbt_arg *argv;
	size_t argc;
	rbt_got got;
	int r;

	while (want > 0) {
		r = rbt_request_next(&peer->request, &argc, &argv);
		if (r < 0) {
			errno = EBADMSG;
			return RBT_GOT_ERROR;
		}
		if (r > 0) {
			rbt_peer_count_command(peer);
			want--;
			continue;
		}
		got = receive(peer, SIZE_MAX, end_us);
		if (got != RBT_GOT_DONE)
			return got;
	}
	return RBT_GOT_DONE;
}

/* Takes bytes out of the parser's buffer without looking at them. */
static size_t take_buffered(rbt_request *r, size_t most)
{
	size_t n = r->len - r->start;

	if (n > most)
		n = most;
	r->start += n;
	r->pos = r->start;
	r->want = r->nargs = 0;
	return n;
}

static rbt_got read_bytes(rbt_peer *peer, size_t want)
{
	uint64_t end_us = bound(peer);
	rbt_got got;

	want -= take_buffered(&peer->request, want);
	while (want > 0) {
		got = receive(peer, want, end_us);
		if (got != RBT_GOT_DONE)
			return got;
		want -= take_buffered(&peer->request, want);
	}
	return RBT_GOT_DONE;
}

static rbt_got drain(rbt_peer *peer, unsigned ms)
{
	uint64_t end_us = rbt_now_us() + (uint64_t)ms * 1000;
	const rbt_arg *argv;
	size_t argc;
	rbt_got got;
	int r;

	do {
		do {
			r = rbt_request_next(&peer->request, &argc, &argv);
			if (r > 0)
				rbt_peer_count_command(peer);
		} while (r > 0);
		if (r < 0) /* bytes that are no command count as bytes */
			take_buffered(&peer->request, SIZE_MAX);
		got = receive(peer, SIZE_MAX, end_us);
	} while (got == RBT_GOT_DONE);
	return got == RBT_GOT_END || got == RBT_GOT_LATE ? RBT_GOT_DONE : got;
}

/* ---------------------------------------------------------- the script -- */

/* Copies of a short text go out many at a time: a system call for each would
 * take longer than what is tested. */
static rbt_got send_step(rbt_peer *peer, const rbt_step *step)
{
	char block[16384];
	uint64_t end_us = bound(peer);
	rbt_got got = RBT_GOT_DONE;
	size_t copies = step->len > 0 ? sizeof(block) / step->len : 0;

	if (step->n < 2 || copies < 2)
		copies = 1;
	for (size_t i = 0; copies > 1 && i < copies; i++)
		memcpy(block + i * step->len, step->bytes, step->len);
	for (size_t left = step->n; left > 0 && got == RBT_GOT_DONE;) {
		size_t now = left < copies ? left : copies;

		got = rbt_wire_send(&peer->wire,
				    copies > 1 ? block : step->bytes,
				    now * step->len, end_us);
		left -= now;
	}
	return got;
}

static rbt_got pause_ms(rbt_peer *peer, unsigned ms)
{
	rbt_got got = rbt_wire_wait(&peer->wire, -1, 0,
				    rbt_now_us() + (uint64_t)ms * 1000);

	return got == RBT_GOT_LATE ? RBT_GOT_DONE : got;
}

static rbt_got trickle(rbt_peer *peer, const rbt_step *step)
{
	const char *bytes = step->bytes;
	rbt_got got = RBT_GOT_DONE;

	for (size_t i = 0; i < step->len && got == RBT_GOT_DONE; i++) {
		got = rbt_wire_send(&peer->wire, bytes + i, 1, bound(peer));
		if (got == RBT_GOT_DONE && step->ms > 0)
			got = pause_ms(peer, step->ms);
	}
	return got;
}

static rbt_got await_release(rbt_peer *peer)
{
	char byte;
	rbt_got got = rbt_wire_wait(&peer->wire, peer->release[0], POLLIN,
				    bound(peer));

	if (got == RBT_GOT_DONE && read(peer->release[0], &byte, 1) != 1)
		got = RBT_GOT_ERROR;
	return got;
}

static bool needs_connection(rbt_step_kind kind)
{
	return kind != RBT_STEP_DELAY && kind != RBT_STEP_WAIT &&
	       kind != RBT_STEP_CLOSE && kind != RBT_STEP_RESET;
}

static rbt_got play_step(rbt_peer *peer, const rbt_step *step)
{
	rbt_got got = RBT_GOT_DONE;

	if (needs_connection(step->kind))
		got = need_connection(peer);
	if (got != RBT_GOT_DONE)
		return got;
	switch (step->kind) {
	case RBT_STEP_EXPECT:
		return read_commands(peer, step->n);
	case RBT_STEP_SEND:
		return send_step(peer, step);
	case RBT_STEP_TRICKLE:
		return trickle(peer, step);
	case RBT_STEP_DELAY:
		return pause_ms(peer, step->ms);
	case RBT_STEP_READ:
		return read_bytes(peer, step->n);
	case RBT_STEP_DRAIN:
		return drain(peer, step->ms);
	case RBT_STEP_WAIT:
		return await_release(peer);
	case RBT_STEP_SHUT:
		rbt_wire_shut(&peer->wire);
		break;
	case RBT_STEP_CLOSE:
		rbt_wire_close(&peer->wire);
		break;
	case RBT_STEP_RESET:
		rbt_wire_reset(&peer->wire);
		break;
	case RBT_STEP_ACCEPT:
	case RBT_STEP_END:
		break;
	}
	return RBT_GOT_DONE;
}

static const char *got_text(rbt_got got)
{
	switch (got) {
	case RBT_GOT_DONE:
		break;
	case RBT_GOT_STOP:
		return "stopped by the test";
	case RBT_GOT_LATE:
		return "nothing came in time";
	case RBT_GOT_END:
		return "the client closed the connection";
	case RBT_GOT_ERROR:
		return errno == EBADMSG ? "not a RESP request" :
					  strerror(errno);
	}
	return "";
}

static void play_script(rbt_peer *peer)
{
	const rbt_step *script = peer->options.script;
	rbt_got got = RBT_GOT_DONE;

	for (size_t i = 0; script[i].kind != RBT_STEP_END; i++) {
		rbt_peer_lock(peer);
		peer->counts.step = i;
		rbt_peer_unlock_changed(peer);
		got = play_step(peer, &script[i]);
		if (got == RBT_GOT_DONE)
			continue;
		rbt_peer_lock(peer);
		snprintf(peer->problem, sizeof(peer->problem), "step %zu: %s",
			 i, got_text(got));
		rbt_peer_unlock_changed(peer);
		return;
	}
}

/* --------------------------------------------------------- the handler -- */

static rbt_got answer(rbt_peer *peer, size_t argc, const rbt_arg *argv,
		      rbt_reply *reply)
{
	rbt_got got;

	reply->len = 0;
	reply->then = RBT_THEN_GO_ON;
	peer->options.handler(peer->options.handler_arg, argc, argv, reply);
	rbt_peer_count_command(peer);
	got = rbt_wire_send(&peer->wire, reply->buf, reply->len, bound(peer));
	if (got == RBT_GOT_DONE && reply->then == RBT_THEN_RESET)
		rbt_wire_reset(&peer->wire);
	else if (got == RBT_GOT_DONE && reply->then == RBT_THEN_CLOSE)
		rbt_wire_close(&peer->wire);
	return got;
}

/* Until the connection ends, by either side. */
static rbt_got serve_connection(rbt_peer *peer, rbt_reply *reply)
{
	const rbt_arg *argv;
	size_t argc;
	rbt_got got = RBT_GOT_DONE;
	int r;

	while (got == RBT_GOT_DONE && peer->wire.fd >= 0) {
		r = rbt_request_next(&peer->request, &argc, &argv);
		if (r < 0)
			got = RBT_GOT_END;
		else if (r > 0)
			got = answer(peer, argc, argv, reply);
		else
			got = receive(peer, SIZE_MAX, UINT64_MAX / 4);
	}
	rbt_wire_close(&peer->wire);
	return got;
}

static void serve(rbt_peer *peer)
{
	rbt_reply reply;
	rbt_got got;

	rbt_reply_init(&reply);
	do {
		got = need_connection(peer);
		if (got == RBT_GOT_DONE)
			got = serve_connection(peer, &reply);
	} while (got != RBT_GOT_STOP && got != RBT_GOT_ERROR &&
		 peer->wire.listener >= 0);
	rbt_reply_fini(&reply);
}

void *rbt_peer_run(void *arg)
{
	rbt_peer *peer = arg;

	if (peer->options.handler)
		serve(peer);
	else
		play_script(peer);
	rbt_peer_lock(peer);
	peer->counts.over = true;
	rbt_peer_unlock_changed(peer);
	return NULL;
}
