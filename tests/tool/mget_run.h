/*
 * `redisbatch mget` against the server of a test.
 */
#ifndef RBT_MGET_RUN_H
#define RBT_MGET_RUN_H

#include "live.h"
#include "spawn.h"

#include <stdio.h>
#include <string.h>

enum { MGET_ARGS = 24 };

/* Runs it with these arguments, ended by NULL, and this on its standard input,
 * which has inlen bytes. */
static inline void mget_run_bytes(rbt_live *live, const char *in, size_t inlen,
				  const char *const *args, rbt_spawned *s)
{
	const char *argv[MGET_ARGS + 5] = { rbt_tool(), "mget", "-s",
					    rbt_server_socket(live->server) };

	for (size_t i = 0; args[i] != NULL && i < MGET_ARGS; i++)
		argv[i + 4] = args[i];
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = in, .inlen = inlen },
		      s);
}

static inline void mget_run(rbt_live *live, const char *in,
			    const char *const *args, rbt_spawned *s)
{
	mget_run_bytes(live, in, strlen(in), args, s);
}

/* A path in the server's directory, which is removed with it. */
static inline const char *mget_path(const rbt_live *live, const char *name,
				    char *path, size_t size)
{
	snprintf(path, size, "%s/%s", rbt_server_dir(live->server), name);
	return path;
}

#define MGET_ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif
