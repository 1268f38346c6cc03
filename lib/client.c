#include "client.h"

#include "alloc.h"
#include "dial.h"
#include "secure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

rb_status rbi_client_fail(rb_client *client, rb_status status,
			  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vsnprintf(client->error, sizeof(client->error), format, args) < 0)
		client->error[0] = '\0';
	va_end(args);
	return status;
}

const char *rbi_client_words(const rb_client *client, const char *line)
{
	size_t len = strlen(client->node);

	if (strncmp(line, client->node, len) == 0 &&
	    strncmp(line + len, ": ", 2) == 0)
		return line + len + 2;
	return line;
}

const char *rb_client_error(const rb_client *client)
{
	return client != NULL ? client->error : "client is NULL";
}

/* ---------------------------------------------------------------- begin -- */

/* The client outlives these texts, which are used when it is made. */
static void forget_tls(rb_options *o)
{
	o->tls_ca_file = NULL;
	o->tls_ca_dir = NULL;
	o->tls_cert_file = NULL;
	o->tls_key_file = NULL;
	o->tls_server_name = NULL;
}

/* A client without a connection, in *out; or *problem. */
static rb_status client_new(rb_client **out, const rb_options *defaults,
			    const char **problem)
{
	rb_options read;
	rb_client *client;
	const rb_allocator *a;

	*problem = rbi_options_read(&read, defaults);
	if (*problem != NULL)
		return RB_ERR_INVALID;
	*problem = "out of memory";
	a = read.allocator != NULL ? read.allocator : &rbi_alloc_default;
	client = rbi_alloc_zero(a, sizeof(*client));
	if (client == NULL)
		return RB_ERR_NOMEM;
	client->allocator = a;
	client->defaults = read;
	client->clock = &rbi_clock_monotonic;
	client->sys = &rbi_sys_default;
	client->plain = rbi_transport_plain();
	rbi_lane_init(&client->lane, a);
	if (!rbi_wake_init(&client->wake)) {
		rbi_free(a, client);
		return RB_ERR_NOMEM;
	}
	*out = client;
	return RB_OK;
}

rb_status rb_client_wrap(rb_client **out, struct redisContext *ctx,
			 const rb_options *defaults)
{
	const char *problem;
	rb_status status;

	if (out == NULL)
		return RB_ERR_INVALID;
	*out = NULL;
	status = rbi_transport_check(ctx, &problem);
	if (status == RB_OK)
		status = client_new(out, defaults, &problem);
	if (status != RB_OK)
		return status;
	forget_tls(&(*out)->defaults);
	(*out)->ctx = ctx;
	rbi_transport_node(ctx, (*out)->node, sizeof((*out)->node));
	return RB_OK;
}

/* What the options say on TLS, which is then forgotten. */
static rb_status secure(rb_client *client, const char **problem)
{
	rb_options *o = &client->defaults;
	rb_status status = RB_OK;

	if (client->uri.secure) {
		status = rbi_secure_new(&client->tls, o, client->allocator,
					problem);
	} else if (rbi_secure_is_asked(o)) {
		*problem = "options of TLS are set, but the URI is neither "
			   "rediss:// nor rediss+cluster://";
		status = RB_ERR_INVALID;
	}
	client->uri.tls = client->tls;
	forget_tls(o);
	return status;
}

/* *problem: a static text, unless all is well. */
static rb_status open_client(rb_client **out, const char *uri,
			     const rb_options *defaults, const char **problem)
{
	rb_client *client;
	rb_status status = client_new(&client, defaults, problem);

	if (status != RB_OK)
		return status;
	client->own = true;
	status = rbi_uri_parse(&client->uri, uri, client->allocator, problem);
	if (status == RB_OK)
		status = secure(client, problem);
	if (status != RB_OK) {
		rb_client_free(client);
		return status;
	}
	rbi_dial_node(&client->uri, client->node, sizeof(client->node));
	*out = client;
	return RB_OK;
}

rb_status rb_client_open(rb_client **out, const char *uri,
			 const rb_options *defaults)
{
	const char *problem;

	if (out == NULL)
		return RB_ERR_INVALID;
	*out = NULL;
	return open_client(out, uri, defaults, &problem);
}

const char *rb_open_problem(const char *uri, const rb_options *defaults)
{
	const char *problem;
	rb_client *client;

	if (open_client(&client, uri, defaults, &problem) != RB_OK)
		return problem;
	rb_client_free(client);
	return NULL;
}

const char *rb_uri_problem(const char *uri)
{
	const char *problem = NULL;
	rbi_uri parsed;

	if (rbi_uri_parse(&parsed, uri, &rbi_alloc_default, &problem) != RB_OK)
		return problem;
	rbi_uri_fini(&parsed, &rbi_alloc_default);
	return NULL;
}

void rb_client_free(rb_client *client)
{
	if (client == NULL)
		return;
	if (client->own)
		rbi_transport_close(client->ctx);
	rbi_pool_free(client->pool);
	rbi_lane_fini(&client->lane);
	rbi_wake_fini(&client->wake);
	rbi_uri_fini(&client->uri, client->allocator);
	rbi_secure_free(client->tls, client->allocator);
	rbi_free(client->allocator, client);
}

/* --------------------------------------------------------------- a call -- */

rb_status rbi_client_options(rb_client *client, const rb_options *opts,
			     rb_options *out)
{
	const char *problem = rbi_options_read(out, opts);

	if (problem != NULL)
		return rbi_client_fail(client, RB_ERR_INVALID, "%s", problem);
	rbi_options_fill(out, &client->defaults);
	return RB_OK;
}

uint64_t rbi_client_deadline(const rb_client *client, const rb_options *o)
{
	uint32_t ms = o->timeout_ms;

	if (ms == 0 && !client->own && client->ctx != NULL)
		ms = rbi_transport_timeout_ms(client->ctx);
	return rbi_clock_after(rbi_clock_now(client->clock), ms);
}

/* Makes the connection of a client that has none, or had one. */
static rb_status dial(rb_client *client, const rb_options *o,
		      uint64_t deadline_us)
{
	uint64_t until = rbi_clock_after(rbi_clock_now(client->clock),
					 o->connect_timeout_ms);
	bool sooner = until < deadline_us;
	rb_status status;

	if (client->ctx != NULL && !rbi_transport_is_broken(client->ctx))
		return RB_OK;
	rbi_transport_close(client->ctx);
	client->ctx = NULL;
	status = rbi_dial(&client->ctx, &client->uri, client->allocator,
			  client->clock, sooner ? until : deadline_us,
			  &client->wake, client->error, sizeof(client->error));
	/* Only the deadline of the call is its own failure. */
	return status == RB_ERR_TIMEOUT && sooner ? RB_ERR_CONNECT : status;
}

/* The words of a server that speaks before it is asked, which it does only to
 * send us away. */
static rb_status sent_away(rb_client *client, rbi_transport *t)
{
	char words[128];
	size_t len = 0;

	if (rbi_transport_recv(t, words, sizeof(words) - 1, &len) !=
	    RBI_IO_DONE)
		len = 0;
	words[len] = '\0';
	words[strcspn(words, "\r\n")] = '\0';
	rbi_transport_break(t, RB_ERR_CONNECT, words);
	return rbi_client_fail(client, RB_ERR_CONNECT, "%s: %s", client->node,
			       words[0] == '-' ? words + 1 : words);
}

static rb_status take_own(rb_client *client, rbi_transport *t)
{
	const char *problem = NULL;
	rb_status status = rbi_transport_take(t, client->ctx, client->sys,
					      client->plain, &problem);

	if (status == RB_ERR_BUSY)
		return sent_away(client, t);
	if (status == RB_ERR_IO)
		rbi_transport_break(t, status,
				    "the server closed the connection");
	return status;
}

static rb_status dial_and_take(rb_client *client, const rb_options *o,
			       uint64_t deadline_us, rbi_transport *t)
{
	bool fresh =
		client->ctx == NULL || rbi_transport_is_broken(client->ctx);
	rb_status status = dial(client, o, deadline_us);

	if (status == RB_OK)
		status = take_own(client, t);
	if (fresh || (status != RB_ERR_IO && status != RB_ERR_CONNECT))
		return status;
	/* It was closed while it lay idle. Nothing has been sent on it, so a
	 * new one may take its place, for writes too. */
	client->error[0] = '\0';
	status = dial(client, o, deadline_us);
	return status == RB_OK ? take_own(client, t) : status;
}

/* ---------------------------------------------------------------- wrapped -- */

static rb_status take_wrapped(rb_client *client, rbi_transport *t)
{
	const char *problem = NULL;
	rb_status status = rbi_transport_take(t, client->ctx, client->sys,
					      client->plain, &problem);

	if (problem == NULL)
		return status;
	rbi_transport_give(t);
	return rbi_client_fail(client, status, "%s", problem);
}

/* Asks the caller for a context in place of the one that is broken. */
static rb_status renew_wrapped(rb_client *client, const rb_options *o,
			       rbi_transport *t)
{
	struct redisContext *fresh = NULL;

	if (o->reconnect(o->reconnect_arg, client->ctx, &fresh) < 0 ||
	    fresh == NULL) {
		/* It may have freed the one that was lost. */
		client->ctx = NULL;
		return rbi_client_fail(client, RB_ERR_SKIPPED,
				       "%s: options.reconnect gave no context",
				       client->node);
	}
	client->ctx = fresh;
	rbi_transport_node(fresh, client->node, sizeof(client->node));
	return take_wrapped(client, t);
}

/* ------------------------------------------------------------------- take -- */

/* Whether the caller is to be asked for another context first. */
static bool is_to_renew(const rb_client *client, const rb_options *o)
{
	return o->reconnect != NULL &&
	       (client->ctx == NULL || rbi_transport_is_broken(client->ctx));
}

static rb_status take(rb_client *client, const rb_options *o,
		      uint64_t deadline_us, rbi_transport *t)
{
	if (client->own)
		return dial_and_take(client, o, deadline_us, t);
	if (is_to_renew(client, o))
		return renew_wrapped(client, o, t);
	return take_wrapped(client, t);
}

rb_status rbi_client_take(rb_client *client, const rb_options *o,
			  uint64_t deadline_us, rbi_transport *t)
{
	rb_status status;

	memset(t, 0, sizeof(*t));
	status = take(client, o, deadline_us, t);
	if (status == RB_ERR_SKIPPED)
		status = RB_ERR_CONNECT;
	t->wake = &client->wake;
	return status;
}

rb_status rbi_client_check_wrapped(rb_client *client, const rb_options *o)
{
	const char *problem = NULL;
	rb_status status;

	if (client->own || is_to_renew(client, o))
		return RB_OK;
	status = rbi_transport_peek(client->ctx, client->sys, client->plain,
				    &problem);
	/* That its connection has ended is found out in the call. */
	if (problem == NULL)
		return RB_OK;
	return rbi_client_fail(client, status, "%s", problem);
}

bool rbi_client_can_renew(const rb_client *client, const rb_options *o)
{
	return client->own || o->reconnect != NULL;
}

rb_status rbi_client_renew(rb_client *client, const rb_options *o,
			   uint64_t deadline_us, rbi_transport *t)
{
	rb_status status;

	rbi_transport_give(t);
	if (!client->own) {
		status = renew_wrapped(client, o, t);
	} else {
		status = dial(client, o, deadline_us);
		if (status == RB_OK)
			status = take_own(client, t);
	}
	t->wake = &client->wake;
	if (status == RB_ERR_IO && client->error[0] == '\0')
		return rbi_client_fail(client, status,
				       "%s: the server closed the connection",
				       client->node);
	return status;
}

void rb_client_cancel(rb_client *client)
{
	if (client != NULL)
		rbi_wake_request(&client->wake);
}
