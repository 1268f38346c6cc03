/*
 * What becomes of a command that a node refused because it is not the one to
 * ask, or not now: MOVED, ASK, TRYAGAIN, CLUSTERDOWN and the like.
 *
 *	MOVED		the map is corrected, and it goes by the map; from the
 *			node that it names itself, over a new connection first
 *	ASK		it is asked of that node, once, and the map stays
 *	TRYAGAIN	its keys are on two nodes: each goes by itself
 *	CLUSTERDOWN	it waits, for as long as a failover may take
 *	a replica that is not ready
 *			the primary is asked
 */
#ifndef RBI_DETOUR_H
#define RBI_DETOUR_H

#include "yard.h"

/* What the engine of a leg asks. */
extern const rbi_elsewhere rbi_detour_ops;

#endif
