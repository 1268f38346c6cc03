/*
 * A client: a connection or how to get one, the options to use it with, what
 * was learned at its other end, and the line on its last failure.
 */
#ifndef RBI_CLIENT_H
#define RBI_CLIENT_H

#include "clock.h"
#include "lane.h"
#include "learn.h"
#include "options.h"
#include "pool.h"
#include "transport.h"
#include "uri.h"
#include "wake.h"

/* Whether the server knows a command. */
typedef enum rbi_support {
	RBI_SUPPORT_UNKNOWN, /* not asked yet */
	RBI_SUPPORT_YES,
	RBI_SUPPORT_NO
} rbi_support;

struct rb_client {
	const rb_allocator *allocator;
	rb_options defaults; /* as the caller set them */
	const rbi_clock *clock;
	const rbi_sys *sys;
	const void *plain;	  /* rbi_transport_plain() */
	struct redisContext *ctx; /* NULL: not connected */
	bool own;		  /* ctx is ours, made from uri */
	rbi_uri uri;
	struct rbi_secure *tls; /* NULL: without */
	rbi_lane lane;
	rbi_learned learned[RBI_SHAPES]; /* of the answers of each shape */
	rbi_limits limits;
	rbi_wake wake;
	rbi_support msetex;
	rbi_pool *pool; /* of several connections; NULL: none was needed yet */
	bool by_slot;	/* the server wants keys of one slot in a command */
	char node[256];
	char error[512];
};

/* Sets the line that rb_client_error() gives, and answers status. */
rb_status rbi_client_fail(rb_client *client, rb_status status,
			  const char *format, ...) RBI_FORMAT(3, 4);

/* A line on a failure without the node that leads it in, since it will be led
 * in by it again. */
const char *rbi_client_words(const rb_client *client, const char *line);

/*
 * The options of a call: what opts says, then the client's defaults, then the
 * library's. RB_ERR_INVALID: opts is bad.
 */
rb_status rbi_client_options(rb_client *client, const rb_options *opts,
			     rb_options *out) RBI_MUST_CHECK;

/* The deadline of a call that begins now. */
uint64_t rbi_client_deadline(const rb_client *client, const rb_options *o);

/*
 * Connects if need be and takes the context over for a call. RB_ERR_IO: the
 * peer had closed the connection, which t->error has more on. On any other
 * failure rb_client_error() is set and the context is left alone.
 */
rb_status rbi_client_take(rb_client *client, const rb_options *o,
			  uint64_t deadline_us,
			  rbi_transport *t) RBI_MUST_CHECK;

/* Whether a wrapped context can be used, if that is what the client has: what
 * rbi_client_take() would answer, for who takes it over later. */
rb_status rbi_client_check_wrapped(rb_client *client,
				   const rb_options *o) RBI_MUST_CHECK;

/* Whether rbi_client_renew() can do anything. */
bool rbi_client_can_renew(const rb_client *client, const rb_options *o);

/*
 * Makes a new connection in place of one that ended in the middle of a call,
 * and takes it over. On any failure rb_client_error() says why.
 */
rb_status rbi_client_renew(rb_client *client, const rb_options *o,
			   uint64_t deadline_us,
			   rbi_transport *t) RBI_MUST_CHECK;

#endif
