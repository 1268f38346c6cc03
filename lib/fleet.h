/*
 * A call over several connections: to the nodes of a cluster, or several to
 * one server. All of them are driven from one poll loop.
 *
 * What the feed gives out is sorted by who serves it (sorted), given to the legs
 * (share), and comes back to the feed as it is reported. What a node refuses
 * goes where it sends it (detour), by way of a place to wait in (yard). When
 * the map of the cluster proves to be out of date, it is asked for (scout),
 * while the rest goes on.
 *
 * A stream is done load by load, each as large as keeps all nodes at work.
 */
#ifndef RBI_FLEET_H
#define RBI_FLEET_H

#include "scout.h"
#include "share.h"

/*
 * Makes sure that it is known whom to ask. On failure rb_client_error() says
 * why, and nothing was sent.
 */
rb_status rbi_fleet_prepare(rb_client *client, const rb_options *o,
			    uint64_t deadline_us) RBI_MUST_CHECK;

/*
 * Runs a call. The members of f that the caller sets are set; waiting are
 * nwaiting parcels that the feed has given out before.
 */
void rbi_fleet_run(rbi_fleet *f, const rbi_parcel *waiting, size_t nwaiting);

/* What stopped the call, with f->why; RB_OK: nothing did. */
rb_status rbi_fleet_status(rbi_fleet *f);

/* Frees what rbi_fleet_run() took. The result has what it needs. */
void rbi_fleet_fini(rbi_fleet *f);

#endif
