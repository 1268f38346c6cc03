#include "result.h"

#include "alloc.h"
#include "route.h"

#include <string.h>

#define FIRST_STATS_SIZE sizeof(rb_stats)

rb_result *rbi_result_new(const rb_allocator *a, size_t n, size_t chunks,
			  const char *node)
{
	rb_result *res = rbi_alloc_zero(a, sizeof(*res));

	if (res == NULL)
		return NULL;
	res->allocator = a;
	res->n = n;
	res->stats.struct_size = sizeof(res->stats);
	rbi_slabs_init(&res->bytes, a);
	rbi_slabs_init(&res->notes, a);
	res->chunk_cap = chunks + 1;
	res->chunks =
		rbi_alloc_array(a, NULL, res->chunk_cap, sizeof(*res->chunks));
	res->entries =
		rbi_alloc_array(a, NULL, rbi_max(n, 1), sizeof(*res->entries));
	res->node = rbi_slabs_copy(&res->notes, node, strlen(node));
	if (res->chunks == NULL || res->entries == NULL || res->node == NULL) {
		rb_result_free(res);
		return NULL;
	}
	memset(res->entries, 0, n * sizeof(*res->entries));
	return res;
}

void rb_result_free(rb_result *res)
{
	if (res == NULL)
		return;
	while (res->parts != NULL) {
		rb_result *part = res->parts;

		res->parts = part->parts;
		part->parts = NULL;
		rb_result_free(part);
	}
	rbi_slabs_fini(&res->bytes);
	rbi_slabs_fini(&res->notes);
	rbi_free(res->allocator, res->chunks);
	rbi_free(res->allocator, res->entries);
	rbi_free(res->allocator, res);
}

/* Room for n reports more. */
static bool reserve(rb_result *res, size_t n)
{
	rb_chunk *chunks;
	size_t cap;

	if (res->nchunks + n <= res->chunk_cap)
		return true;
	cap = rbi_add_sat(res->chunk_cap, res->chunk_cap / 2 + 2);
	chunks = rbi_alloc_array(res->allocator, res->chunks, cap,
				 sizeof(*chunks));
	if (chunks == NULL)
		return false;
	res->chunks = chunks;
	res->chunk_cap = cap;
	return true;
}

bool rbi_result_reserve(rb_result *res)
{
	return reserve(res, 2);
}

rb_chunk *rbi_result_find(const rb_result *res, size_t i)
{
	size_t low = 0;
	size_t high = res->nchunks;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		rb_chunk *chunk = &res->chunks[mid];

		if (i < chunk->first)
			high = mid;
		else if (i - chunk->first < chunk->count)
			return chunk;
		else
			low = mid + 1;
	}
	return NULL;
}

size_t rbi_result_add(rb_result *res, size_t first, size_t count)
{
	rb_chunk *chunk = &res->chunks[res->nchunks];

	memset(chunk, 0, sizeof(*chunk));
	chunk->first = first;
	chunk->count = count;
	chunk->status = RB_ERR_SKIPPED;
	chunk->outcome = RB_NOT_SENT;
	chunk->message = "";
	chunk->node = res->node;
	return res->nchunks++;
}

const char *rbi_result_note(rb_result *res, rb_status status,
			    const char *message)
{
	const char *note =
		rbi_slabs_copy(&res->notes, message, strlen(message));

	return note != NULL ? note : rb_status_text(status);
}

void rbi_result_split(rb_result *res, rb_chunk *chunk, size_t count)
{
	size_t behind = res->nchunks - (size_t)(chunk - res->chunks);

	memmove(chunk + 1, chunk, behind * sizeof(*chunk));
	res->nchunks++;
	chunk[0].count = count;
	chunk[1].first += count;
	chunk[1].count -= count;
}

/* ---------------------------------------------------------------- loose -- */

static size_t entry_of(const rb_chunk *chunk, size_t i)
{
	return chunk->entries != NULL ? chunk->entries[i] : chunk->first + i;
}

void rbi_result_label(rb_result *res, const rb_chunk *chunk)
{
	size_t number = (size_t)(chunk - res->chunks) + 1;
	size_t i;

	for (i = 0; i < chunk->count; i++) {
		rbi_entry *e = &res->entries[entry_of(chunk, i)];

		if (rbi_entry_state(e) == RBI_STATE_UNSET)
			rbi_entry_set(e, RBI_STATE_UNSET, NULL, number);
	}
}

void rbi_result_loosen(rb_result *res)
{
	size_t c;

	res->loose = true;
	for (c = 0; c < res->nchunks; c++)
		rbi_result_label(res, &res->chunks[c]);
}

void rbi_result_reopen(rb_result *res, rb_chunk *chunk)
{
	size_t i = (size_t)(chunk - res->chunks);

	res->nchunks--;
	res->promised++;
	memmove(chunk, chunk + 1, (res->nchunks - i) * sizeof(*chunk));
}

bool rbi_result_promise(rb_result *res)
{
	if (!reserve(res, res->promised + 2))
		return false;
	res->promised++;
	return true;
}

rb_chunk *rbi_result_append(rb_result *res, size_t first, size_t count,
			    const size_t *numbers)
{
	rb_chunk *chunk = &res->chunks[rbi_result_add(res, first, count)];

	chunk->entries = numbers;
	if (res->promised > 0)
		res->promised--;
	return chunk;
}

void rbi_result_adopt(rb_result *res, rb_result *part)
{
	rb_stats *to = &res->stats;
	const rb_stats *from = &part->stats;

	to->commands += from->commands;
	to->keys += from->keys;
	to->request_bytes += from->request_bytes;
	to->reply_bytes += from->reply_bytes;
	to->round_trips = to->round_trips > from->round_trips ?
				  to->round_trips :
				  from->round_trips;
	to->retries += from->retries;
	to->splits += from->splits;
	to->redirects += from->redirects;
	to->reconnects += from->reconnects;
	part->parts = res->parts;
	res->parts = part;
}

void rbi_result_unset(rb_result *res)
{
	size_t c;

	memset(res->entries, 0, res->n * sizeof(*res->entries));
	for (c = 0; res->loose && c < res->nchunks; c++)
		rbi_result_label(res, &res->chunks[c]);
}

/* The report that an unset entry is in; NULL: none. */
static const rb_chunk *chunk_of(const rb_result *res, size_t i)
{
	size_t number = (size_t)(res->entries[i].word >> 8);

	if (!res->loose)
		return rbi_result_find(res, i);
	return number > 0 ? &res->chunks[number - 1] : NULL;
}

/* -------------------------------------------------------------- entries -- */

rb_status rbi_entry_status(const rbi_entry *e, rb_status chunk)
{
	switch (rbi_entry_state(e)) {
	case RBI_STATE_VALUE:
	case RBI_STATE_NIL:
	case RBI_STATE_DONE:
	case RBI_STATE_UNMET:
	case RBI_STATE_REPLY:
		return RB_OK;
	case RBI_STATE_ERROR:
	case RBI_STATE_DOUBT:
	case RBI_STATE_REPLY_ERROR:
		return RB_ERR_SERVER;
	case RBI_STATE_SHAPE:
		return RB_ERR_PROTOCOL;
	case RBI_STATE_LONG:
		return RB_ERR_LIMIT;
	case RBI_STATE_UNSET:
		break;
	}
	return chunk;
}

rb_outcome rbi_entry_outcome(const rbi_entry *e, rb_outcome chunk)
{
	bool doubted = e->word >> 8 == RBI_ENTRY_DOUBT;
	rb_slice text;

	switch (rbi_entry_state(e)) {
	case RBI_STATE_VALUE:
	case RBI_STATE_NIL:
	case RBI_STATE_DONE:
	case RBI_STATE_REPLY:
	case RBI_STATE_SHAPE:
	case RBI_STATE_LONG:
		return RB_ANSWERED;
	case RBI_STATE_ERROR:
		return RB_REJECTED;
	case RBI_STATE_DOUBT:
		return RB_UNKNOWN;
	case RBI_STATE_UNMET:
		return doubted ? RB_UNKNOWN : RB_REJECTED;
	case RBI_STATE_REPLY_ERROR:
		text = rbi_reply_text(e->data);
		if (doubted || rbi_route_hints(text.data, text.len).upstream)
			return RB_UNKNOWN;
		return RB_REJECTED;
	case RBI_STATE_UNSET:
		break;
	}
	return chunk;
}

const struct redisReply *rbi_entry_reply(const rbi_entry *e)
{
	rbi_state state = rbi_entry_state(e);

	if (state != RBI_STATE_REPLY && state != RBI_STATE_REPLY_ERROR)
		return NULL;
	return e->data;
}

rb_slice rbi_entry_value(const rbi_entry *e)
{
	rb_slice value = { NULL, 0 };

	switch (rbi_entry_state(e)) {
	case RBI_STATE_VALUE:
		value.data = e->data;
		value.len = (size_t)(e->word >> 8);
		break;
	case RBI_STATE_REPLY:
		return rbi_reply_text(e->data);
	case RBI_STATE_NIL:
	case RBI_STATE_DONE:
	case RBI_STATE_UNMET:
	case RBI_STATE_ERROR:
	case RBI_STATE_DOUBT:
	case RBI_STATE_REPLY_ERROR:
	case RBI_STATE_SHAPE:
	case RBI_STATE_LONG:
	case RBI_STATE_UNSET:
		break;
	}
	return value;
}

const char *rbi_entry_words(const rbi_entry *e)
{
	rb_slice text;

	switch (rbi_entry_state(e)) {
	case RBI_STATE_ERROR:
	case RBI_STATE_DOUBT:
	case RBI_STATE_SHAPE:
	case RBI_STATE_LONG:
		return e->data;
	case RBI_STATE_REPLY_ERROR:
		text = rbi_reply_text(e->data);
		return text.len > 0 ? text.data : "an error without text";
	case RBI_STATE_VALUE:
	case RBI_STATE_NIL:
	case RBI_STATE_DONE:
	case RBI_STATE_UNMET:
	case RBI_STATE_REPLY:
	case RBI_STATE_UNSET:
		break;
	}
	return "";
}

static size_t used_bytes(const rbi_slabs *slabs)
{
	const rbi_slab *slab;
	size_t used = 0;

	for (slab = slabs->newest; slab != NULL; slab = slab->next)
		used = rbi_add_sat(used, slab->len);
	return used;
}

size_t rbi_result_bytes(const rb_result *res)
{
	return rbi_add_sat(used_bytes(&res->bytes), used_bytes(&res->notes));
}

void rbi_result_seal(rb_result *res)
{
	size_t c;
	size_t i;

	rbi_slabs_drop_spare(&res->bytes);
	res->failed = 0;
	res->total = 0;
	for (c = 0; c < res->nchunks; c++) {
		const rb_chunk *chunk = &res->chunks[c];

		res->total += chunk->number;
		if (chunk->status == RB_OK)
			continue;
		for (i = 0; i < chunk->count; i++)
			res->failed +=
				rbi_entry_status(
					&res->entries[entry_of(chunk, i)],
					chunk->status) != RB_OK;
	}
}

/* ------------------------------------------------------------ accessors -- */

size_t rb_result_count(const rb_result *res)
{
	return res != NULL ? res->n : 0;
}

size_t rb_result_failed(const rb_result *res)
{
	return res != NULL ? res->failed : 0;
}

rb_slice rb_result_value(const rb_result *res, size_t i)
{
	const rb_slice none = { NULL, 0 };

	return res != NULL && i < res->n ? rbi_entry_value(&res->entries[i]) :
					   none;
}

const struct redisReply *rb_result_reply(const rb_result *res, size_t i)
{
	if (res == NULL || i >= res->n)
		return NULL;
	return rbi_entry_reply(&res->entries[i]);
}

int64_t rb_result_total(const rb_result *res)
{
	return res != NULL ? res->total : 0;
}

rb_status rb_result_status(const rb_result *res, size_t i)
{
	const rb_chunk *chunk;

	if (res == NULL || i >= res->n)
		return RB_ERR_INVALID;
	if (rbi_entry_state(&res->entries[i]) != RBI_STATE_UNSET)
		return rbi_entry_status(&res->entries[i], RB_OK);
	chunk = chunk_of(res, i);
	return chunk != NULL ? chunk->status : RB_ERR_SKIPPED;
}

rb_outcome rb_result_outcome(const rb_result *res, size_t i)
{
	const rb_chunk *chunk;

	if (res == NULL || i >= res->n)
		return RB_NOT_SENT;
	if (rbi_entry_state(&res->entries[i]) != RBI_STATE_UNSET)
		return rbi_entry_outcome(&res->entries[i], RB_NOT_SENT);
	chunk = chunk_of(res, i);
	return chunk != NULL ? chunk->outcome : RB_NOT_SENT;
}

const char *rb_result_message(const rb_result *res, size_t i)
{
	const rb_chunk *chunk;

	if (res == NULL || i >= res->n)
		return "";
	if (rbi_entry_state(&res->entries[i]) != RBI_STATE_UNSET)
		return rbi_entry_words(&res->entries[i]);
	chunk = chunk_of(res, i);
	return chunk != NULL ? chunk->message : "";
}

size_t rb_result_chunks(const rb_result *res)
{
	return res != NULL ? res->nchunks : 0;
}

const rb_chunk *rb_result_chunk(const rb_result *res, size_t i)
{
	if (res == NULL || i >= res->nchunks)
		return NULL;
	return &res->chunks[i];
}

rb_status rb_result_stats(const rb_result *res, rb_stats *out)
{
	size_t size;

	if (res == NULL || out == NULL)
		return RB_ERR_INVALID;
	size = out->struct_size != 0 ? out->struct_size : FIRST_STATS_SIZE;
	if (size < FIRST_STATS_SIZE)
		return RB_ERR_INVALID;
	memcpy(out, &res->stats, rbi_min(size, sizeof(*out)));
	out->struct_size = size;
	return RB_OK;
}
