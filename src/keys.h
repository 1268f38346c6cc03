/*
 * The keys of a run, one by one: the operands, then the records of each file,
 * or what SCAN finds. An entry's number in the run tells where it stood.
 */
#ifndef REDISBATCH_SRC_KEYS_H
#define REDISBATCH_SRC_KEYS_H

#include "exits.h"
#include "report.h"
#include "scan.h"

#include <redisbatch/redisbatch.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct keys keys;

typedef struct keys_place {
	/* NULL: it was an operand, or SCAN named it. */
	const char *file;
	/* From 1; 0 without a file. */
	size_t line;
} keys_place;

/* NULL: out of memory, which was said. */
keys *keys_new(void);
void keys_free(keys *k);

/* Another file, "-" for standard input; the path is borrowed. EXITS_LOCAL: out
 * of memory, which was said. */
exits keys_add_file(keys *k, const char *path);
bool keys_has_files(const keys *k);

/* Opens all files, so that one that is missing is known before anything is
 * sent; what is wrong was said. The operands are borrowed. */
exits keys_open(keys *k, char **operands, size_t noperands, char delimiter);

/* Instead of all that: what a SCAN finds, which is borrowed. */
void keys_use_scan(keys *k, scan *s);

/* The next key, valid until the next call; an rb_source whose argument is the
 * keys. Below 0: a signal, or keys_status() tells what was said. */
int keys_next(void *arg, rb_slice *key);
exits keys_status(const keys *k);

/* How many were given. */
size_t keys_given(const keys *k);
/* Where entry number of the run stood, from 0; it was given before. */
keys_place keys_find(const keys *k, size_t number);

/* How many entries there are, and bytes in the files: 0 if not known. */
size_t keys_count(const keys *k);
uint64_t keys_size(const keys *k);
uint64_t keys_taken(const keys *k);

/* For a run that ended early: what was not given is said, and kept for a second
 * run. */
void keys_keep_rest(const keys *k, report *r);

#endif
