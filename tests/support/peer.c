/*
 * A peer from the outside: start, stop, counters.
 */
#include "peer_state.h"
#include "tick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GIVE_UP_MS = 60000, READ_SIZE = 16384 };

/* -------------------------------------------------------- the counters -- */

rbt_peer *rbt_peer_lock(const rbt_peer *peer)
{
	union {
		const rbt_peer *fixed;
		rbt_peer *loose;
	} both = { peer };

	pthread_mutex_lock(&both.loose->mutex);
	return both.loose;
}

void rbt_peer_unlock_changed(rbt_peer *peer)
{
	pthread_cond_broadcast(&peer->changed);
	pthread_mutex_unlock(&peer->mutex);
}

void rbt_peer_count_received(rbt_peer *peer, const char *bytes, size_t n)
{
	size_t room;

	rbt_peer_lock(peer);
	room = peer->options.record - peer->nrecord;
	if (room > n)
		room = n;
	if (room > 0)
		memcpy(peer->record + peer->nrecord, bytes, room);
	peer->nrecord += room;
	peer->counts.bytes += n;
	rbt_peer_unlock_changed(peer);
}

void rbt_peer_count_command(rbt_peer *peer)
{
	rbt_peer_lock(peer);
	peer->counts.commands++;
	rbt_peer_unlock_changed(peer);
}

void rbt_peer_count_end(rbt_peer *peer)
{
	rbt_peer_lock(peer);
	peer->counts.ends++;
	rbt_peer_unlock_changed(peer);
}

/* ---------------------------------------------------- start and finish -- */

static int make_locks(rbt_peer *peer)
{
	pthread_condattr_t attr;

	if (pthread_mutex_init(&peer->mutex, NULL) != 0 ||
	    pthread_condattr_init(&attr) != 0)
		return -1;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&peer->changed, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static void free_peer(rbt_peer *peer)
{
	rbt_request_fini(&peer->request);
	for (int i = 0; i < 2; i++)
		if (peer->release[i] >= 0)
			close(peer->release[i]);
	free(peer->record);
	free(peer);
}

static rbt_peer *make_peer(const rbt_peer_options *options)
{
	rbt_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->options = *options;
	if (peer->options.give_up_ms == 0)
		peer->options.give_up_ms = GIVE_UP_MS;
	if (peer->options.read_size == 0)
		peer->options.read_size = READ_SIZE;
	rbt_request_init(&peer->request);
	peer->release[0] = peer->release[1] = -1;
	peer->record = malloc(options->record + 1);
	if (!peer->record || pipe(peer->release) < 0 || make_locks(peer) < 0) {
		free_peer(peer);
		return NULL;
	}
	fcntl(peer->release[0], F_SETFD, FD_CLOEXEC);
	fcntl(peer->release[1], F_SETFD, FD_CLOEXEC);
	return peer;
}

rbt_peer *rbt_peer_start(const rbt_peer_options *options)
{
	rbt_peer *peer = make_peer(options);

	if (!peer)
		return NULL;
	if (rbt_wire_init(&peer->wire, options->family, options->sndbuf,
			  options->rcvbuf) < 0) {
		free_peer(peer);
		return NULL;
	}
	peer->counts.connections = options->family == RBT_PAIR;
	if (pthread_create(&peer->thread, NULL, rbt_peer_run, peer) != 0) {
		rbt_wire_fini(&peer->wire);
		free_peer(peer);
		return NULL;
	}
	return peer;
}

rbt_peer *rbt_peer_play(rbt_family family, const rbt_step *script)
{
	rbt_peer_options options;

	memset(&options, 0, sizeof(options));
	options.family = family;
	options.script = script;
	return rbt_peer_start(&options);
}

void rbt_peer_stop(rbt_peer *peer)
{
	if (!peer)
		return;
	rbt_wire_stop(&peer->wire);
	pthread_join(peer->thread, NULL);
	rbt_wire_fini(&peer->wire);
	pthread_cond_destroy(&peer->changed);
	pthread_mutex_destroy(&peer->mutex);
	free_peer(peer);
}

int rbt_peer_port(const rbt_peer *peer)
{
	return peer->wire.port;
}

const char *rbt_peer_path(const rbt_peer *peer)
{
	return peer->wire.path;
}

int rbt_peer_take_fd(rbt_peer *peer)
{
	int fd = peer->wire.client_fd;

	peer->wire.client_fd = -1;
	return fd;
}

void rbt_peer_release(rbt_peer *peer)
{
	ssize_t n = write(peer->release[1], "", 1);

	(void)n;
}

/* ---------------------------------------------------- what others ask -- */

static peer_counts get_counts(const rbt_peer *peer)
{
	rbt_peer *p = rbt_peer_lock(peer);
	peer_counts counts = p->counts;

	pthread_mutex_unlock(&p->mutex);
	return counts;
}

size_t rbt_peer_commands(const rbt_peer *peer)
{
	return get_counts(peer).commands;
}

size_t rbt_peer_bytes(const rbt_peer *peer)
{
	return get_counts(peer).bytes;
}

size_t rbt_peer_connections(const rbt_peer *peer)
{
	return get_counts(peer).connections;
}

size_t rbt_peer_ends(const rbt_peer *peer)
{
	return get_counts(peer).ends;
}

size_t rbt_peer_recorded(const rbt_peer *peer, void *out, size_t size)
{
	rbt_peer *p = rbt_peer_lock(peer);
	size_t n = p->nrecord < size ? p->nrecord : size;

	if (n > 0)
		memcpy(out, p->record, n);
	pthread_mutex_unlock(&p->mutex);
	return n;
}

void rbt_peer_problem(const rbt_peer *peer, char *out, size_t size)
{
	rbt_peer *p = rbt_peer_lock(peer);

	snprintf(out, size, "%s", p->problem);
	pthread_mutex_unlock(&p->mutex);
}

/* Waits until the counter has reached n. Each is a size_t of peer->counts. */
static bool await(rbt_peer *peer, const size_t *counter, size_t n, unsigned ms)
{
	struct timespec end;
	uint64_t end_ns = rbt_now_ns() + (uint64_t)ms * 1000000;
	bool reached;
	int r = 0;

	end.tv_sec = (time_t)(end_ns / 1000000000);
	end.tv_nsec = (long)(end_ns % 1000000000);
	rbt_peer_lock(peer);
	while (*counter < n && !peer->counts.over && r == 0)
		r = pthread_cond_timedwait(&peer->changed, &peer->mutex, &end);
	reached = *counter >= n;
	pthread_mutex_unlock(&peer->mutex);
	return reached;
}

bool rbt_peer_await_commands(rbt_peer *peer, size_t n, unsigned ms)
{
	return await(peer, &peer->counts.commands, n, ms);
}

bool rbt_peer_await_bytes(rbt_peer *peer, size_t n, unsigned ms)
{
	return await(peer, &peer->counts.bytes, n, ms);
}

bool rbt_peer_await_ends(rbt_peer *peer, size_t n, unsigned ms)
{
	return await(peer, &peer->counts.ends, n, ms);
}

bool rbt_peer_await_step(rbt_peer *peer, size_t n, unsigned ms)
{
	return await(peer, &peer->counts.step, n, ms);
}

bool rbt_peer_await_over(rbt_peer *peer, unsigned ms)
{
	char problem[160];

	/* No script has so many steps: this ends when the thread does. */
	await(peer, &peer->counts.step, SIZE_MAX, ms);
	rbt_peer_problem(peer, problem, sizeof(problem));
	return get_counts(peer).over && problem[0] == '\0';
}
