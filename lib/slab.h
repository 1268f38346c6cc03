/*
 * Memory that is taken in blocks and freed all at once.
 *
 * Two uses, one list of blocks ("slabs") each:
 *	- received bytes. The transport writes behind the newest slab's used
 *	  bytes, the reader walks them where they lie, and the result points
 *	  into them. What is cut by the end of a slab is moved to the next one,
 *	  once (rbi_slabs_extend);
 *	- small objects of a result, such as texts (rbi_slabs_take).
 *
 * Invariants: used bytes never move, but for the tail that extend is told
 * about. Slabs grow with what was taken before, so that their number grows
 * with the logarithm of the bytes up to SLAB_MAX, and a small batch takes
 * little.
 */
#ifndef RBI_SLAB_H
#define RBI_SLAB_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

typedef struct rbi_slab rbi_slab;
struct rbi_slab {
	rbi_slab *next; /* the one before, in time */
	size_t cap;
	size_t len;  /* used bytes */
	size_t warm; /* bytes that the system has given pages for */
	char bytes[];
};

typedef struct rbi_slabs {
	const rb_allocator *allocator;
	rbi_slab *newest; /* NULL: none yet */
	rbi_slab *spare;  /* taken ahead by warming; the next one */
	size_t cap;	  /* of all slabs together */
} rbi_slabs;

void rbi_slabs_init(rbi_slabs *s, const rb_allocator *allocator);

/* Frees what was taken ahead. */
void rbi_slabs_drop_spare(rbi_slabs *s);

/* Frees all slabs; init is not needed before the next use. */
void rbi_slabs_fini(rbi_slabs *s);

/*
 * Makes room for need bytes behind the used bytes of the newest slab. If that
 * takes a new slab, the last tail bytes move there, and a slab that held nothing
 * else is freed. RB_ERR_NOMEM: nothing has changed.
 */
rb_status rbi_slabs_extend(rbi_slabs *s, size_t tail,
			   size_t need) RBI_MUST_CHECK;

/* Frees all slabs but the newest, whose used bytes stay. */
void rbi_slabs_keep_newest(rbi_slabs *s);

/* Frees all slabs but the newest, which is empty then. */
void rbi_slabs_reset(rbi_slabs *s);

/*
 * Touches some of the next ahead bytes behind the used ones, so that the system
 * gives pages for them now and not while bytes are received. Where the newest
 * slab ends before that, the next one is taken already. False: nothing is left
 * to touch.
 */
bool rbi_slabs_warm(rbi_slabs *s, size_t ahead);

/* size bytes aligned for any object, or NULL. */
void *rbi_slabs_take(rbi_slabs *s, size_t size) RBI_MUST_CHECK;

/* A copy of len bytes with a NUL behind them, or NULL. */
char *rbi_slabs_copy(rbi_slabs *s, const char *data, size_t len) RBI_MUST_CHECK;

#endif
