/*
 * What is known of single commands by their name: which ones cannot stand in a
 * batch, since they do not answer exactly once, and which ones open and close
 * a transaction.
 */
#ifndef RBI_COMMAND_H
#define RBI_COMMAND_H

#include "internal.h"

#include <redisbatch/redisbatch.h>

typedef enum rbi_command_kind {
	RBI_COMMAND_PLAIN,
	RBI_COMMAND_MULTI,
	RBI_COMMAND_END, /* EXEC or DISCARD */
	RBI_COMMAND_REFUSED
} rbi_command_kind;

/* The kind of a command whose arguments are known to be good. */
rbi_command_kind rbi_command_kind_of(const rb_command *c);

/* Whether argument i, which there is, is this word, which is in capitals. */
bool rbi_command_is(const rb_command *c, size_t i, const char *word);

#endif
