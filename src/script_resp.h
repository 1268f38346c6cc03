/*
 * Commands as they go over the wire: arrays of bulk strings. It is fed line by
 * line, each with its newline: since a bulk string ends with CR LF, every
 * command ends where a line does.
 */
#ifndef REDISBATCH_SRC_SCRIPT_RESP_H
#define REDISBATCH_SRC_SCRIPT_RESP_H

#include "scratch.h"
#include "words.h"

typedef enum script_resp_got {
	/* The command goes on. */
	SCRIPT_RESP_MORE,
	/* raw is the command, words are where its words are in it. */
	SCRIPT_RESP_DONE,
	/* An array without elements, which servers skip. */
	SCRIPT_RESP_NOTHING,
	/* It is no RESP; why says what is wrong at the byte `at` of the
	 * command. Nothing behind it can be trusted. */
	SCRIPT_RESP_BAD
} script_resp_got;

/* All zero at first. */
typedef struct script_resp {
	scratch raw;
	words words;
	/* Words that are still to come; 0: the header is. */
	size_t missing;
	/* Bytes of the word, CR LF among them, that are still to come; 0: its
	 * header is. */
	size_t rest;
	/* How long the word is. */
	size_t len;
	size_t at;
	const char *why;
} script_resp;

script_resp_got script_resp_push(script_resp *r, const char *line, size_t len);

/* Is it in the middle of a command? */
bool script_resp_is_open(const script_resp *r);

/* Forgets what was pushed. */
void script_resp_reset(script_resp *r);
void script_resp_free(script_resp *r);

#endif
