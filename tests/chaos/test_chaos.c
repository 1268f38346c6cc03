/*
 * A client at work on a cluster in a storm: batches of 10,000 keys, half of
 * which have no value, are read and written, and every value is held against
 * what was written.
 *
 * It takes a few seconds, in which one primary dies, or RBT_CHAOS_SECONDS. Its
 * closing line:
 *
 *	chaos: 60 s, ... calls, ... 0 wrong, 0 swapped, 0 missing, ...
 */
#include "cluster.h"
#include "ledger.h"
#include "sanitized.h"
#include "storm.h"
#include "tick.h"
#include "want.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	NODE_MS = 2000,
	CALL_MS = 15000,
	SHORT_S = 4,
	/* From a death to a call that is fine; and from the moment when all
	 * nodes have agreed on who comes after the dead, where they were late
	 * for that. A short storm, which is one of many tests on a machine that
	 * may be busy, is given more time. */
	BOUND_MS = NODE_MS + RBT_PLAIN_OR_SANITIZED(3000, 9000),
	BEHIND_MS = RBT_PLAIN_OR_SANITIZED(1500, 5000),
	SHORT_BEHIND_MS = 10000,
	/* What a storm of a minute is made of at the least. */
	MOVES = RBT_PLAIN_OR_SANITIZED(200, 100),
	DEATHS = 4,
	KILLED = 600,
	MINUTE_S = 60,
	MOST_DEATHS = 1000
};

typedef struct play {
	rbt_cluster *cluster;
	ledger *book;
	storm *storm;
	rb_client *rb;
	ledger_batch batch;
	uint64_t calls, fine, redirects, reconnects;
	/* Of those that may be repeated, calls that failed all the same. */
	uint64_t broken;
	/* Deaths that a fine call has come after; when the first of the others
	 * came about; and how long it took, for each of those that had a call
	 * of their own. */
	uint64_t healed, death_us;
	size_t nrecoveries;
	unsigned recovery_ms[MOST_DEATHS];
	/* How long the nodes took until all of them knew; 0: not yet. */
	unsigned succession_ms[MOST_DEATHS];
	unsigned seconds;
	bool is_long;
} play;

/* ------------------------------------------------------------- up and down -- */

static int set_up(void **state)
{
	static const rbt_cluster_options o = { .primaries = 3,
					       .replicas = 1,
					       .node_timeout_ms = NODE_MS };
	const char *wanted = getenv("RBT_CHAOS_SECONDS");
	play *p = calloc(1, sizeof(*p));

	*state = p;
	if (!p)
		return -1;
	p->is_long = wanted && atoi(wanted) > 0;
	p->seconds = p->is_long ? (unsigned)atoi(wanted) : SHORT_S;
	p->book = ledger_new();
	if (!rbt_server_available())
		return 0;
	p->cluster = rbt_cluster_start(&o);
	if (!p->cluster)
		print_error("%s\n", rbt_cluster_why_not());
	return p->book && p->cluster ? 0 : -1;
}

static int tear_down(void **state)
{
	play *p = *state;

	rb_client_free(p->rb);
	rbt_cluster_stop(p->cluster);
	storm_free(p->storm);
	ledger_free(p->book);
	free(p);
	return 0;
}

static void open_client(play *p)
{
	rb_options o = rbt_options(0, 0);
	char uri[512];

	o.timeout_ms = CALL_MS;
	/* Connections are killed all the time, which says nothing of a node. */
	o.attempts = 100;
	rbt_cluster_uri(p->cluster, 0, uri, sizeof(uri));
	assert_int_equal(rb_client_open(&p->rb, uri, &o), RB_OK);
}

/* ------------------------------------------------------------------ calls -- */

static storm_sums look(const play *p)
{
	static const storm_sums none;

	return p->storm ? storm_look(p->storm) : none;
}

/* Before a call: whether somebody has died whom no fine call came after. */
static void note_death(play *p)
{
	storm_sums now = look(p);

	if (now.deaths > p->healed && p->death_us == 0)
		p->death_us = now.death_us;
	/* Who is asked may know before all others. */
	if (p->nrecoveries > 0 && now.deaths == p->healed)
		p->succession_ms[p->nrecoveries - 1] =
			(unsigned)now.succession_ms;
}

/* After a fine call: it has recovered, if it began after the death. */
static void note_recovery(play *p, uint64_t start_us)
{
	storm_sums now = look(p);

	if (p->death_us == 0 || start_us < now.death_us)
		return;
	if (p->nrecoveries < MOST_DEATHS)
		p->recovery_ms[p->nrecoveries++] =
			(unsigned)((rbt_now_us() - p->death_us) / 1000);
	p->healed = now.deaths;
	p->death_us = 0;
}

static void note_call(play *p, rb_status status, rb_result *res, bool repeats)
{
	rb_stats stats = { .struct_size = sizeof(stats) };

	p->calls++;
	p->fine += status == RB_OK;
	if (status != RB_OK && repeats && p->broken++ < 10)
		printf("# %s: %s\n", rb_status_text(status),
		       rb_client_error(p->rb));
	if (res && rb_result_stats(res, &stats) == RB_OK) {
		p->redirects += stats.redirects;
		p->reconnects += stats.reconnects;
	}
	rb_result_free(res);
}

static rb_status read_keys(play *p)
{
	rb_result *res = NULL;
	uint64_t start_us;
	rb_status status;

	note_death(p);
	start_us = rbt_now_us();
	status = rb_mget_chunked(p->rb, p->batch.keys, p->batch.keylens,
				 LEDGER_BATCH, NULL, &res);
	ledger_check_reads(p->book, &p->batch, status, res, look(p).deaths);
	note_call(p, status, res, true);
	if (status == RB_OK)
		note_recovery(p, start_us);
	return status;
}

static rb_status read_batch(play *p)
{
	ledger_pick_reads(p->book, &p->batch);
	return read_keys(p);
}

static rb_status write_batch(play *p, uint32_t flags)
{
	uint64_t deaths = look(p).deaths;
	rb_options o = rbt_options(0, 0);
	rb_result *res = NULL;
	rb_status status;

	o.timeout_ms = CALL_MS;
	o.attempts = 100;
	o.flags = flags;
	if (!ledger_pick_writes(p->book, &p->batch))
		return RB_ERR_NOMEM;
	status = rb_mset_chunked(p->rb, p->batch.keys, p->batch.keylens,
				 p->batch.values, p->batch.valuelens,
				 LEDGER_BATCH, &o, &res);
	ledger_check_writes(p->book, &p->batch, status, res, deaths);
	note_call(p, status, res, (flags & RB_RETRY_WRITES) != 0);
	return status;
}

static void work(play *p)
{
	uint64_t end_us = rbt_now_us() + (uint64_t)p->seconds * 1000000;

	for (unsigned turn = 0; !storm_is_over(p->storm); turn++) {
		if (rbt_now_us() > end_us)
			storm_stop(p->storm);
		read_batch(p);
		read_batch(p);
		write_batch(p, turn % 2 ? RB_RETRY_WRITES : 0);
	}
}

/* ------------------------------------------------------------ the account -- */

static unsigned slowest(const play *p)
{
	unsigned ms = 0;

	for (size_t i = 0; i < p->nrecoveries; i++)
		if (p->recovery_ms[i] > ms)
			ms = p->recovery_ms[i];
	return ms;
}

static void print_account(const play *p)
{
	const ledger_sums *l = ledger_look(p->book);
	storm_sums s = look(p);

	printf("# recovered after (ms):");
	for (size_t i = 0; i < p->nrecoveries; i++)
		printf(" %u (nodes: %u)", p->recovery_ms[i],
		       p->succession_ms[i]);
	printf("\n# chaos: %u s, %llu calls (%llu fine, %llu broken), %llu keys read, "
	       "%llu written, %llu entries failed by name; %llu primaries "
	       "killed, %llu slots with %llu keys moved, %llu connections "
	       "killed; %llu redirects, %llu connections anew; slowest "
	       "recovery %u ms; %llu wrong, %llu swapped, "
	       "%llu missing, %llu aged, %llu surfaced, %llu unnamed\n",
	       p->seconds, (unsigned long long)p->calls,
	       (unsigned long long)p->fine, (unsigned long long)p->broken,
	       (unsigned long long)l->reads, (unsigned long long)l->writes,
	       (unsigned long long)l->failed, (unsigned long long)s.deaths,
	       (unsigned long long)s.moves, (unsigned long long)s.keys,
	       (unsigned long long)s.connections,
	       (unsigned long long)p->redirects,
	       (unsigned long long)p->reconnects, slowest(p),
	       (unsigned long long)l->wrong, (unsigned long long)l->swapped,
	       (unsigned long long)l->missing, (unsigned long long)l->aged,
	       (unsigned long long)l->surfaced, (unsigned long long)l->unnamed);
	fflush(stdout);
}

/* That it was a storm, and that there was a client in it. */
static void want_a_storm(const play *p)
{
	storm_sums s = look(p);

	assert_true(s.deaths > 0 && s.moves > 0 && s.keys > 0);
	assert_true(s.connections > 0 && p->reconnects > 0);
	assert_true(p->redirects > 0);
	assert_true(p->fine > p->calls / 2);
	if (p->seconds < MINUTE_S)
		return;
	assert_true(s.moves >= (uint64_t)MOVES * p->seconds / MINUTE_S);
	assert_true(s.deaths >= (uint64_t)DEATHS * p->seconds / MINUTE_S);
	assert_true(s.connections >= (uint64_t)KILLED * p->seconds / MINUTE_S);
}

static void want_recovery(const play *p)
{
	unsigned behind = p->is_long ? BEHIND_MS : SHORT_BEHIND_MS;

	assert_int_equal(p->healed, look(p).deaths);
	for (size_t i = 0; i < p->nrecoveries; i++) {
		unsigned bound = p->succession_ms[i] + behind;

		assert_in_range(p->recovery_ms[i], 0,
				bound > BOUND_MS ? bound : BOUND_MS);
	}
}

/* As long as it lasts some calls may fail; afterwards none may. */
static void test_a_client_keeps_its_head_in_a_storm(void **state)
{
	play *p = *state;

	if (!p->cluster) {
		print_message("%s\n", rbt_server_why());
		skip();
	}
	open_client(p);
	want_status(p->rb, write_batch(p, 0), RB_OK);
	want_status(p->rb, read_batch(p), RB_OK);
	p->storm = storm_begin(p->cluster, p->book, p->is_long ? 5000 : 1000);
	assert_non_null(p->storm);
	work(p);
	/* The last connections were killed a moment ago. */
	want_status(p->rb, read_batch(p), RB_OK);
	want_status(p->rb, write_batch(p, RB_RETRY_WRITES), RB_OK);
	/* All of what was just written. */
	want_status(p->rb, read_keys(p), RB_OK);
	want_status(p->rb, read_batch(p), RB_OK);
	print_account(p);
	/* Otherwise it went wrong by itself. */
	assert_string_equal(storm_why(p->storm), "");
	assert_true(ledger_is_clean(p->book));
	/* Any of it is over sooner than the client's patience. */
	assert_int_equal(p->broken, 0);
	want_a_storm(p);
	want_recovery(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_client_keeps_its_head_in_a_storm, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
