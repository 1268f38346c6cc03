/*
 * The real program against the live server of a test, with files beside that.
 */
#ifndef RBT_TOOLING_H
#define RBT_TOOLING_H

#include "live.h"
#include "spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RBT_TOOL_ARGS = 24 };

/* args: the command, then what goes behind the connection's options; NULL ends
 * it. in may be NULL. */
static inline void rbt_tool_run(const rbt_live *live, rbt_spawned *s,
				const char *in, size_t inlen,
				const char *const *args)
{
	const char *argv[RBT_TOOL_ARGS + 4] = {
		rbt_tool(), args[0], "-s", rbt_server_socket(live->server)
	};

	for (size_t i = 1; args[i] != NULL; i++) {
		assert_true(i < RBT_TOOL_ARGS);
		argv[i + 3] = args[i];
	}
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = in, .inlen = inlen },
		      s);
}

/* Runs it, and wants this exit status. */
static inline void rbt_tool_want(const rbt_live *live, rbt_spawned *s,
				 const char *in, size_t inlen,
				 const char *const *args, int status)
{
	rbt_tool_run(live, s, in, inlen, args);
	if (s->status != status)
		fail_msg("%s ended with %d, not %d: %s", args[0], s->status,
			 status, s->err);
}

/* The path of a file of the server's directory. */
static inline const char *rbt_path(const rbt_live *live, const char *name,
				   char path[512])
{
	snprintf(path, 512, "%s/%s", rbt_server_dir(live->server), name);
	return path;
}

static inline void rbt_write_file(const char *path, const void *data,
				  size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* To be freed; with a NUL behind it. */
static inline char *rbt_read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;

	assert_non_null(f);
	*len = 0;
	for (;;) {
		data = realloc(data, *len + 65537);
		assert_non_null(data);
		size_t n = fread(data + *len, 1, 65536, f);

		*len += n;
		if (n == 0)
			break;
	}
	data[*len] = '\0';
	fclose(f);
	return data;
}

static inline size_t rbt_count_lines(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* n records "PREFIX<number>\tvalue<number>", as tsv. To be freed. */
static inline char *rbt_make_tsv(const char *prefix, size_t n, size_t *len)
{
	size_t size = n * (strlen(prefix) + 32) + 1;
	char *data = malloc(size);

	assert_non_null(data);
	*len = 0;
	for (size_t i = 0; i < n; i++)
		*len += (size_t)snprintf(data + *len, size - *len,
					 "%s%zu\tvalue%zu\n", prefix, i, i);
	return data;
}

/* The value of a key of any bytes; a NULL value: there is no such key. */
static inline void rbt_want_value(const rbt_live *live, const void *key,
				  size_t keylen, const void *value, size_t len)
{
	redisReply *r = redisCommand(live->admin, "GET %b", key, keylen);

	assert_non_null(r);
	if (value == NULL) {
		assert_int_equal(r->type, REDIS_REPLY_NIL);
	} else {
		assert_int_equal(r->type, REDIS_REPLY_STRING);
		assert_int_equal(r->len, len);
		assert_memory_equal(r->str, value, len);
	}
	freeReplyObject(r);
}

#define rbt_want_text(live, key, value) \
	rbt_want_value((live), (key), strlen(key), (value), strlen(value))

#endif
