#include "batch.h"

#include "command.h"

/* "*1 $5 MULTI" and "*1 $4 EXEC", each with its CRLFs. */
#define MULTI_SIZE 15
#define EXEC_SIZE 14

/* ---------------------------------------------------------------- sizes -- */

size_t rbi_batch_fixed_args(const rbi_batch *b)
{
	size_t args = 1 + b->ntail;

	if (b->fixed.data != NULL)
		args++;
	if (b->counted)
		args++;
	return args;
}

static size_t tail_size(const rbi_batch *b)
{
	size_t size = 0;
	size_t i;

	for (i = 0; i < b->ntail; i++)
		size += rbi_encode_arg_size(b->tail[i].len);
	return size;
}

size_t rbi_batch_command_size(const rbi_batch *b, const rb_slice *name,
			      size_t count)
{
	size_t args = rbi_batch_fixed_args(b) + count * rbi_batch_entry_args(b);
	size_t size = rbi_encode_header_size(args) + tail_size(b) +
		      rbi_encode_arg_size(name->len);

	if (b->fixed.data != NULL)
		size += rbi_encode_arg_size(b->fixed.len);
	if (b->counted)
		size += rbi_encode_arg_size(rbi_encode_digits(count));
	return size;
}

size_t rbi_batch_transaction_size(const rbi_batch *b)
{
	return b->transaction ? MULTI_SIZE + EXEC_SIZE : 0;
}

size_t rbi_batch_frame_size(const rbi_batch *b, size_t count)
{
	size_t size = rbi_batch_transaction_size(b);

	if (b->form == RBI_FORM_GATHER)
		size += rbi_batch_command_size(b, &b->command, count);
	return size;
}

static size_t command_size(const rb_command *c)
{
	size_t size = rbi_encode_header_size((size_t)c->argc);
	size_t i;

	for (i = 0; i < (size_t)c->argc; i++)
		size = rbi_add_sat(
			size, rbi_encode_arg_size(rbi_command_arglen(c, i)));
	return size;
}

size_t rbi_batch_whole_entry_size(const rbi_batch *b, size_t i)
{
	size_t size = 0;

	if (b->form == RBI_FORM_COMMANDS)
		return command_size(&b->commands[i]);
	if (b->form == RBI_FORM_EACH)
		size = rbi_batch_command_size(b, &b->command, 1);
	size = rbi_add_sat(size, rbi_encode_arg_size(rbi_batch_keylen(b, i)));
	if (b->values != NULL)
		size = rbi_add_sat(
			size, rbi_encode_arg_size(rbi_batch_valuelen(b, i)));
	return size;
}

size_t rbi_batch_unit(const rbi_batch *b, size_t i)
{
	size_t end = i + 1;

	if (b->form != RBI_FORM_COMMANDS ||
	    rbi_command_kind_of(&b->commands[i]) != RBI_COMMAND_MULTI)
		return 1;
	while (end < b->n &&
	       rbi_command_kind_of(&b->commands[end]) != RBI_COMMAND_END)
		end++;
	return end < b->n ? end - i + 1 : end - i;
}

/* ---------------------------------------------------------------- check -- */

/* Where to say what is wrong. */
typedef struct complaint {
	char *why;
	size_t size;
	size_t max_value;
} complaint;

static rb_status check_fixed(const rbi_batch *b, const complaint *c)
{
	if (b->fixed_name == NULL)
		return RB_OK;
	if (b->fixed.data == NULL) {
		rbi_print(c->why, c->size, "%s is NULL", b->fixed_name);
		return RB_ERR_INVALID;
	}
	if (b->fixed.len > RBI_ENCODE_MAX_ARG) {
		rbi_print(c->why, c->size, "%s is %zu, above 512 MiB",
			  b->fixedlen_name, b->fixed.len);
		return RB_ERR_INVALID;
	}
	return RB_OK;
}

/* Says what is wrong with string i of an array, which is known to be bad. */
static rb_status bad_string(const complaint *c, const char *name,
			    const char *lens_name, const char *data,
			    const size_t *lens, size_t i)
{
	if (data != NULL)
		rbi_print(c->why, c->size, "%s[%zu] is %zu, above 512 MiB",
			  lens_name, i, lens[i]);
	else if (lens == NULL)
		rbi_print(c->why, c->size, "%s[%zu] is NULL", name, i);
	else
		rbi_print(c->why, c->size, "%s[%zu] is NULL but %s[%zu] is %zu",
			  name, i, lens_name, i, lens[i]);
	return RB_ERR_INVALID;
}

static inline bool string_is_bad(const char *data, const size_t *lens, size_t i)
{
	if (lens == NULL)
		return data == NULL;
	return (data == NULL && lens[i] > 0) || lens[i] > RBI_ENCODE_MAX_ARG;
}

static rb_status check_keys(const rbi_batch *b, const complaint *c)
{
	size_t i;

	if (b->keys == NULL) {
		rbi_print(c->why, c->size, "%s is NULL", b->keys_name);
		return RB_ERR_INVALID;
	}
	for (i = 0; i < b->n; i++) {
		if (RBI_UNLIKELY(string_is_bad(b->keys[i], b->keylens, i)))
			return bad_string(c, b->keys_name, b->keylens_name,
					  b->keys[i], b->keylens, i);
	}
	return RB_OK;
}

static rb_status check_values(const rbi_batch *b, const complaint *c)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (RBI_UNLIKELY(string_is_bad(b->values[i], b->valuelens, i)))
			return bad_string(c, "values", "valuelens",
					  b->values[i], b->valuelens, i);
		if (RBI_UNLIKELY(rbi_batch_valuelen(b, i) > c->max_value)) {
			rbi_print(c->why, c->size,
				  "values[%zu] has %zu bytes, above "
				  "max_value_bytes",
				  i, rbi_batch_valuelen(b, i));
			return RB_ERR_LIMIT;
		}
	}
	return RB_OK;
}

/* ------------------------------------------------------------- commands -- */

static rb_status bad_command(const complaint *c, size_t i, const char *words)
{
	rbi_print(c->why, c->size, "commands[%zu] %s", i, words);
	return RB_ERR_INVALID;
}

static rb_status check_arguments(const rb_command *command, size_t i,
				 const complaint *c)
{
	char name[48];
	char lens_name[48];
	int k;

	if (command->argc <= 0 || command->argv == NULL)
		return bad_command(c, i, "is empty");
	if ((size_t)command->argc > RBI_ENCODE_MAX_ARGC)
		return bad_command(c, i, "has more than 1,048,576 arguments");
	for (k = 0; k < command->argc; k++) {
		if (!string_is_bad(command->argv[k], command->argvlen,
				   (size_t)k))
			continue;
		rbi_print(name, sizeof(name), "commands[%zu].argv", i);
		rbi_print(lens_name, sizeof(lens_name), "commands[%zu].argvlen",
			  i);
		return bad_string(c, name, lens_name, command->argv[k],
				  command->argvlen, (size_t)k);
	}
	return RB_OK;
}

static rb_status check_length(const rb_command *command, size_t i,
			      const complaint *c)
{
	size_t k;

	for (k = 0; k < (size_t)command->argc; k++) {
		if (rbi_command_arglen(command, k) <= c->max_value)
			continue;
		rbi_print(c->why, c->size,
			  "commands[%zu].argv[%zu] has %zu bytes, above "
			  "max_value_bytes",
			  i, k, rbi_command_arglen(command, k));
		return RB_ERR_LIMIT;
	}
	return RB_OK;
}

/* Whether a command may stand where it does; *open: a MULTI is open. */
static rb_status check_kind(const rbi_batch *b, size_t i, bool *open,
			    const complaint *c)
{
	char words[96];
	const rb_command *command = &b->commands[i];

	switch (rbi_command_kind_of(command)) {
	case RBI_COMMAND_PLAIN:
		return RB_OK;
	case RBI_COMMAND_REFUSED:
		rbi_print(words, sizeof(words),
			  "is %.*s%s, which does not answer exactly once",
			  (int)rbi_min(rbi_command_arglen(command, 0), 16),
			  command->argv[0],
			  command->argv[0][0] == 'C' ||
					  command->argv[0][0] == 'c' ?
				  " REPLY" :
				  "");
		return bad_command(c, i, words);
	case RBI_COMMAND_MULTI:
		if (b->transaction)
			return bad_command(c, i, "is MULTI in a transaction");
		*open = true;
		return RB_OK;
	case RBI_COMMAND_END:
		if (b->transaction)
			return bad_command(c, i,
					   "is EXEC or DISCARD in a "
					   "transaction");
		*open = false;
		return RB_OK;
	}
	return RB_OK;
}

static rb_status check_commands(const rbi_batch *b, const complaint *c)
{
	rb_status status = RB_OK;
	bool open = false;
	size_t multi = 0;
	size_t i;

	if (b->commands == NULL) {
		rbi_print(c->why, c->size, "commands is NULL");
		return RB_ERR_INVALID;
	}
	for (i = 0; i < b->n && status == RB_OK; i++) {
		bool was_open = open;

		status = check_arguments(&b->commands[i], i, c);
		if (status == RB_OK)
			status = check_length(&b->commands[i], i, c);
		if (status == RB_OK)
			status = check_kind(b, i, &open, c);
		if (open && !was_open)
			multi = i;
	}
	if (status == RB_OK && open)
		return bad_command(c, multi, "is MULTI, but no EXEC follows");
	return status;
}

rb_status rbi_batch_check(const rbi_batch *b, size_t max_value, char *why,
			  size_t why_size)
{
	const complaint c = { why, why_size, max_value };
	rb_status status = check_fixed(b, &c);

	if (status != RB_OK || b->n == 0)
		return status;
	if (b->form == RBI_FORM_COMMANDS)
		return check_commands(b, &c);
	status = check_keys(b, &c);
	if (status == RB_OK && b->shape != RBI_SHAPE_VALUES &&
	    b->values != NULL)
		status = check_values(b, &c);
	return status;
}
