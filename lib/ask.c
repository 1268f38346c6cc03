/*
 * The answer is not read before the command has left: commands are small, and
 * a server that refuses one half way hangs up. Then the rest cannot be sent,
 * and the words that the server may have left behind are all that is believed.
 */
#include "ask.h"

#include "alloc.h"
#include "encode.h"

#include <assert.h>
#include <string.h>

/* Memory is taken for so much more than has arrived. */
#define ROOM_MIN ((size_t)4096)

/* Elements of a reply take a structure each, so that a small answer could take
 * much memory: each counts as so many bytes. */
#define ELEMENT_BYTES 16

static rbi_ask_state failed(rbi_ask *ask, rb_status status, const char *words)
{
	if (words != ask->problem)
		rbi_print(ask->problem, sizeof(ask->problem), "%s", words);
	ask->reply = NULL;
	ask->status = status;
	ask->state = RBI_ASK_FAILED;
	return RBI_ASK_FAILED;
}

static rbi_ask_state failed_error(rbi_ask *ask, const rbi_transport *t)
{
	rbi_transport_words(t, t->error, ask->problem, sizeof(ask->problem));
	return failed(ask, RB_ERR_IO, ask->problem);
}

static rbi_ask_state too_long(rbi_ask *ask)
{
	return failed(ask, RB_ERR_PROTOCOL, "its answer is too long");
}

static rbi_ask_state out_of_step(rbi_ask *ask)
{
	return failed(ask, RB_ERR_PROTOCOL,
		      "unexpected bytes behind its answer");
}

/* ----------------------------------------------------------------- begin -- */

static size_t command_size(const char *const *argv, size_t argc)
{
	size_t size = rbi_encode_header_size(argc);
	size_t i;

	for (i = 0; i < argc; i++)
		size = rbi_add_sat(size, rbi_encode_arg_size(strlen(argv[i])));
	return size;
}

rb_status rbi_ask_begin(rbi_ask *ask, const rb_allocator *a,
			const char *const *argv, size_t argc, size_t max)
{
	char *p;
	size_t i;

	memset(ask, 0, sizeof(*ask));
	ask->allocator = a;
	ask->max = max;
	ask->size = command_size(argv, argc);
	rbi_reader_init(&ask->reader, max);
	ask->reader.max_bulk = max;
	rbi_slabs_init(&ask->bytes, a);
	rbi_slabs_init(&ask->nodes, a);
	rbi_reply_init(&ask->builder, &ask->nodes);
	ask->command = rbi_alloc(a, ask->size);
	if (ask->command == NULL)
		return RB_ERR_NOMEM;
	p = rbi_encode_header(ask->command, argc);
	for (i = 0; i < argc; i++)
		p = rbi_encode_arg(p, argv[i], strlen(argv[i]));
	assert(p == ask->command + ask->size);
	return RB_OK;
}

static void forget_command(rbi_ask *ask)
{
	if (ask->command == NULL)
		return;
	rbi_alloc_wipe(ask->command, ask->size);
	rbi_free(ask->allocator, ask->command);
	ask->command = NULL;
}

void rbi_ask_fini(rbi_ask *ask)
{
	forget_command(ask);
	rbi_slabs_fini(&ask->bytes);
	rbi_slabs_fini(&ask->nodes);
	ask->reply = NULL;
}

/* ------------------------------------------------------------------ send -- */

/* True: nothing is left to send. */
static bool send_rest(rbi_ask *ask, rbi_transport *t)
{
	while (ask->command != NULL &&
	       (ask->sent < ask->size || rbi_transport_unsent(t))) {
		struct iovec iov = { ask->command + ask->sent,
				     ask->size - ask->sent };
		size_t moved = 0;

		switch (rbi_transport_send(t, &iov, ask->sent < ask->size,
					   &moved)) {
		case RBI_IO_DONE:
			ask->sent += moved;
			break;
		case RBI_IO_LATER:
			return false;
		case RBI_IO_END:
		case RBI_IO_ERROR:
			rbi_transport_words(t, t->error, ask->problem,
					    sizeof(ask->problem));
			ask->cut = true;
			forget_command(ask);
			break;
		}
	}
	forget_command(ask);
	return true;
}

/* --------------------------------------------------------------- receive -- */

/* Whether the elements that were announced are too many. */
static bool is_too_wide(rbi_ask *ask, rbi_token_kind kind, const rbi_token *t)
{
	if (kind == RBI_TOKEN_ARRAY || kind == RBI_TOKEN_MAP ||
	    kind == RBI_TOKEN_SET)
		ask->elements += (uint64_t)t->number;
	return ask->elements > ask->max / ELEMENT_BYTES;
}

static rbi_ask_state take_token(rbi_ask *ask, rbi_token_kind kind,
				const rbi_token *t)
{
	rb_status status;

	if (ask->reply != NULL)
		return out_of_step(ask);
	if (is_too_wide(ask, kind, t))
		return too_long(ask);
	status = rbi_reply_take(&ask->builder, kind, t, &ask->reply);
	if (status != RB_OK)
		return failed(ask, status, "out of memory");
	return RBI_ASK_WAITING;
}

/* The answer is whole. Pushes may stand behind it, and are awaited to their
 * end; anything else would be taken for the next answer. */
static rbi_ask_state finish(rbi_ask *ask)
{
	if (ask->cut && !rbi_reply_is_error(ask->reply))
		return failed(ask, RB_ERR_IO, ask->problem);
	if (!rbi_reader_between(&ask->reader))
		return out_of_step(ask);
	if (!rbi_reader_idle(&ask->reader))
		return RBI_ASK_WAITING;
	ask->state = RBI_ASK_ANSWERED;
	return RBI_ASK_ANSWERED;
}

/* Reads all that has arrived. */
static rbi_ask_state read_answer(rbi_ask *ask)
{
	rbi_ask_state state = RBI_ASK_WAITING;
	rbi_token_kind kind;
	rbi_token token;

	while (state == RBI_ASK_WAITING) {
		kind = rbi_reader_next(&ask->reader, &token);
		if (kind == RBI_TOKEN_MORE)
			break;
		if (kind == RBI_TOKEN_BROKEN)
			return failed(ask, RB_ERR_PROTOCOL,
				      ask->reader.problem);
		state = take_token(ask, kind, &token);
	}
	if (state == RBI_ASK_WAITING && ask->reply != NULL)
		state = finish(ask);
	return state;
}

/* Room for what is missing, as far as it is not too much. */
static rbi_ask_state make_room(rbi_ask *ask)
{
	rbi_reader *r = &ask->reader;
	size_t tail = (size_t)(r->end - r->pos);
	size_t missing = r->need > tail ? r->need - tail : 1;
	rbi_slab *slab;
	char *end;

	if (rbi_add_sat(ask->received, missing) > ask->max)
		return too_long(ask);
	missing = rbi_min(missing, rbi_max(tail, ROOM_MIN));
	if (rbi_slabs_extend(&ask->bytes, tail, missing) != RB_OK)
		return failed(ask, RB_ERR_NOMEM, "out of memory");
	slab = ask->bytes.newest;
	assert(slab != NULL);
	end = slab->bytes + slab->len;
	rbi_reader_window(r, end - tail, end);
	return RBI_ASK_WAITING;
}

static rbi_ask_state receive_some(rbi_ask *ask, rbi_transport *t, bool *later)
{
	rbi_reader *r = &ask->reader;
	rbi_slab *slab = ask->bytes.newest;
	size_t len = rbi_min(slab->cap - slab->len, ask->max - ask->received);
	size_t moved = 0;

	switch (rbi_transport_recv(t, r->end, len, &moved)) {
	case RBI_IO_DONE:
		slab->len += moved;
		ask->received += moved;
		rbi_reader_window(r, r->pos, r->end + moved);
		return read_answer(ask);
	case RBI_IO_LATER:
		*later = true;
		return RBI_ASK_WAITING;
	case RBI_IO_END:
		return failed(ask, RB_ERR_IO, "it closed the connection");
	case RBI_IO_ERROR:
		break;
	}
	return failed_error(ask, t);
}

/* ---------------------------------------------------------------------- */

rbi_ask_state rbi_ask_step(rbi_ask *ask, rbi_transport *t)
{
	rbi_ask_state state = ask->state;
	bool later = false;

	if (state != RBI_ASK_WAITING || !send_rest(ask, t))
		return state;
	while (state == RBI_ASK_WAITING && !later) {
		state = make_room(ask);
		if (state == RBI_ASK_WAITING)
			state = receive_some(ask, t, &later);
	}
	return state;
}

short rbi_ask_events(const rbi_ask *ask)
{
	return ask->command != NULL ? POLLOUT : POLLIN;
}
