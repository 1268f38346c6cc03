/*
 * A proxy from the outside: start, stop, rules, counters.
 */
#include "proxy.h"

#include "proxy_state.h"
#include "tick.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A thread that does not take a rule in so long is not there any more. */
enum { RULE_MS = 30000 };

/* ------------------------------------------------------ start and finish -- */

static int make_locks(rbt_proxy *proxy)
{
	pthread_condattr_t attr;

	if (pthread_mutex_init(&proxy->mutex, NULL) != 0 ||
	    pthread_condattr_init(&attr) != 0)
		return -1;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&proxy->changed, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static int make_wake(rbt_proxy *proxy)
{
	if (pipe(proxy->wake) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		fcntl(proxy->wake[i], F_SETFL, O_NONBLOCK);
		fcntl(proxy->wake[i], F_SETFD, FD_CLOEXEC);
	}
	return 0;
}

static void free_proxy(rbt_proxy *proxy)
{
	for (int i = 0; i < 2; i++)
		if (proxy->wake[i] >= 0)
			close(proxy->wake[i]);
	free(proxy->arrivals);
	free(proxy);
}

static rbt_proxy *make_proxy(const rbt_proxy_options *options)
{
	rbt_proxy *proxy = calloc(1, sizeof(*proxy));

	if (!proxy)
		return NULL;
	proxy->options = *options;
	proxy->wake[0] = proxy->wake[1] = -1;
	proxy->arrivals = calloc(RBT_PROXY_ARRIVALS, sizeof(rbt_arrival));
	if (!proxy->arrivals || make_wake(proxy) < 0 || make_locks(proxy) < 0) {
		free_proxy(proxy);
		return NULL;
	}
	return proxy;
}

rbt_proxy *rbt_proxy_start(const rbt_proxy_options *options)
{
	rbt_proxy *proxy = make_proxy(options);

	if (!proxy)
		return NULL;
	if (rbt_wire_init(&proxy->wire, options->family, options->sndbuf,
			  options->rcvbuf) < 0) {
		free_proxy(proxy);
		return NULL;
	}
	if (pthread_create(&proxy->thread, NULL, rbt_proxy_run, proxy) != 0) {
		rbt_wire_fini(&proxy->wire);
		free_proxy(proxy);
		return NULL;
	}
	return proxy;
}

void rbt_proxy_stop(rbt_proxy *proxy)
{
	if (!proxy)
		return;
	rbt_wire_stop(&proxy->wire);
	pthread_join(proxy->thread, NULL);
	rbt_wire_fini(&proxy->wire);
	pthread_cond_destroy(&proxy->changed);
	pthread_mutex_destroy(&proxy->mutex);
	free_proxy(proxy);
}

int rbt_proxy_port(const rbt_proxy *proxy)
{
	return proxy->wire.port;
}

const char *rbt_proxy_path(const rbt_proxy *proxy)
{
	return proxy->wire.path;
}

/* --------------------------------------------------------------- waiting -- */

static rbt_proxy *lock(const rbt_proxy *proxy)
{
	union {
		const rbt_proxy *fixed;
		rbt_proxy *loose;
	} both = { proxy };

	pthread_mutex_lock(&both.loose->mutex);
	return both.loose;
}

/* Waits until the counter, under the lock that is held, has reached n. */
static bool await(rbt_proxy *proxy, const uint64_t *counter, uint64_t n,
		  unsigned ms)
{
	uint64_t end_ns = rbt_now_ns() + (uint64_t)ms * 1000000;
	struct timespec end;
	int r = 0;

	end.tv_sec = (time_t)(end_ns / 1000000000);
	end.tv_nsec = (long)(end_ns % 1000000000);
	while (*counter < n && r == 0)
		r = pthread_cond_timedwait(&proxy->changed, &proxy->mutex,
					   &end);
	return *counter >= n;
}

static bool lock_await(rbt_proxy *proxy, const uint64_t *counter, uint64_t n,
		       unsigned ms)
{
	bool reached;

	lock(proxy);
	reached = await(proxy, counter, n, ms);
	pthread_mutex_unlock(&proxy->mutex);
	return reached;
}

bool rbt_proxy_await_bytes(rbt_proxy *proxy, rbt_way way, uint64_t n,
			   unsigned ms)
{
	return lock_await(proxy, &proxy->counts.bytes[way], n, ms);
}

bool rbt_proxy_await_ends(rbt_proxy *proxy, size_t n, unsigned ms)
{
	return lock_await(proxy, &proxy->counts.ends, n, ms);
}

/* ----------------------------------------------------------------- rules -- */

/* The thread reads the rules when it wakes, after all that it did by the old
 * ones. Called with the lock, which it gives back. */
static void publish_unlock(rbt_proxy *proxy)
{
	uint64_t version = ++proxy->rules.version;
	ssize_t n = write(proxy->wake[1], "", 1);
	bool applied;

	(void)n; /* a full pipe is readable as well */
	applied = await(proxy, &proxy->applied, version, RULE_MS);
	pthread_mutex_unlock(&proxy->mutex);
	if (!applied)
		abort();
}

void rbt_proxy_rule(rbt_proxy *proxy, rbt_way way, const rbt_rule *rule)
{
	static const rbt_rule none;

	lock(proxy);
	proxy->rules.all[way] = rule ? *rule : none;
	publish_unlock(proxy);
}

void rbt_proxy_rule_of(rbt_proxy *proxy, size_t n, rbt_way way,
		       const rbt_rule *rule)
{
	size_t i = 0;

	lock(proxy);
	while (proxy->rules.own[i].number != 0 &&
	       proxy->rules.own[i].number != n)
		if (++i == RBT_PROXY_OWN_RULES)
			abort();
	proxy->rules.own[i].number = n;
	proxy->rules.own[i].set[way] = rule != NULL;
	if (rule)
		proxy->rules.own[i].rule[way] = *rule;
	publish_unlock(proxy);
}

/* -------------------------------------------------------------- counters -- */

static rbt_proxy_counts get_counts(const rbt_proxy *proxy)
{
	rbt_proxy *p = lock(proxy);
	rbt_proxy_counts counts = p->counts;

	pthread_mutex_unlock(&p->mutex);
	return counts;
}

uint64_t rbt_proxy_bytes(const rbt_proxy *proxy, rbt_way way)
{
	return get_counts(proxy).bytes[way];
}

size_t rbt_proxy_connections(const rbt_proxy *proxy)
{
	return (size_t)get_counts(proxy).connections;
}

size_t rbt_proxy_ends(const rbt_proxy *proxy)
{
	return (size_t)get_counts(proxy).ends;
}

size_t rbt_proxy_commands(const rbt_proxy *proxy)
{
	return (size_t)get_counts(proxy).commands;
}

size_t rbt_proxy_arrivals(const rbt_proxy *proxy, rbt_arrival *out, size_t n)
{
	rbt_proxy *p = lock(proxy);

	if (n > p->narrivals)
		n = p->narrivals;
	if (n > 0)
		memcpy(out, p->arrivals, n * sizeof(*out));
	pthread_mutex_unlock(&p->mutex);
	return n;
}
