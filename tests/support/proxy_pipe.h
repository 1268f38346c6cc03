/*
 * One way of one connection of a proxy: bytes are taken from one socket, wait
 * in a delay line, and are given to another, under a rule that may be another
 * one at each call. Sockets are non-blocking and belong to the caller.
 */
#ifndef RBT_PROXY_PIPE_H
#define RBT_PROXY_PIPE_H

#include "proxy.h"
#include "proxy_line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RBT_PIPE_READ = 65536 };

typedef enum rbt_pipe_end {
	RBT_PIPE_OPEN = 0,
	RBT_PIPE_CLOSED, /* the source has said that nothing more comes */
	RBT_PIPE_BROKEN	 /* the source was reset */
} rbt_pipe_end;

typedef struct rbt_pipe {
	rbt_line line;
	uint64_t in;	   /* bytes taken */
	uint64_t out;	   /* bytes given */
	uint64_t ready_us; /* the next write is not before */
	rbt_pipe_end end;
	bool full; /* the last write found no room */
} rbt_pipe;

void rbt_pipe_init(rbt_pipe *pipe);
void rbt_pipe_fini(rbt_pipe *pipe);

/* Whether it would take more bytes now. */
bool rbt_pipe_wants(const rbt_pipe *pipe, const rbt_rule *rule);

/* Takes what fd has, at most RBT_PIPE_READ bytes, into buf and the line; how
 * many they were. */
size_t rbt_pipe_take(rbt_pipe *pipe, const rbt_rule *rule, int fd, char *buf,
		     uint64_t now_us);

/* Gives what may go to fd, a unix socket or not, or drops it; *given are the
 * bytes that went. False: fd takes nothing any more. */
bool rbt_pipe_give(rbt_pipe *pipe, const rbt_rule *rule, int fd, bool is_unix,
		   uint64_t now_us, size_t *given);

/* When it is to be given on at the latest; UINT64_MAX: when fd can take more,
 * or not until there is more. */
uint64_t rbt_pipe_next(const rbt_pipe *pipe);

/* Whether the fault of the rule has come about. */
bool rbt_pipe_struck(const rbt_pipe *pipe, const rbt_rule *rule);

#endif
