/*
 * What one call asks for: commands, and the entries they are made of. All of
 * it is borrowed from the caller until the call returns; nothing is copied.
 *
 *	gather		one command for the entries of a chunk:
 *			NAME [fixed] [count] key [value] key [value] ... [tail]
 *	each		one command for each entry:
 *			NAME [fixed] key [value] [tail]
 *	commands	each entry is a command
 *
 * A transaction has MULTI before the commands of a chunk and EXEC behind them.
 *
 * Where a command may only have keys of one hash slot, the entries come with
 * their slots, sorted or not: a gathered chunk is then one command for each
 * run of neighbours of a slot, and a transaction goes no further than its
 * first entry's slot.
 */
#ifndef RBI_BATCH_H
#define RBI_BATCH_H

#include "encode.h"
#include "internal.h"

#include <redisbatch/redisbatch.h>
#include <string.h>

typedef enum rbi_form {
	RBI_FORM_GATHER,
	RBI_FORM_EACH,
	RBI_FORM_COMMANDS
} rbi_form;

/* What the commands of a chunk may be answered with. */
typedef enum rbi_shape {
	RBI_SHAPE_VALUES,  /* an array of a value for each entry */
	RBI_SHAPE_OK,	   /* OK, for the chunk */
	RBI_SHAPE_INTEGER, /* a number, for the chunk */
	RBI_SHAPE_SET,	   /* OK or nil, for each entry */
	RBI_SHAPE_SIZES,   /* a number, for each entry */
	RBI_SHAPE_REPLIES  /* anything, for each entry */
} rbi_shape;

#define RBI_SHAPES 6
#define RBI_BATCH_TAIL 3

typedef struct rbi_batch {
	rbi_form form;
	rbi_shape shape;
	bool reads; /* the server is the same after it */
	bool transaction;
	bool counted;	  /* a number of entries stands before them */
	rb_slice command; /* not with RBI_FORM_COMMANDS */
	rb_slice fixed;	  /* sent before the entries; data NULL: nothing */
	rb_slice tail[RBI_BATCH_TAIL]; /* and behind them */
	size_t ntail;
	const char **keys;
	const size_t *keylens; /* NULL: the keys end with a NUL */
	const char **values;   /* NULL: keys alone */
	const size_t *valuelens;
	const rb_command *commands;
	const size_t *sizes; /* bytes of each value to be read; NULL: unknown */
	size_t n;
	/* Of each entry; NULL: a chunk is not cut by slots. */
	const uint16_t *slots;
	/* Gathered by slots, the name of the command for a group of one; data
	 * NULL: the same command. One for values answers the value itself. */
	rb_slice single;
	bool clustered; /* its commands may be redirected one by one */
	/* What the caller calls these arguments, for messages. */
	const char *fixed_name;
	const char *fixedlen_name;
	const char *keys_name;
	const char *keylens_name;
} rbi_batch;

static inline size_t rbi_batch_keylen(const rbi_batch *b, size_t i)
{
	return b->keylens != NULL ? b->keylens[i] : strlen(b->keys[i]);
}

static inline size_t rbi_batch_valuelen(const rbi_batch *b, size_t i)
{
	return b->valuelens != NULL ? b->valuelens[i] : strlen(b->values[i]);
}

static inline size_t rbi_command_arglen(const rb_command *c, size_t i)
{
	return c->argvlen != NULL ? c->argvlen[i] : strlen(c->argv[i]);
}

/* Arguments of each entry in a gathered command. */
static inline size_t rbi_batch_entry_args(const rbi_batch *b)
{
	return b->values != NULL ? 2 : 1;
}

/* Arguments of a gathered command besides its entries, its name among them. */
size_t rbi_batch_fixed_args(const rbi_batch *b);

/* The bytes of a gathered command of that name besides its count entries. */
size_t rbi_batch_command_size(const rbi_batch *b, const rb_slice *name,
			      size_t count);

/* The bytes of MULTI and EXEC around a chunk; 0: it has none. */
size_t rbi_batch_transaction_size(const rbi_batch *b);

/* The bytes of a chunk of count entries, in one command if they are gathered,
 * besides the entries themselves. */
size_t rbi_batch_frame_size(const rbi_batch *b, size_t count);

/* The bytes of entry i: arguments when gathered, otherwise a command. */
size_t rbi_batch_whole_entry_size(const rbi_batch *b, size_t i);

static inline size_t rbi_batch_entry_size(const rbi_batch *b, size_t i)
{
	if (RBI_LIKELY(b->form == RBI_FORM_GATHER && b->values == NULL))
		return rbi_encode_arg_size(rbi_batch_keylen(b, i));
	return rbi_batch_whole_entry_size(b, i);
}

/* How many entries from i on must stay together: 1, or a MULTI with all that
 * follows it up to its EXEC or DISCARD. */
size_t rbi_batch_unit(const rbi_batch *b, size_t i);

/*
 * Looks at every argument. RB_ERR_INVALID, or RB_ERR_LIMIT for a value of more
 * than max_value bytes, with a line in why.
 */
rb_status rbi_batch_check(const rbi_batch *b, size_t max_value, char *why,
			  size_t why_size) RBI_MUST_CHECK;

#endif
