#include "dial.h"

#include "route.h"

#include <hiredis/hiredis.h>
#include <string.h>

/* What a server says to each of the commands is one short line. */
#define ANSWER_MAX 1024

#define NODE_MAX 256

/* Of one poll, whose time is an int. */
#define POLL_MAX_US 60000000u

void rbi_dial_node(const rbi_uri *uri, char *buf, size_t size)
{
	if (uri->path != NULL)
		rbi_print(buf, size, "%s", uri->path);
	else if (strchr(uri->host, ':') != NULL)
		rbi_print(buf, size, "[%s]:%u", uri->host, uri->port);
	else
		rbi_print(buf, size, "%s:%u", uri->host, uri->port);
}

/* ----------------------------------------------------- beginning and end -- */

void rbi_dialer_begin(rbi_dialer *d, const rbi_uri *uri, const rb_allocator *a,
		      bool readonly)
{
	memset(d, 0, sizeof(*d));
	d->uri = uri;
	d->allocator = a;
	d->readonly = readonly;
	rbi_connect_begin(&d->connect, uri);
}

struct redisContext *rbi_dialer_take(rbi_dialer *d)
{
	redisContext *ctx = d->ctx;

	rbi_transport_give(&d->transport);
	d->ctx = NULL;
	return ctx;
}

void rbi_dialer_fini(rbi_dialer *d)
{
	rbi_ask_fini(&d->ask);
	rbi_connect_fini(&d->connect);
	if (d->ctx != NULL)
		redisFree(d->ctx);
	d->ctx = NULL;
}

/* What the server holds of the connection is given back at once. */
static rbi_dialer_state failed(rbi_dialer *d, rb_status status,
			       const char *words)
{
	char node[NODE_MAX];

	rbi_dial_node(d->uri, node, sizeof(node));
	rbi_print(d->why, sizeof(d->why), "%s: %s", node, words);
	d->status = status;
	d->state = RBI_DIALER_FAILED;
	rbi_dialer_fini(d);
	return RBI_DIALER_FAILED;
}

/* -------------------------------------------------------------- connect -- */

/* Nobody has said anything to the server yet. */
static void begin_talk(rbi_dialer *d)
{
	rbi_transport_begin(&d->transport, d->ctx, &rbi_sys_default);
	d->stage = RBI_DIALER_AUTH;
}

static rbi_dialer_state make_context(rbi_dialer *d)
{
	d->ctx = redisConnectFd(d->connect.fd);
	if (d->ctx == NULL)
		return failed(d, RB_ERR_NOMEM, "out of memory");
	(void)rbi_connect_take(&d->connect);
	if (d->uri->secure)
		d->stage = RBI_DIALER_TLS;
	else
		begin_talk(d);
	return RBI_DIALER_DONE;
}

static rbi_dialer_state connect_on(rbi_dialer *d)
{
	switch (rbi_connect_step(&d->connect)) {
	case RBI_CONNECT_WAITING:
		return RBI_DIALER_WAITING;
	case RBI_CONNECT_DONE:
		return make_context(d);
	case RBI_CONNECT_FAILED:
		break;
	}
	return failed(d, RB_ERR_CONNECT, d->connect.problem);
}

/* ------------------------------------------------------------------ TLS -- */

static rbi_dialer_state secure(rbi_dialer *d)
{
	rbi_secure_state state =
		d->tls.ctx == NULL ? rbi_secure_begin(&d->tls, d->uri->tls,
						      d->ctx, d->uri->host) :
				     rbi_secure_step(&d->tls);

	if (state == RBI_SECURE_WAITING)
		return RBI_DIALER_WAITING;
	if (state == RBI_SECURE_FAILED)
		return failed(d,
			      d->tls.no_memory ? RB_ERR_NOMEM : RB_ERR_CONNECT,
			      d->tls.problem);
	begin_talk(d);
	return RBI_DIALER_DONE;
}

/* ------------------------------------------------------------ handshake -- */

typedef struct command {
	size_t argc; /* 0: not needed */
	const char *argv[3];
	char db[16];
} command;

static void set_auth(command *c, const rbi_uri *uri)
{
	if (uri->password == NULL)
		return;
	c->argv[c->argc++] = "AUTH";
	if (uri->user != NULL)
		c->argv[c->argc++] = uri->user;
	c->argv[c->argc++] = uri->password;
}

static void set_select(command *c, const rbi_uri *uri)
{
	if (uri->db == 0)
		return;
	rbi_print(c->db, sizeof(c->db), "%u", uri->db);
	c->argv[c->argc++] = "SELECT";
	c->argv[c->argc++] = c->db;
}

static void set_command(command *c, const rbi_dialer *d)
{
	c->argc = 0;
	switch (d->stage) {
	case RBI_DIALER_AUTH:
		set_auth(c, d->uri);
		return;
	case RBI_DIALER_SELECT:
		set_select(c, d->uri);
		return;
	case RBI_DIALER_READONLY:
		if (d->readonly)
			c->argv[c->argc++] = "READONLY";
		return;
	case RBI_DIALER_CONNECT:
	case RBI_DIALER_TLS:
	case RBI_DIALER_READY:
		return;
	}
}

static const char *stage_name(rbi_dialer_stage stage)
{
	switch (stage) {
	case RBI_DIALER_AUTH:
		return "AUTH";
	case RBI_DIALER_SELECT:
		return "SELECT";
	case RBI_DIALER_READONLY:
		return "READONLY";
	case RBI_DIALER_CONNECT:
	case RBI_DIALER_TLS:
	case RBI_DIALER_READY:
		break;
	}
	return "connecting";
}

/* A server that does not know a command may repeat its arguments, or the
 * beginning of them. */
static size_t harmless(const rbi_dialer *d, const char *words)
{
	const char *password = d->uri->password;
	const char *arguments = strstr(words, "with args");

	if (password != NULL && strstr(words, password) != NULL)
		return 0;
	return arguments != NULL ? (size_t)(arguments - words) : strlen(words);
}

static rbi_dialer_state failed_stage(rbi_dialer *d, rb_status status,
				     const char *words, size_t len)
{
	char line[ANSWER_MAX];

	rbi_print(line, sizeof(line), "%s failed%s%.*s", stage_name(d->stage),
		  len > 0 ? ": " : ", in words that repeat the password",
		  (int)len, words);
	return failed(d, status, line);
}

static bool is_ok(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STATUS &&
	       strcmp(reply->str, "OK") == 0;
}

/* It says no for now: it is loading its data, or has too many clients. */
static bool is_for_now(const char *words)
{
	rbi_route route = rbi_route_error(words, strlen(words), false);

	return route == RBI_ROUTE_LATER || route == RBI_ROUTE_AGAIN ||
	       (route == RBI_ROUTE_CLOSE &&
		strstr(words, "max number of clients") != NULL);
}

static rbi_dialer_state check_answer(rbi_dialer *d)
{
	const redisReply *reply = d->ask.reply;
	const char *unexpected = "an unexpected answer";
	bool is_error = rbi_reply_is_error(reply);

	d->refused = is_error && !is_for_now(reply->str);
	if (is_error)
		return failed_stage(d, RB_ERR_CONNECT, reply->str,
				    harmless(d, reply->str));
	if (!is_ok(reply))
		return failed_stage(d, RB_ERR_CONNECT, unexpected,
				    strlen(unexpected));
	rbi_ask_fini(&d->ask);
	d->asking = false;
	d->stage++;
	return RBI_DIALER_DONE;
}

/* Begins the stage's command. */
static rbi_dialer_state begin_stage(rbi_dialer *d)
{
	command c;

	set_command(&c, d);
	if (c.argc == 0) {
		d->stage++;
		return RBI_DIALER_DONE;
	}
	if (rbi_ask_begin(&d->ask, d->allocator, c.argv, c.argc, ANSWER_MAX) !=
	    RB_OK)
		return failed(d, RB_ERR_NOMEM, "out of memory");
	d->asking = true;
	return RBI_DIALER_DONE;
}

static rbi_dialer_state ask_on(rbi_dialer *d)
{
	rb_status status;

	switch (rbi_ask_step(&d->ask, &d->transport)) {
	case RBI_ASK_WAITING:
		return RBI_DIALER_WAITING;
	case RBI_ASK_ANSWERED:
		return check_answer(d);
	case RBI_ASK_FAILED:
		break;
	}
	status = d->ask.status == RB_ERR_NOMEM ? RB_ERR_NOMEM : RB_ERR_CONNECT;
	return failed_stage(d, status, d->ask.problem, strlen(d->ask.problem));
}

/* ----------------------------------------------------------------- steps -- */

rbi_dialer_state rbi_dialer_step(rbi_dialer *d)
{
	rbi_dialer_state state = RBI_DIALER_DONE;

	if (d->state != RBI_DIALER_WAITING)
		return d->state;
	while (state == RBI_DIALER_DONE && d->stage != RBI_DIALER_READY) {
		if (d->stage == RBI_DIALER_CONNECT)
			state = connect_on(d);
		else if (d->stage == RBI_DIALER_TLS)
			state = secure(d);
		else if (d->asking)
			state = ask_on(d);
		else
			state = begin_stage(d);
	}
	d->state = state;
	return state;
}

uint64_t rbi_dialer_wants(const rbi_dialer *d, struct pollfd *fd)
{
	uint64_t wait_us = RBI_NEVER;

	memset(fd, 0, sizeof(*fd));
	if (d->stage == RBI_DIALER_CONNECT) {
		fd->fd = rbi_connect_wants(&d->connect, &wait_us);
		fd->events = POLLOUT;
	} else if (d->stage == RBI_DIALER_TLS) {
		fd->fd = d->ctx->fd;
		fd->events = d->tls.write ? POLLOUT : POLLIN;
	} else {
		fd->fd = d->transport.fd;
		fd->events = rbi_ask_events(&d->ask);
		wait_us = rbi_transport_more(&d->transport) ?
				  0 :
				  rbi_transport_patience(&d->transport);
	}
	return wait_us;
}

/* A server without TLS may take the beginning of a handshake for that of a
 * command, and wait for the rest of it. */
const char *rbi_dialer_late(const rbi_dialer *d)
{
	if (d->stage == RBI_DIALER_TLS)
		return "the deadline for connecting passed in the TLS "
		       "handshake: does the server speak TLS?";
	return "the deadline for connecting passed";
}

/* ------------------------------------------------------------ the waiting -- */

/* Waits for what the dialer wants, unless it has taken too long or is not
 * wanted any more. */
static rb_status await(const rbi_dialer *d, const rbi_clock *clock,
		       uint64_t deadline_us, rbi_wake *wake)
{
	struct pollfd fds[] = {
		{ .fd = -1 },
		{ .fd = rbi_wake_fd(wake), .events = POLLIN },
	};
	uint64_t now = rbi_clock_now(clock);
	uint64_t wait_us = rbi_dialer_wants(d, &fds[0]);

	if (rbi_wake_is_requested(wake)) {
		rbi_wake_clear(wake);
		return RB_ERR_CANCELLED;
	}
	if (now >= deadline_us)
		return RB_ERR_TIMEOUT;
	if (wait_us > deadline_us - now)
		wait_us = deadline_us - now;
	if (wait_us > POLL_MAX_US)
		wait_us = POLL_MAX_US;
	(void)poll(fds, 2, (int)((wait_us + 999) / 1000));
	if (fds[1].revents != 0)
		rbi_wake_drain(wake);
	return RB_OK;
}

static void print_end(const rbi_dialer *d, rb_status status, char *why,
		      size_t why_size)
{
	const char *words =
		status == RB_ERR_CANCELLED ? "cancelled" : rbi_dialer_late(d);
	char node[NODE_MAX];

	rbi_dial_node(d->uri, node, sizeof(node));
	rbi_print(why, why_size, "%s: %s", node, words);
}

rb_status rbi_dial(redisContext **out, const rbi_uri *uri,
		   const rb_allocator *a, const rbi_clock *clock,
		   uint64_t deadline_us, rbi_wake *wake, char *why,
		   size_t why_size)
{
	rb_status status = RB_OK;
	rbi_dialer d;

	*out = NULL;
	rbi_dialer_begin(&d, uri, a, false);
	while (status == RB_OK && rbi_dialer_step(&d) == RBI_DIALER_WAITING)
		status = await(&d, clock, deadline_us, wake);
	if (status != RB_OK) {
		print_end(&d, status, why, why_size);
	} else if (d.state == RBI_DIALER_FAILED) {
		status = d.status;
		rbi_print(why, why_size, "%s", d.why);
	} else {
		*out = rbi_dialer_take(&d);
	}
	rbi_dialer_fini(&d);
	return status;
}
