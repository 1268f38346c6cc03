#include "dial.h"

#include "alloc.h"
#include "encode.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* What a server says to AUTH and SELECT is one short line. */
#define ANSWER_MAX 1024

#define RETRY_MS 5

typedef struct dialer {
	const rbi_uri *uri;
	const rb_allocator *allocator;
	const rbi_clock *clock;
	uint64_t deadline_us;
	rbi_wake *wake;
	char *why;
	size_t why_size;
	char node[256];
	int fd;
} dialer;

void rbi_dial_node(const rbi_uri *uri, char *buf, size_t size)
{
	if (uri->path != NULL)
		rbi_print(buf, size, "%s", uri->path);
	else if (strchr(uri->host, ':') != NULL)
		rbi_print(buf, size, "[%s]:%u", uri->host, uri->port);
	else
		rbi_print(buf, size, "%s:%u", uri->host, uri->port);
}

static rb_status fail(dialer *d, rb_status status, const char *words)
{
	rbi_print(d->why, d->why_size, "%s: %s", d->node, words);
	return status;
}

static rb_status fail_errno(dialer *d, int error)
{
	char words[128];

	rbi_transport_error_text(error, words, sizeof(words));
	return fail(d, RB_ERR_CONNECT, words);
}

static rb_status fail_late(dialer *d)
{
	return fail(d, RB_ERR_TIMEOUT, "the deadline for connecting passed");
}

/* Whether it has taken too long, or is not wanted any more. */
static rb_status go_on(dialer *d, uint64_t now)
{
	if (rbi_wake_is_requested(d->wake)) {
		rbi_wake_clear(d->wake);
		return fail(d, RB_ERR_CANCELLED, "cancelled");
	}
	return now >= d->deadline_us ? fail_late(d) : RB_OK;
}

/* Waits for events on the socket. */
static rb_status await(dialer *d, short events)
{
	struct pollfd fds[] = {
		{ .fd = d->fd, .events = events },
		{ .fd = rbi_wake_fd(d->wake), .events = POLLIN },
	};

	for (;;) {
		uint64_t now = rbi_clock_now(d->clock);
		rb_status status = go_on(d, now);
		uint64_t left;

		if (status != RB_OK)
			return status;
		left = (d->deadline_us - now + 999) / 1000;
		(void)poll(fds, 2, left > 60000 ? 60000 : (int)left);
		if (fds[1].revents != 0)
			rbi_wake_drain(d->wake);
		if (fds[0].revents != 0)
			return RB_OK;
	}
}

/* -------------------------------------------------------------- connect -- */

static rb_status open_socket(dialer *d, int family)
{
	int flags;

	d->fd = socket(family, SOCK_STREAM, 0);
	if (d->fd < 0)
		return fail_errno(d, errno);
	flags = fcntl(d->fd, F_GETFL);
	if (fcntl(d->fd, F_SETFD, FD_CLOEXEC) != 0 || flags < 0 ||
	    fcntl(d->fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return fail_errno(d, errno);
	return RB_OK;
}

static void close_socket(dialer *d)
{
	if (d->fd >= 0)
		(void)close(d->fd);
	d->fd = -1;
}

static rb_status finish_connect(dialer *d)
{
	socklen_t len = sizeof(int);
	int error = 0;
	rb_status status = await(d, POLLOUT);

	if (status != RB_OK)
		return status;
	if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	return error == 0 ? RB_OK : fail_errno(d, error);
}

/* Between two tries. */
static rb_status pause_connecting(dialer *d)
{
	rb_status status = go_on(d, rbi_clock_now(d->clock));

	if (status == RB_OK)
		(void)poll(NULL, 0, RETRY_MS);
	return status;
}

static rb_status connect_failed(dialer *d)
{
	/* An interrupted connect goes on by itself. */
	if (errno != EINPROGRESS && errno != EINTR)
		return fail_errno(d, errno);
	return finish_connect(d);
}

static rb_status connect_address(dialer *d, const struct sockaddr *address,
				 socklen_t len)
{
	rb_status status = open_socket(d, address->sa_family);

	if (status != RB_OK)
		return status;
	while (connect(d->fd, address, len) != 0) {
		/* A unix socket whose server has its queue full: nothing to
		 * wait on but time. */
		if (errno != EAGAIN)
			return connect_failed(d);
		status = pause_connecting(d);
		if (status != RB_OK)
			return status;
	}
	return RB_OK;
}

static rb_status connect_unix(dialer *d)
{
	struct sockaddr_un address;
	size_t len = strlen(d->uri->path);

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	if (len >= sizeof(address.sun_path))
		return fail(d, RB_ERR_CONNECT, "the socket path is too long");
	memcpy(address.sun_path, d->uri->path, len);
	return connect_address(d, (const struct sockaddr *)&address,
			       sizeof(address));
}

static rb_status look_up(dialer *d, struct addrinfo **list)
{
	struct addrinfo hints;
	char port[8];
	int error;

	memset(&hints, 0, sizeof(hints));
	hints.ai_family = AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	rbi_print(port, sizeof(port), "%u", d->uri->port);
	error = getaddrinfo(d->uri->host, port, &hints, list);
	if (error != 0)
		return fail(d, RB_ERR_CONNECT, gai_strerror(error));
	return RB_OK;
}

static rb_status connect_tcp(dialer *d)
{
	struct addrinfo *list;
	struct addrinfo *at;
	int on = 1;
	rb_status status = look_up(d, &list);

	if (status != RB_OK)
		return status;
	for (at = list; at != NULL; at = at->ai_next) {
		close_socket(d);
		status = connect_address(d, at->ai_addr, at->ai_addrlen);
		if (status != RB_ERR_CONNECT)
			break;
	}
	freeaddrinfo(list);
	if (status == RB_OK)
		(void)setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on));
	return status;
}

/* ------------------------------------------------------------ handshake -- */

static rb_status send_all(dialer *d, rbi_transport *t, const char *data,
			  size_t len)
{
	while (len > 0) {
		struct iovec iov = { (void *)(uintptr_t)data, len };
		size_t moved = 0;
		rb_status status;

		switch (rbi_transport_send(t, &iov, 1, &moved)) {
		case RBI_IO_DONE:
			data += moved;
			len -= moved;
			break;
		case RBI_IO_LATER:
			status = await(d, POLLOUT);
			if (status != RB_OK)
				return status;
			break;
		case RBI_IO_END:
		case RBI_IO_ERROR:
			/* The server's last words may still be there to
			 * read: let the answer say what is wrong. */
			return RB_OK;
		}
	}
	return RB_OK;
}

static rb_status receive_some(dialer *d, rbi_transport *t, rbi_reader *r,
			      char *buf)
{
	size_t have = (size_t)(r->end - buf);
	size_t moved = 0;

	if (have == ANSWER_MAX)
		return fail(d, RB_ERR_CONNECT, "its answer is too long");
	switch (rbi_transport_recv(t, r->end, ANSWER_MAX - have, &moved)) {
	case RBI_IO_DONE:
		rbi_reader_window(r, r->pos, r->end + moved);
		return RB_OK;
	case RBI_IO_LATER:
		return await(d, POLLIN);
	case RBI_IO_END:
		return fail(d, RB_ERR_CONNECT, "it closed the connection");
	case RBI_IO_ERROR:
		break;
	}
	return fail_errno(d, t->error);
}

/* A server that does not know a command may repeat its arguments, or the
 * beginning of them. */
static size_t harmless(const dialer *d, const char *words)
{
	const char *password = d->uri->password;
	const char *arguments = strstr(words, "with args");

	if (password != NULL && strstr(words, password) != NULL)
		return 0;
	return arguments != NULL ? (size_t)(arguments - words) : strlen(words);
}

static rb_status fail_answer(dialer *d, const char *name, const char *words)
{
	size_t len = harmless(d, words);

	if (len == 0)
		rbi_print(d->why, d->why_size,
			  "%s: %s failed, in words that repeat the password",
			  d->node, name);
	else
		rbi_print(d->why, d->why_size, "%s: %s failed: %.*s", d->node,
			  name, (int)len, words);
	return RB_ERR_CONNECT;
}

static rb_status read_answer(dialer *d, rbi_transport *t, const char *name)
{
	char buf[ANSWER_MAX];
	rbi_token token;
	rbi_reader r;

	rbi_reader_init(&r, ANSWER_MAX);
	rbi_reader_window(&r, buf, buf);
	for (;;) {
		rbi_token_kind kind = rbi_reader_next(&r, &token);
		rb_status status;

		if (kind == RBI_TOKEN_BROKEN)
			return fail_answer(d, name, r.problem);
		if (kind == RBI_TOKEN_ERROR)
			return fail_answer(d, name, token.data);
		if (kind == RBI_TOKEN_SIMPLE && strcmp(token.data, "OK") == 0 &&
		    r.pos == r.end)
			return RB_OK;
		if (kind != RBI_TOKEN_MORE)
			return fail_answer(d, name, "an unexpected answer");
		status = receive_some(d, t, &r, buf);
		if (status != RB_OK)
			return status;
	}
}

/* Sends one command and awaits its OK. */
static rb_status ask(dialer *d, rbi_transport *t, const char *const *argv,
		     size_t argc)
{
	size_t size = rbi_encode_header_size(argc);
	rb_status status;
	char *command;
	char *p;
	size_t i;

	for (i = 0; i < argc; i++)
		size += rbi_encode_arg_size(strlen(argv[i]));
	command = rbi_alloc(d->allocator, size);
	if (command == NULL)
		return fail(d, RB_ERR_NOMEM, "out of memory");
	p = rbi_encode_header(command, argc);
	for (i = 0; i < argc; i++)
		p = rbi_encode_arg(p, argv[i], strlen(argv[i]));
	status = send_all(d, t, command, size);
	rbi_alloc_wipe(command, size);
	rbi_free(d->allocator, command);
	return status == RB_OK ? read_answer(d, t, argv[0]) : status;
}

static rb_status authenticate(dialer *d, rbi_transport *t)
{
	const char *with_user[] = { "AUTH", d->uri->user, d->uri->password };
	const char *without[] = { "AUTH", d->uri->password };

	if (d->uri->password == NULL)
		return RB_OK;
	if (d->uri->user == NULL)
		return ask(d, t, without, 2);
	return ask(d, t, with_user, 3);
}

static rb_status select_db(dialer *d, rbi_transport *t)
{
	char db[16];
	const char *argv[] = { "SELECT", db };

	if (d->uri->db == 0)
		return RB_OK;
	rbi_print(db, sizeof(db), "%u", d->uri->db);
	return ask(d, t, argv, 2);
}

static rb_status shake_hands(dialer *d, redisContext *ctx)
{
	rbi_transport t = { .ctx = ctx, .sys = &rbi_sys_default, .fd = d->fd };
	rb_status status = authenticate(d, &t);

	return status == RB_OK ? select_db(d, &t) : status;
}

/* ---------------------------------------------------------------------- */

rb_status rbi_dial(redisContext **out, const rbi_uri *uri,
		   const rb_allocator *a, const rbi_clock *clock,
		   uint64_t deadline_us, rbi_wake *wake, char *why,
		   size_t why_size)
{
	dialer d = { .uri = uri,
		     .allocator = a,
		     .clock = clock,
		     .deadline_us = deadline_us,
		     .wake = wake,
		     .why = why,
		     .why_size = why_size,
		     .fd = -1 };
	redisContext *ctx;
	rb_status status;

	*out = NULL;
	rbi_dial_node(uri, d.node, sizeof(d.node));
	status = uri->path != NULL ? connect_unix(&d) : connect_tcp(&d);
	if (status != RB_OK) {
		close_socket(&d);
		return status;
	}
	ctx = redisConnectFd(d.fd);
	if (ctx == NULL) {
		close_socket(&d);
		return fail(&d, RB_ERR_NOMEM, "out of memory");
	}
	status = shake_hands(&d, ctx);
	if (status != RB_OK) {
		redisFree(ctx);
		return status;
	}
	*out = ctx;
	return RB_OK;
}
