/*
 * The caller's structures, of any bytes and any size: bytes 0 and 1 are
 * struct_size, byte 2 chooses the allocator, and what follows is the members.
 *
 * They lie in a block of exactly struct_size, so nothing beyond it may be
 * touched. What is refused has a text; what is taken is kept where it was set
 * and within bounds after filling in, which is the same done twice.
 */
#include "alloc.h"
#include "encode.h"
#include "fuzz.h"
#include "options.h"

/* Of a release with many more members. */
#define SIZE_MOST (sizeof(rb_options) + 100)

static const rb_allocator half_an_allocator;

/* A structure that claims to have size bytes and has them, to be freed. */
static rb_options *make_options(input *in, size_t size, unsigned allocator)
{
	static const rb_allocator *const allocators[] = {
		NULL,
		&rbi_alloc_default,
		&half_an_allocator,
	};
	size_t at = offsetof(rb_options, allocator);
	size_t room = size < sizeof(size) ? sizeof(size) : size;
	size_t n = in->size < room ? in->size : room;
	char *block = calloc(1, room);

	must(block != NULL);
	if (n > 0)
		memcpy(block, in->data, n);
	in->data += n;
	in->size -= n;
	memcpy(block, &size, sizeof(size));
	if (size >= at + sizeof(allocators[0]))
		memcpy(block + at, &allocators[allocator % N_OF(allocators)],
		       sizeof(allocators[0]));
	return (rb_options *)(void *)block;
}

static void kept(uint64_t given, uint64_t filled)
{
	must(given == 0 ? filled > 0 : filled <= given && filled > 0);
}

static void check_filled(const rb_options *given, const rb_options *o)
{
	kept(given->chunk_keys, o->chunk_keys);
	kept(given->chunk_args, o->chunk_args);
	kept(given->chunk_request_bytes, o->chunk_request_bytes);
	kept(given->chunk_reply_bytes, o->chunk_reply_bytes);
	kept(given->window_reply_bytes, o->window_reply_bytes);
	kept(given->max_value_bytes, o->max_value_bytes);
	kept(given->max_result_bytes, o->max_result_bytes);
	kept(given->connect_timeout_ms, o->connect_timeout_ms);
	kept(given->attempts, o->attempts);
	must(o->chunk_args <= RBI_ENCODE_MAX_ARGC);
	/* Sums of two of them fit. */
	must(o->chunk_request_bytes <= SIZE_MAX / 2);
	must(o->chunk_reply_bytes <= SIZE_MAX / 2);
	must(o->window_reply_bytes <= SIZE_MAX / 2);
	must(o->max_value_bytes <= SIZE_MAX / 2);
	must(given->window == 0 || o->window == given->window);
	must(given->timeout_ms == 0 || o->timeout_ms == given->timeout_ms);
	must(given->expire_ms == 0 || o->expire_ms == given->expire_ms);
	must((o->flags & given->flags) == given->flags);
	must(o->allocator != NULL);
	must(o->allocator->alloc != NULL && o->allocator->free != NULL);
}

static void check_init(size_t size)
{
	size_t room = size < sizeof(size) ? sizeof(size) : size;
	rb_options *o = malloc(room);
	rb_options read;

	must(o != NULL);
	memset(o, 0xff, room);
	rb_options_init_sized(o, size);
	if (size >= sizeof(rb_options)) {
		must(rbi_options_read(&read, o) == NULL);
		must(o->struct_size == size);
	}
	free(o);
}

static const char *read_both(rb_options *out, const rb_options *given)
{
	rb_options again;
	const char *problem = rbi_options_read(out, given);

	must(rbi_options_read(&again, given) == problem);
	must(problem == NULL || problem[0] != '\0');
	return problem;
}

/* The padding too, which was copied along. */
static void same_bytes(const char *a, const char *b, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		must(a[i] == b[i]);
}

static void check_fill(const rb_options *given, const rb_options *defaults)
{
	rb_options once = *given;
	rb_options twice;

	rbi_options_fill(&once, defaults);
	check_filled(given, &once);
	memcpy(&twice, &once, sizeof(twice));
	rbi_options_fill(&twice, defaults);
	same_bytes((const char *)&once, (const char *)&twice, sizeof(once));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input in = { data, size };
	size_t struct_size = (size_t)take_number(&in, 2) % SIZE_MOST;
	unsigned allocators = take_byte(&in);
	rb_options *call = make_options(&in, struct_size, allocators);
	rb_options *client =
		make_options(&in, sizeof(*client), allocators >> 4);
	const char *problem;
	rb_options defaults;
	rb_options read;

	check_init(struct_size);
	problem = read_both(&read, call);
	must(problem != NULL || struct_size > offsetof(rb_options, allocator));
	if (problem == NULL && read_both(&defaults, client) == NULL)
		check_fill(&read, &defaults);
	free(call);
	free(client);
	return 0;
}
