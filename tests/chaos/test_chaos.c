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
	/* From a death to a call that is fine. */
	BOUND_MS = NODE_MS + RBT_PLAIN_OR_SANITIZED(3000, 9000),
	MOST_DEATHS = 1000
};

typedef struct play {
	rbt_cluster *cluster;
	ledger *book;
	storm *storm;
	rb_client *rb;
	ledger_batch batch;
	uint64_t calls, fine;
	/* Deaths that a fine call has come after, and how long after. */
	uint64_t healed;
	unsigned recovery_ms[MOST_DEATHS];
	/* How long the nodes took for the same; 0: longer than that. */
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

/* The first fine call that began after the last death. */
static void note_recovery(play *p, uint64_t start_us)
{
	storm_sums now = look(p);

	if (now.deaths == p->healed || start_us < now.death_us ||
	    now.deaths > MOST_DEATHS)
		return;
	p->recovery_ms[now.deaths - 1] =
		(unsigned)((rbt_now_us() - now.death_us) / 1000);
	p->succession_ms[now.deaths - 1] = (unsigned)now.succession_ms;
	p->healed = now.deaths;
}

static rb_status read_batch(play *p)
{
	uint64_t start_us = rbt_now_us();
	rb_result *res = NULL;
	rb_status status;

	ledger_pick_reads(p->book, &p->batch);
	status = rb_mget_chunked(p->rb, p->batch.keys, p->batch.keylens,
				 LEDGER_BATCH, NULL, &res);
	ledger_check_reads(p->book, &p->batch, res, look(p).deaths);
	rb_result_free(res);
	p->calls++;
	p->fine += status == RB_OK;
	if (status == RB_OK)
		note_recovery(p, start_us);
	return status;
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
	ledger_check_writes(p->book, &p->batch, res, deaths);
	rb_result_free(res);
	p->calls++;
	p->fine += status == RB_OK;
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

	for (size_t i = 0; i < p->healed && i < MOST_DEATHS; i++)
		if (p->recovery_ms[i] > ms)
			ms = p->recovery_ms[i];
	return ms;
}

static void print_account(const play *p)
{
	const ledger_sums *l = ledger_look(p->book);
	storm_sums s = look(p);

	printf("# recovered after (ms):");
	for (size_t i = 0; i < p->healed && i < MOST_DEATHS; i++)
		printf(" %u (nodes: %u)", p->recovery_ms[i],
		       p->succession_ms[i]);
	printf("\n# chaos: %u s, %llu calls (%llu fine), %llu keys read, "
	       "%llu written, %llu entries failed by name; %llu primaries "
	       "killed, %llu slots with %llu keys moved, %llu connections "
	       "killed; slowest recovery %u ms; %llu wrong, %llu swapped, "
	       "%llu missing, %llu aged, %llu surfaced, %llu unnamed\n",
	       p->seconds, (unsigned long long)p->calls,
	       (unsigned long long)p->fine, (unsigned long long)l->reads,
	       (unsigned long long)l->writes, (unsigned long long)l->failed,
	       (unsigned long long)s.deaths, (unsigned long long)s.moves,
	       (unsigned long long)s.keys, (unsigned long long)s.connections,
	       slowest(p), (unsigned long long)l->wrong,
	       (unsigned long long)l->swapped, (unsigned long long)l->missing,
	       (unsigned long long)l->aged, (unsigned long long)l->surfaced,
	       (unsigned long long)l->unnamed);
	fflush(stdout);
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
	p->storm = storm_begin(p->cluster, p->book, p->is_long ? 4000 : 1000);
	assert_non_null(p->storm);
	work(p);
	/* The last connections were killed a moment ago. */
	want_status(p->rb, read_batch(p), RB_OK);
	want_status(p->rb, write_batch(p, RB_RETRY_WRITES), RB_OK);
	want_status(p->rb, read_batch(p), RB_OK);
	print_account(p);
	/* Otherwise it went wrong by itself. */
	assert_string_equal(storm_why(p->storm), "");
	assert_true(ledger_is_clean(p->book));
	assert_true(look(p).deaths > 0);
	assert_int_equal(p->healed, look(p).deaths);
	if (p->is_long)
		assert_in_range(slowest(p), 0, BOUND_MS);
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
