#include "sizes.h"

#include "alloc.h"

/* The sizes that were answered; what failed counts as empty, and will fail
 * again or be what it is. */
static size_t *read_sizes(const rb_result *res, const rb_allocator *a)
{
	size_t *sizes =
		rbi_alloc_array(a, NULL, rbi_max(res->n, 1), sizeof(*sizes));
	size_t i;

	if (sizes == NULL)
		return NULL;
	for (i = 0; i < res->n; i++)
		sizes[i] = rbi_entry_number(&res->entries[i]);
	return sizes;
}

/* Without the sizes nothing was read: a result that says so. */
static void nothing_was_read(rb_result *res)
{
	const char *message = rbi_result_note(
		res, RB_ERR_SKIPPED, "asking for the sizes ended the call");
	size_t i;

	rbi_result_unset(res);
	for (i = 0; i < res->nchunks; i++) {
		rb_chunk *chunk = &res->chunks[i];

		if (chunk->status != RB_OK && chunk->status != RB_ERR_PARTIAL)
			continue;
		chunk->status = RB_ERR_SKIPPED;
		chunk->outcome = RB_NOT_SENT;
		chunk->message = message;
	}
	rbi_result_seal(res);
}

static rb_status ask(rb_client *client, const rb_options *o,
		     const rbi_batch *reads, const char *name, rb_result **out)
{
	rb_options plain = *o;
	rbi_batch batch = *reads;

	batch.form = RBI_FORM_EACH;
	batch.shape = RBI_SHAPE_SIZES;
	batch.command = (rb_slice){ name, strlen(name) };
	plain.on_chunk = NULL;
	plain.flags &= ~(uint32_t)RB_STOP_ON_ERROR;
	return rbi_call_batch(client, &plain, &batch, out);
}

static void add_stats(rb_stats *to, const rb_stats *from)
{
	to->commands += from->commands;
	to->keys += from->keys;
	to->request_bytes += from->request_bytes;
	to->reply_bytes += from->reply_bytes;
	to->round_trips += from->round_trips;
	to->retries += from->retries;
	to->splits += from->splits;
	to->redirects += from->redirects;
	to->reconnects += from->reconnects;
}

/* The call with the sizes at hand. */
static rb_status read_values(rb_client *client, const rb_options *o,
			     rbi_batch *batch, const rb_result *asked,
			     rb_result **out)
{
	size_t *sizes = read_sizes(asked, o->allocator);
	rb_status status;

	if (sizes == NULL)
		return rbi_client_fail(client, RB_ERR_NOMEM, "out of memory");
	batch->sizes = sizes;
	client->error[0] = '\0';
	status = rbi_call_batch(client, o, batch, out);
	if (*out != NULL)
		add_stats(&(*out)->stats, &asked->stats);
	rbi_free(o->allocator, sizes);
	return status;
}

rb_status rbi_sizes_call(rb_client *client, rb_options *o, rbi_batch *batch,
			 const char *strlen_command, rb_result **out)
{
	uint64_t deadline_us = rbi_client_deadline(client, o);
	rb_result *asked = NULL;
	rb_status status;

	if ((o->flags & RB_SIZE_FIRST) == 0 || batch->n == 0)
		return rbi_call_batch(client, o, batch, out);
	status = ask(client, o, batch, strlen_command, &asked);
	if (status == RB_OK || status == RB_ERR_PARTIAL) {
		rbi_call_spend(client, o, deadline_us);
		status = read_values(client, o, batch, asked, out);
		rb_result_free(asked);
		return status;
	}
	if (asked != NULL)
		nothing_was_read(asked);
	*out = asked;
	return status;
}
