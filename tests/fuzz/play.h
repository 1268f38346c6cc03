/*
 * A connection that is played: the peer's bytes are the input.
 *
 * The context is one over a real socketpair, made once, so that it can be
 * broken; but bytes go through rbi_sys functions. The peer's bytes come in
 * pieces, one each time that the library waits, and so after what it had to
 * send has left; a byte 0xff ends a piece and is none of it. Behind the last
 * one comes the end of the connection, an error, or silence until the deadline.
 * Sends take part of what is offered, all of it, or fail from some byte on.
 *
 * The clock is turned by waiting: a millisecond, and what was waited for. What both sides said is
 * counted, in commands and in answers.
 */
#ifndef RBT_PLAY_H
#define RBT_PLAY_H

#include "client.h"
#include "fuzz.h"
#include "peer_request.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <sys/socket.h>

#define PLAY_PIECE_END 0xff
#define PLAY_WAITS 100000
#define PLAY_INPUT 12000

typedef enum play_end {
	PLAY_CLOSES,
	PLAY_FAILS,
	PLAY_IS_SILENT /* there must be a deadline */
} play_end;

typedef struct play {
	redisContext *ctx;
	input said;   /* what the peer has still to say */
	size_t ready; /* bytes of that which have arrived */
	play_end end;
	bool ended;
	size_t recv_max;
	size_t send_max;
	bool hesitates;	 /* every other send takes nothing */
	uint64_t takes;	 /* bytes, and then sends fail */
	uint64_t sent;	 /* by the library */
	size_t commands; /* of those bytes, whole */
	size_t answered; /* chunks, as on_chunk was told */
	unsigned sends;
	unsigned waits;
	uint64_t now_us;
	size_t nheard; /* by the library */
	char heard[PLAY_INPUT];
} play;

static play play_now;

/* --------------------------------------------------------- system calls -- */

static inline ssize_t play_refuse(int error)
{
	errno = error;
	return -1;
}

static inline void play_note_sent(play *p, const char *bytes, size_t n)
{
	static rbt_request request; /* keeps its memory, and no bytes */
	const rbt_arg *argv;
	size_t argc;
	char *room;

	if (p->sent == 0)
		rbt_request_reset(&request);
	room = rbt_request_space(&request, n);
	must(room != NULL);
	memcpy(room, bytes, n);
	rbt_request_filled(&request, n);
	while (rbt_request_next(&request, &argc, &argv) == 1)
		p->commands++;
	p->sent += n;
}

static inline ssize_t play_send(int fd, const struct msghdr *msg, int flags)
{
	play *p = &play_now;
	size_t took = 0;
	size_t i;

	must(fd == p->ctx->fd && flags != 0);
	if (p->hesitates && ++p->sends % 2 != 0)
		return play_refuse(EAGAIN);
	if (p->sent >= p->takes)
		return play_refuse(EPIPE);
	for (i = 0; i < (size_t)msg->msg_iovlen && took < p->send_max; i++) {
		size_t n = rbi_min(msg->msg_iov[i].iov_len, p->send_max - took);

		play_note_sent(p, msg->msg_iov[i].iov_base, n);
		took += n;
	}
	must(took > 0);
	return (ssize_t)took;
}

static inline ssize_t play_recv(int fd, void *buf, size_t len, int flags)
{
	play *p = &play_now;
	size_t n = rbi_min(rbi_min(len, p->ready), p->recv_max);

	must(fd == p->ctx->fd && len > 0);
	if (n == 0 && !p->ended)
		return play_refuse(EAGAIN);
	if (n == 0 && p->end == PLAY_FAILS)
		return play_refuse(ECONNRESET);
	if (n > 0)
		memcpy(buf, p->said.data, n);
	if ((flags & MSG_PEEK) == 0) {
		(void)take_bytes(&p->said, n);
		p->ready -= n;
		if (n > 0)
			memcpy(p->heard + p->nheard, buf, n);
		p->nheard += n;
	}
	return (ssize_t)n;
}

/* The next piece arrives, or what comes behind the last. */
static inline bool play_on(play *p)
{
	const uint8_t *stop;

	if (p->ready > 0 || p->ended)
		return true;
	while (p->said.size > 0 && *p->said.data == PLAY_PIECE_END)
		(void)take_byte(&p->said);
	if (p->said.size == 0) {
		p->ended = p->end != PLAY_IS_SILENT;
		return p->ended;
	}
	stop = memchr(p->said.data, PLAY_PIECE_END, p->said.size);
	p->ready = stop != NULL ? (size_t)(stop - p->said.data) : p->said.size;
	return true;
}

static inline int play_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	play *p = &play_now;

	/* The others are a scout's, and what a client is woken by. */
	must(n >= 1 && n <= 3);
	must(fds[0].fd < 0 || (fds[0].events & POLLIN) != 0);
	must(++p->waits < PLAY_WAITS);
	p->now_us += 1000;
	fds[0].revents = fds[0].events & POLLOUT;
	if (fds[0].revents == 0 && fds[0].events != 0 && play_on(p))
		fds[0].revents = POLLIN;
	if (fds[0].revents != 0)
		return 1;
	must(timeout_ms >= 0); /* or it would wait for ever */
	p->now_us += (uint64_t)timeout_ms * 1000;
	return 0;
}

static inline uint64_t play_clock(void *arg)
{
	return ((const play *)arg)->now_us;
}

/* ---------------------------------------------------------------------- */

/* Whether the library has read one answer for each command, and no byte more
 * or less. */
static inline bool play_in_step(const play *p)
{
	char *bytes = exact_copy(p->heard, p->nheard);
	size_t answers = 0;
	rbi_token_kind kind;
	rbi_token token;
	rbi_reader r;

	rbi_reader_init(&r, SIZE_MAX / 4);
	rbi_reader_window(&r, bytes, bytes + p->nheard);
	do {
		kind = rbi_reader_next(&r, &token);
		answers += kind > RBI_TOKEN_BROKEN && token.last;
	} while (kind > RBI_TOKEN_BROKEN);
	free(bytes);
	return kind == RBI_TOKEN_MORE && r.pos == r.end &&
	       answers == p->commands;
}

static inline redisContext *play_context(void)
{
	static redisContext *ctx;
	int fds[2];

	if (ctx != NULL)
		return ctx;
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	ctx = redisConnectFd(fds[0]);
	must(ctx != NULL);
	return ctx;
}

/* Two bytes say how the bytes go; what follows is said by the peer. */
static inline void play_init(play *p, input *in)
{
	static const size_t most[] = { SIZE_MAX, 1, 5, 100 };
	unsigned how = take_byte(in);
	unsigned takes = take_byte(in);

	must(in->size <= PLAY_INPUT);
	memset(p, 0, offsetof(play, heard));
	p->ctx = play_context();
	p->ctx->err = 0;
	p->ctx->errstr[0] = '\0';
	p->recv_max = most[how % 4];
	p->send_max = most[how / 4 % 4];
	p->end = (play_end)(how / 16 % 3);
	p->hesitates = (how & 64) != 0;
	p->takes = (how & 128) != 0 ? takes : UINT64_MAX;
	p->said = *in;
	p->now_us = 1000000;
}

/* Sends and receives of the client are played from now on. */
static inline void play_attach(play *p, rb_client *client)
{
	static const rbi_sys sys = { play_send, play_recv, play_poll };
	static rbi_clock clock = { play_clock, NULL };

	clock.arg = p;
	client->sys = &sys;
	client->clock = &clock;
}

#endif
