/*
 * Where the answers go: standard output, or a file that gets its name only once
 * it is whole, so that nobody ever finds half an export. A device or a named pipe
 * is written to as it is. Writing blocks while
 * the reader is slow, which is what slows the reading of keys down.
 *
 * The first error sticks: all further writes do nothing, and out_error() tells
 * it. SIGPIPE is ignored by the program; a reader that went away is EPIPE, and a
 * signal that ended the run EINTR.
 */
#ifndef REDISBATCH_SRC_OUT_H
#define REDISBATCH_SRC_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct out out;

/* NULL path: standard output. NULL, with errno, when the file cannot be made.
 * The path is borrowed. */
out *out_open(const char *path);

void out_write(out *o, const void *data, size_t len);
void out_text(out *o, const char *text);
void out_char(out *o, char c);

/* Hands on what is buffered; 0, or the errno of what failed so far. */
int out_flush(out *o);
int out_error(const out *o);

/* Flushes, and gives the file its name. 0, or errno: then no file has the
 * name that did not have it before. */
int out_commit(out *o);

/* For messages: the path, or "standard output". */
const char *out_name(const out *o);
bool out_is_terminal(const out *o);
uint64_t out_written(const out *o);

/* Without a commit before it, the temporary file is removed. NULL is fine. */
void out_free(out *o);

#endif
