/*
 * Goes on when a connection is lost, and ends at Ctrl-C: a wrapped context with
 * a callback that supplies another one. The connection is killed here after the
 * second chunk. rb_client_open() needs no callback for this.
 *
 *	survive redis://127.0.0.1:6379
 */
#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NKEYS 5000

static const char *uri = "";
static redisContext *ctx;
static rb_client *rb;

static redisContext *connect_to_server(void)
{
	if (strncmp(uri, "unix://", 7) == 0)
		return redisConnectUnix(uri + 7);
	return redisConnect("127.0.0.1", 6379);
}

/* A program with a password or a database sends AUTH and SELECT here. */
static int reconnect(void *arg, redisContext *lost, redisContext **fresh)
{
	(void)arg;
	redisFree(lost);
	*fresh = ctx = connect_to_server();
	return ctx != NULL ? 0 : -1;
}

static int kill_connection(void *arg, const rb_chunk *chunk)
{
	redisContext *other;

	(void)arg;
	if (chunk->first != 1000)
		return 0;
	other = connect_to_server();
	freeReplyObject(redisCommand(other, "CLIENT KILL TYPE normal"));
	redisFree(other);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	rb_client_cancel(rb);
}

int main(int argc, char **argv)
{
	static char names[NKEYS][24];
	const char *keys[NKEYS];
	rb_stats stats = { .struct_size = sizeof(stats) };
	rb_result *res = NULL;
	rb_options options;
	rb_status status;

	if (argc > 1)
		uri = argv[1];
	for (size_t i = 0; i < NKEYS; i++) {
		snprintf(names[i], sizeof(names[i]), "example:%zu", i);
		keys[i] = names[i];
	}
	rb_options_init(&options);
	options.chunk_keys = 1000;
	options.timeout_ms = 10000;
	options.attempts = 5;
	options.reconnect = reconnect;
	options.on_chunk = kill_connection;
	ctx = connect_to_server();
	if (rb_client_wrap(&rb, ctx, &options) != RB_OK)
		return 1;
	signal(SIGINT, on_signal);
	status = rb_mget_chunked(rb, keys, NULL, NKEYS, NULL, &res);
	(void)rb_result_stats(res, &stats);
	printf("%s: %zu keys failed, %d connections were lost\n",
	       rb_status_text(status), rb_result_failed(res),
	       (int)stats.reconnects);
	rb_result_free(res);
	rb_client_free(rb);
	redisFree(ctx);
	return status == RB_OK && stats.reconnects == 1 ? 0 : 1;
}
