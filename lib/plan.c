#include "plan.h"

#include "encode.h"

/* The most entries, by all bounds but the request's bytes. */
static size_t max_count(const rbi_batch *b, size_t first,
			const rbi_bounds *bounds)
{
	size_t fixed = rbi_batch_fixed_args(b);
	size_t max = rbi_min(b->n - first, bounds->keys);

	max = rbi_min(max, bounds->args > fixed ? bounds->args - fixed : 1);
	if (bounds->entry_reply > 0)
		max = rbi_min(max, bounds->reply_bytes / bounds->entry_reply);
	return rbi_max(max, 1);
}

static size_t fixed_size(const rbi_batch *b)
{
	size_t size = rbi_encode_arg_size(b->command.len);

	if (b->fixed.data != NULL)
		size += rbi_encode_arg_size(b->fixed.len);
	return size;
}

rbi_cut rbi_plan_cut(const rbi_batch *b, size_t first, const rbi_bounds *bounds)
{
	rbi_cut cut = { .first = first };
	size_t end = first + max_count(b, first, bounds);
	size_t argc = rbi_batch_fixed_args(b);
	size_t total = rbi_encode_header_size(argc) + fixed_size(b);
	size_t room =
		bounds->request_bytes - rbi_min(bounds->request_bytes, total);
	size_t longer = 10; /* with so many arguments *argc has a digit more */
	size_t i;

	for (i = first; i < end; i++) {
		size_t size = rbi_encode_arg_size(rbi_batch_keylen(b, i));

		if (++argc == longer) {
			longer *= 10;
			size++;
		}
		if (RBI_UNLIKELY(size > room)) {
			if (i > first)
				break;
			size = rbi_min(size, SIZE_MAX - total);
			room = size;
		}
		room -= size;
		total += size;
	}
	cut.count = i - first;
	cut.request_bytes = total;
	return cut;
}
