/*
 * The server that is measured, and connections to it through plain hiredis.
 */
#ifndef RBT_TARGET_H
#define RBT_TARGET_H

#include <hiredis/hiredis.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct rbt_target {
	char path[128]; /* "": by host and port */
	char host[256];
	int port;
	char user[128];
	char password[256];
	int db;
} rbt_target;

void rbt_target_unix(rbt_target *target, const char *path);
void rbt_target_tcp(rbt_target *target, int port);

/* redis:// and unix:// as rb_client_open() takes them. False, and why. */
bool rbt_target_parse(rbt_target *target, const char *uri, char *why,
		      size_t size);

/* Connected, authenticated, in its database; the caller frees it. NULL, and
 * why, which never holds the password. */
redisContext *rbt_target_connect(const rbt_target *target, char *why,
				 size_t size);

#endif
