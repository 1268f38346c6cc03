#include "cluster_slots.h"

#include "cluster_state.h"
#include "cluster_view.h"
#include "tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MIGRATE_MS = 4000,
	KEYS_AT_ONCE = 100,
	UNCOVER_MS = 10000,
	SETTLE_MS = 10000
};

/* ---------------------------------------------------------- of a key -- */

static unsigned crc16(const char *bytes, size_t len)
{
	unsigned crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)bytes[i] << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 0x8000) ? (crc << 1) ^ 0x1021 : crc << 1;
		crc &= 0xffff;
	}
	return crc;
}

unsigned rbt_slot_of(const char *key, size_t len)
{
	const char *open = memchr(key, '{', len), *close = NULL;

	if (open)
		close = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
	if (close && close > open + 1)
		return crc16(open + 1, (size_t)(close - open - 1)) % RBT_SLOTS;
	return crc16(key, len) % RBT_SLOTS;
}

void rbt_slot_tag(unsigned slot, char *out, size_t size)
{
	for (unsigned i = 0;; i++) {
		int len = snprintf(out, size, "{t%u}", i);

		if (rbt_slot_of(out, (size_t)len) == slot)
			return;
	}
}

/* ------------------------------------------------------------- to move -- */

bool rbt_cluster_begin_move(rbt_cluster *c, unsigned slot, size_t to)
{
	size_t from = rbt_cluster_owner(c, slot);

	return from < c->n && from != to &&
	       rbt_cluster_do(c, to, "CLUSTER SETSLOT %d IMPORTING %s",
			      (int)slot, c->nodes[from].id) &&
	       rbt_cluster_do(c, from, "CLUSTER SETSLOT %d MIGRATING %s",
			      (int)slot, c->nodes[to].id);
}

/* What a client of the test has written to the key on its way must not keep it
 * there: REPLACE. */
static bool migrate_from(rbt_cluster *c, size_t from, const char *key,
			 size_t len, size_t to)
{
	char format[256], auth[160];

	rbt_cluster_migrate_auth(c, auth, sizeof(auth));
	snprintf(format, sizeof(format),
		 "MIGRATE 127.0.0.1 %d %%b 0 %d REPLACE%s",
		 rbt_cluster_port(c, to), MIGRATE_MS, auth);
	return rbt_cluster_do(c, from, format, key, len);
}

bool rbt_cluster_migrate_key(rbt_cluster *c, const char *key, size_t to)
{
	size_t len = strlen(key);
	size_t from = rbt_cluster_owner(c, rbt_slot_of(key, len));

	return from < c->n && migrate_from(c, from, key, len, to);
}

/* At most so many keys of the slot from one node to the other. */
static long migrate_some(rbt_cluster *c, unsigned slot, size_t from, size_t to,
			 size_t most)
{
	redisReply *reply = rbt_cluster_ask(
		c, from, "CLUSTER GETKEYSINSLOT %d %d", (int)slot, (int)most);
	bool fine = reply && reply->type == REDIS_REPLY_ARRAY;
	long n = 0;

	for (size_t i = 0; fine && i < reply->elements; i++, n++)
		fine = migrate_from(c, from, reply->element[i]->str,
				    reply->element[i]->len, to);
	if (reply)
		freeReplyObject(reply);
	return fine ? n : -1;
}

static bool migrate_all(rbt_cluster *c, unsigned slot, size_t from, size_t to)
{
	long n;

	do
		n = migrate_some(c, slot, from, to, KEYS_AT_ONCE);
	while (n > 0);
	return n == 0;
}

long rbt_cluster_migrate(rbt_cluster *c, unsigned slot, size_t to, size_t most)
{
	size_t from = rbt_cluster_owner(c, slot);

	return from < c->n ? migrate_some(c, slot, from, to, most) : -1;
}

/* ------------------------------------------------------------- the end -- */

/* First who gets it, which then has the newest epoch; then who had it; others
 * would learn of it by rumour, but tests need not wait. Replicas follow.
 *
 * That epoch is only the newest if the node has heard of all before: otherwise
 * an older claim of the slot, still on its way, beats it, and the keys are gone.
 * So nothing is moved before the last move is known everywhere. */
static bool tell_all(rbt_cluster *c, unsigned slot, size_t from, size_t to)
{
	const char *format = "CLUSTER SETSLOT %d NODE %s";
	const char *id = c->nodes[to].id;

	if (!rbt_cluster_do(c, to, format, (int)slot, id) ||
	    !rbt_cluster_do(c, from, format, (int)slot, id))
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (i != to && i != from && rbt_cluster_runs(c, i) &&
		    rbt_cluster_is_primary(c, i) &&
		    !rbt_cluster_do(c, i, format, (int)slot, id))
			return false;
	return rbt_cluster_await_settled(c, slot, to, SETTLE_MS);
}

bool rbt_cluster_finish_move(rbt_cluster *c, unsigned slot, size_t to)
{
	size_t from = rbt_cluster_owner(c, slot);

	return from < c->n && migrate_all(c, slot, from, to) &&
	       tell_all(c, slot, from, to);
}

bool rbt_cluster_abort_move(rbt_cluster *c, unsigned slot, size_t to)
{
	size_t from = rbt_cluster_owner(c, slot);
	const char *format = "CLUSTER SETSLOT %d STABLE";

	/* While the owner has it open, it takes no key back. */
	return from < c->n && rbt_cluster_do(c, from, format, (int)slot) &&
	       migrate_all(c, slot, to, from) &&
	       rbt_cluster_do(c, to, format, (int)slot);
}

bool rbt_cluster_move(rbt_cluster *c, unsigned slot, size_t to)
{
	return rbt_cluster_begin_move(c, slot, to) &&
	       rbt_cluster_finish_move(c, slot, to);
}

bool rbt_cluster_close_slots(rbt_cluster *c)
{
	bool fine = true;

	for (size_t i = 0; i < c->n; i++) {
		redisReply *reply = NULL;
		const char *at = NULL;

		/* A node lists its own: "[123->-id] [124-<-id]". */
		if (rbt_cluster_runs(c, i))
			reply = rbt_cluster_ask(c, i, "CLUSTER NODES");
		if (reply && reply->str)
			at = strchr(reply->str, '[');
		for (; at; at = strchr(at + 1, '['))
			fine &= rbt_cluster_do(c, i,
					       "CLUSTER SETSLOT %d STABLE",
					       atoi(at + 1));
		if (reply)
			freeReplyObject(reply);
	}
	return fine;
}

static bool is_uncovered(rbt_cluster *c, size_t node, unsigned first,
			 unsigned last)
{
	rbt_view view;

	if (!rbt_cluster_view(c, node, &view))
		return false;
	for (unsigned slot = first; slot <= last; slot++)
		if (view.owner[slot] != RBT_MOST_NODES)
			return false;
	return true;
}

bool rbt_cluster_uncover(rbt_cluster *c, unsigned first, unsigned last)
{
	uint64_t end = rbt_now_us() + (uint64_t)UNCOVER_MS * 1000;
	size_t fine = 0;

	/* A node forgets by itself; a ping that was under way, from before the
	 * owner forgot, may make another remember. */
	while (fine < c->n) {
		fine = 0;
		if (rbt_now_us() > end)
			return rbt_cluster_fail(c, "slots stay covered");
		for (size_t i = 0; i < c->n; i++) {
			fine += is_uncovered(c, i, first, last);
			rbt_cluster_do(c, i, "CLUSTER DELSLOTSRANGE %d %d",
				       (int)first, (int)last);
		}
	}
	return true;
}
