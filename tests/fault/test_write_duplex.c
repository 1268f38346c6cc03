/*
 * Both sides write at once, and each waits for the other to read: nobody
 * must wait for ever.
 */
#include "replies.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { COMMANDS = 2000, LEN = 2000 };

/* A value for GET, OK for all else; each answer is sent whole before the next
 * command is read. */
static void serve(void *arg, size_t argc, const rbt_arg *argv, rbt_reply *reply)
{
	static const char value[LEN];

	(void)arg;
	(void)argc;
	if (argv[0].len == 3 && memcmp(argv[0].data, "GET", 3) == 0)
		rbt_reply_bulk(reply, value, sizeof(value));
	else
		rbt_reply_text(reply, "+OK\r\n");
}

/* TCP by itself stalls for a fifth of a second now and then where its buffers
 * are smaller than a few segments. */
static void start(rbt_scene *s, rbt_family family)
{
	int size = family == RBT_TCP ? 65536 : 4096;
	rbt_peer_options p = { .family = family,
			       .handler = serve,
			       .sndbuf = size,
			       .rcvbuf = size,
			       .read_size = 1024 };

	rbt_scene_start(s, &p);
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

/* Large answers to what comes first, large requests behind it. */
static void test_reads_before_writes_in_one_pipeline_do_not_hang(void **state)
{
	static char value[LEN];
	static const char *get[] = { "GET", "key" };
	static const char *set[] = { "SET", "key", value };
	static const size_t lens[] = { 3, 3, LEN };
	static const struct {
		rbt_family family;
		size_t keys, window;
	} rows[] = {
		{ RBT_PAIR, 4000, 4 }, { RBT_TCP, 4000, 4 },
		{ RBT_PAIR, 200, 32 }, { RBT_TCP, 200, 32 },
		{ RBT_TCP, 1, 64 },
	};
	rb_command *commands = calloc(COMMANDS, sizeof(*commands));

	assert_non_null(commands);
	for (size_t i = 0; i < COMMANDS; i++) {
		commands[i].argc = i < COMMANDS / 2 ? 2 : 3;
		commands[i].argv = i < COMMANDS / 2 ? get : set;
		commands[i].argvlen = lens;
	}
	for (size_t r = 0; r < COUNT(rows); r++) {
		rb_options o = rbt_options(rows[r].keys, rows[r].window);
		rbt_scene *s = rbt_scene_use(state);

		o.chunk_request_bytes = SIZE_MAX / 2;
		start(s, rows[r].family);
		want_status(s->rb,
			    rb_pipeline_chunked(s->rb, commands, COMMANDS, &o,
						&s->res),
			    RB_OK);
		for (size_t i = 0; i < COMMANDS / 2; i++)
			want_bytes(s->res, i, value, LEN);
		for (size_t i = COMMANDS / 2; i < COMMANDS; i++)
			want_reply(s->res, i, "+OK");
		want_sound(s->res);
	}
	free(commands);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_reads_before_writes_in_one_pipeline_do_not_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
