/*
 * The commands of files, one after the other, with the place where each stood:
 * text (see script_text.h), where blank lines and lines that begin with # are
 * skipped, or RESP (see script_resp.h). Which of the two is told by the first
 * byte of the first file, '*', unless it is said; all files are of the same.
 */
#ifndef REDISBATCH_SRC_SCRIPT_H
#define REDISBATCH_SRC_SCRIPT_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct script script;

typedef enum script_format {
	SCRIPT_ANY,
	SCRIPT_TEXT,
	SCRIPT_RESP
} script_format;

typedef enum script_got {
	SCRIPT_COMMAND = 1,
	SCRIPT_END = 0,
	/* A line of text that is no command; the next one may be. */
	SCRIPT_BAD = -1,
	/* No RESP: nothing behind it can be trusted, and there is no more. */
	SCRIPT_BROKEN = -2,
	/* A file cannot be read, and there is no more; or a signal came, then
	 * why is "". */
	SCRIPT_FAILED = -3
} script_got;

/* Valid until the next call. */
typedef struct script_item {
	/* Only for SCRIPT_COMMAND. */
	rb_command command;
	/* As it stood in the file, with a newline behind it. */
	rb_slice raw;
	/* For messages: the path, or "standard input". */
	const char *file;
	/* Where the command begins, in lines from 1; for SCRIPT_BROKEN where it
	 * is broken. */
	size_t line;
	/* What is wrong. */
	const char *why;
} script_item;

/* paths are borrowed; none: standard input. NULL: out of memory. */
script *script_new(char *const *paths, size_t npaths, script_format format);
void script_free(script *s);

script_got script_next(script *s, script_item *item);

/* Takes the raw bytes of a command apart once more, for a message. The item that
 * script_next() gave stays valid; the command is so until the next call. */
rb_command script_command(script *s, rb_slice raw);

/* Gives up the file that is at hand, or the next one: the first byte of it that
 * no item came from. False: there is none. */
bool script_skip(script *s, const char **path, uint64_t *from);

/* Bytes taken of all files so far; of how many, 0 if that is not known. */
uint64_t script_taken(const script *s);
uint64_t script_size(const script *s);

#endif
