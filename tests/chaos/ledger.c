#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_LEN = 24, VALUE_LEN = 64, MOST_ROUNDS = 20000 };

struct ledger {
	ledger_sums sums;
	uint64_t chance;
	char keys[LEDGER_KEYS][KEY_LEN];
	size_t lens[LEDGER_KEYS];
	char values[LEDGER_KEYS][VALUE_LEN];
	/* Of each round, for each key: it was not applied. */
	unsigned char *refused[MOST_ROUNDS];
	uint64_t rounds;
	/* The newest round that was acknowledged, and deaths before it. */
	uint64_t acknowledged[LEDGER_KEYS];
	uint64_t deaths[LEDGER_KEYS];
};

ledger *ledger_new(void)
{
	ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->chance = 88172645463325252u;
	for (size_t i = 0; i < LEDGER_KEYS; i++)
		l->lens[i] =
			(size_t)snprintf(l->keys[i], KEY_LEN, "{%05zu}:%08zu",
					 i / LEDGER_FAMILY, i);
	return l;
}

void ledger_free(ledger *l)
{
	for (uint64_t i = 0; l && i < l->rounds; i++)
		free(l->refused[i]);
	free(l);
}

const ledger_sums *ledger_look(const ledger *l)
{
	return &l->sums;
}

const char *ledger_key(const ledger *l, size_t i, size_t *len)
{
	*len = l->lens[i];
	return l->keys[i];
}

bool ledger_has_value(size_t i)
{
	return i % 2 == 0;
}

static uint64_t chance(ledger *l)
{
	l->chance ^= l->chance << 13;
	l->chance ^= l->chance >> 7;
	l->chance ^= l->chance << 17;
	return l->chance;
}

/* ------------------------------------------------------------- batches -- */

static void put_key(const ledger *l, ledger_batch *b, size_t at, size_t i)
{
	b->numbers[at] = i;
	b->keys[at] = l->keys[i];
	b->keylens[at] = l->lens[i];
}

void ledger_pick_reads(ledger *l, ledger_batch *b)
{
	for (size_t at = 0; at < LEDGER_BATCH; at++) {
		size_t i = (size_t)(chance(l) % (LEDGER_KEYS / 2)) * 2;

		put_key(l, b, at, i + at % 2);
	}
}

bool ledger_pick_writes(ledger *l, ledger_batch *b)
{
	if (l->rounds == MOST_ROUNDS)
		return false;
	l->refused[l->rounds] = calloc(LEDGER_KEYS, 1);
	if (!l->refused[l->rounds])
		return false;
	b->round = l->rounds++;
	for (size_t at = 0; at < LEDGER_BATCH; at++) {
		size_t i = at * 2;

		put_key(l, b, at, i);
		b->values[at] = l->values[i];
		b->valuelens[at] = (size_t)snprintf(
			l->values[i], VALUE_LEN, "%s=%08llu%.*s", l->keys[i],
			(unsigned long long)b->round, (int)(i % 24),
			"........................");
	}
	return true;
}

/* -------------------------------------------------------------- failures -- */

static void complain(const char *what, const char *key, rb_slice v)
{
	printf("# %s: %s: \"%.*s\"\n", what, key, (int)v.len,
	       v.data ? v.data : "");
}

static void check_failure(ledger *l, const rb_result *res, size_t at)
{
	static const char *const words[] = { "TRYAGAIN", "MOVED ", "ASK " };
	const char *message = rb_result_message(res, at);

	l->sums.failed++;
	l->sums.unnamed += message[0] == '\0' ||
			   rb_result_value(res, at).data != NULL ||
			   rb_result_status(res, at) == RB_ERR_INVALID ||
			   rb_result_outcome(res, at) == RB_ANSWERED;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(message, words[i])) {
			if (l->sums.surfaced++ < 10)
				printf("# surfaced: %s, %s: %s\n",
				       rb_status_text(
					       rb_result_status(res, at)),
				       rb_outcome_text(
					       rb_result_outcome(res, at)),
				       message);
			return;
		}
}

/* Each entry is in one report. */
static void check_reports(ledger *l, const rb_result *res)
{
	static unsigned char seen[LEDGER_BATCH];
	size_t count = 0;

	memset(seen, 0, sizeof(seen));
	for (size_t i = 0; i < rb_result_chunks(res); i++) {
		const rb_chunk *chunk = rb_result_chunk(res, i);

		for (size_t k = 0; k < chunk->count; k++) {
			size_t e = chunk->entries ? chunk->entries[k] :
						    chunk->first + k;

			l->sums.unnamed += e >= LEDGER_BATCH || seen[e]++;
			count++;
		}
	}
	l->sums.unnamed += count != LEDGER_BATCH;
}

/* The call says of its entries what they say of themselves. */
static void check_sums(ledger *l, rb_status status, const rb_result *res,
		       uint64_t failed)
{
	l->sums.unnamed += rb_result_failed(res) != failed ||
			   (status == RB_OK) != (failed == 0);
}

/* In a storm a call always begins, so there is always a result. */
static bool is_there(ledger *l, const rb_result *res)
{
	if (rb_result_count(res) == LEDGER_BATCH)
		return true;
	l->sums.unnamed++;
	return false;
}

/* ----------------------------------------------------------------- reads -- */

/* The round of a value; false: it is none of ours. */
static bool read_round(const ledger *l, size_t i, rb_slice v, uint64_t *round)
{
	char *end = NULL;
	size_t filling = i % 24;

	if (v.len != l->lens[i] + 1 + 8 + filling ||
	    memcmp(v.data, l->keys[i], l->lens[i]) != 0 ||
	    v.data[l->lens[i]] != '=')
		return false;
	*round = strtoull(v.data + l->lens[i] + 1, &end, 10);
	return end == v.data + l->lens[i] + 9 && *round < l->rounds &&
	       strspn(end, ".") == filling;
}

static bool is_anothers(const ledger *l, size_t i, rb_slice v)
{
	return v.len > l->lens[i] && v.data[0] == '{' &&
	       memcmp(v.data, l->keys[i], l->lens[i]) != 0;
}

static void check_value(ledger *l, size_t i, rb_slice v, uint64_t deaths)
{
	uint64_t round = 0;

	if (!v.data) {
		l->sums.missing++;
		complain("missing", l->keys[i], v);
	} else if (is_anothers(l, i, v)) {
		l->sums.swapped++;
		complain("swapped", l->keys[i], v);
	} else if (!read_round(l, i, v, &round) || l->refused[round][i]) {
		l->sums.wrong++;
		complain("wrong", l->keys[i], v);
	} else if (round < l->acknowledged[i] && deaths == l->deaths[i]) {
		l->sums.aged++;
		complain("aged", l->keys[i], v);
	}
}

void ledger_check_reads(ledger *l, const ledger_batch *b, rb_status status,
			const rb_result *res, uint64_t deaths)
{
	uint64_t failed = l->sums.failed;

	if (!is_there(l, res))
		return;
	l->sums.reads += LEDGER_BATCH;
	check_reports(l, res);
	for (size_t at = 0; at < LEDGER_BATCH; at++) {
		size_t i = b->numbers[at];
		rb_slice v = rb_result_value(res, at);

		if (rb_result_status(res, at) != RB_OK) {
			check_failure(l, res, at);
		} else if (ledger_has_value(i)) {
			check_value(l, i, v, deaths);
		} else if (v.data) {
			l->sums.wrong++;
			complain("never written", l->keys[i], v);
		}
	}
	check_sums(l, status, res, l->sums.failed - failed);
}

/* ---------------------------------------------------------------- writes -- */

void ledger_check_writes(ledger *l, const ledger_batch *b, rb_status status,
			 const rb_result *res, uint64_t deaths)
{
	bool none = !is_there(l, res);
	uint64_t failed = l->sums.failed;

	if (!none) {
		l->sums.writes += LEDGER_BATCH;
		check_reports(l, res);
	}
	for (size_t at = 0; at < LEDGER_BATCH; at++) {
		size_t i = b->numbers[at];
		rb_outcome outcome =
			none ? RB_NOT_SENT : rb_result_outcome(res, at);

		l->refused[b->round][i] =
			outcome == RB_REJECTED || outcome == RB_NOT_SENT;
		if (none)
			continue;
		if (rb_result_status(res, at) != RB_OK) {
			check_failure(l, res, at);
			continue;
		}
		l->acknowledged[i] = b->round;
		l->deaths[i] = deaths;
	}
	if (!none)
		check_sums(l, status, res, l->sums.failed - failed);
}

bool ledger_is_clean(const ledger *l)
{
	const ledger_sums *s = &l->sums;

	return s->unnamed + s->wrong + s->swapped + s->missing + s->aged +
		       s->surfaced ==
	       0;
}
