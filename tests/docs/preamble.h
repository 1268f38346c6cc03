/*
 * What the fragments of code in README.md and docs/ suppose to be there.
 * tests/check_docs.sh puts it before each of them. A fragment may declare any
 * of these names anew inside its own lines. There is rb_options options, too,
 * which lives as long as the fragment.
 */
#ifndef RBT_DOCS_PREAMBLE_H
#define RBT_DOCS_PREAMBLE_H

#include <hiredis/hiredis.h>
#include <redisbatch/redisbatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A context of hiredis, and a client; what the last call of it answered. */
extern redisContext *ctx;
extern rb_client *rb;
extern rb_status status;
extern rb_result *res;

/* The batch: keys and their values, which end with a NUL. */
extern const char **keys;
extern const char **values;
extern size_t nkeys;
extern rb_command *commands;
extern size_t ncommands;

/* What the program does with what it gets. */
void use(const char *key, const char *data, size_t len);
void missing(const char *key);
void failed(const char *key, const char *why);

#endif
