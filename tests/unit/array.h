/*
 * Commands in an array, and the feed that cuts it into chunks.
 */
#ifndef RBT_ARRAY_H
#define RBT_ARRAY_H

#include "count.h"
#include "feed.h"
#include "writes.h"

typedef struct array {
	writes writes;
	rbi_batch batch;
	rbt_count count;
	rb_result *res;
	rbi_array_feed array;
	rbi_feed *feed;
	rbi_bounds bounds;
} array;

/* n entries, and room for so many reports. */
static inline void array_begin(array *f, size_t n, size_t nreports,
			       size_t chunk_keys)
{
	uint64_t seed = 42;

	memset(f, 0, sizeof(*f));
	rbt_count_init(&f->count);
	writes_init(&f->writes, n, 10, &seed);
	f->batch = writes_commands(&f->writes);
	f->res = rbi_result_new(&f->count.allocator, n, nreports, "node");
	assert_non_null(f->res);
	rbi_array_feed_init(&f->array, &f->batch, f->res);
	f->feed = &f->array.feed;
	f->bounds.keys = chunk_keys;
	f->bounds.args = SIZE_MAX;
	f->bounds.request_bytes = SIZE_MAX / 2;
	f->bounds.reply_bytes = SIZE_MAX;
}

static inline void array_end(array *f)
{
	rb_result_free(f->res);
	assert_int_equal(f->count.live_blocks, 0);
	writes_fini(&f->writes);
}

static inline rbi_parcel array_next(array *f)
{
	rbi_parcel parcel;

	assert_status(f->feed->ops->next(f->feed, &f->bounds, &parcel), RB_OK);
	return parcel;
}

#endif
