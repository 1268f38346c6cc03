/*
 * A source as a feed: chunks of copies out, answers to the sink.
 */
#include "alloc.h"
#include "count.h"
#include "intake.h"
#include "writes.h"

#include <stdio.h>

typedef struct ends {
	size_t given;
	size_t n;
	size_t stop_at;
	size_t bad_at;
	size_t long_at;
	size_t after_end; /* calls after the source had answered 0 or less */
	bool over;
	char text[256];
	size_t taken;
	size_t calls;
	size_t halt_at;
	size_t skipped;
} ends;

typedef struct fixture {
	rbt_count count;
	rbi_batch form;
	rbi_intake in;
	rbi_feed *feed;
	rbi_bounds bounds;
	ends ends;
} fixture;

static int next_pair(void *arg, rb_slice *key, rb_slice *value)
{
	ends *e = arg;

	e->after_end += e->over;
	e->over = e->given == e->stop_at || e->given == e->n;
	if (e->over)
		return e->given == e->stop_at ? -1 : 0;
	snprintf(e->text, sizeof(e->text), "key %zu", e->given);
	snprintf(e->text + 32, sizeof(e->text) - 32, "value %zu%s", e->given,
		 e->given == e->long_at ? " that is a little longer" : "");
	key->data = e->given == e->bad_at ? NULL : e->text;
	key->len = strlen(e->text);
	value->data = e->text + 32;
	value->len = strlen(e->text + 32);
	e->given++;
	return 1;
}

static int next_key(void *arg, rb_slice *key)
{
	rb_slice value;

	return next_pair(arg, key, &value);
}

static int take(void *arg, size_t first, const rb_slice *taken,
		const rb_slice *values, const rb_status *statuses, size_t n)
{
	ends *e = arg;
	size_t i;

	(void)values;
	assert_int_equal(first, e->taken);
	for (i = 0; i < n; i++) {
		char want[32];

		snprintf(want, sizeof(want), "key %zu", first + i);
		assert_int_equal(taken[i].len, strlen(want));
		assert_memory_equal(taken[i].data, want, taken[i].len);
		e->skipped += statuses[i] == RB_ERR_SKIPPED;
	}
	e->taken += n;
	e->calls++;
	return e->taken >= e->halt_at ? -1 : 0;
}

static void begin(fixture *f, size_t n, size_t chunk_keys, bool pairs)
{
	memset(f, 0, sizeof(*f));
	rbt_count_init(&f->count);
	f->ends.n = n;
	f->ends.stop_at = f->ends.bad_at = f->ends.long_at = SIZE_MAX;
	f->ends.halt_at = SIZE_MAX;
	f->form.command.data = pairs ? "MSET" : "MGET";
	f->form.command.len = 4;
	f->form.shape = pairs ? RBI_SHAPE_OK : RBI_SHAPE_VALUES;
	f->form.keys_name = "keys";
	f->form.keylens_name = "keylens";
	f->in.next_pair = pairs ? next_pair : NULL;
	f->in.next_key = pairs ? NULL : next_key;
	f->in.take_values = pairs ? NULL : take;
	f->in.next_arg = f->in.take_arg = &f->ends;
	f->in.batch = &f->form;
	f->in.allocator = &f->count.allocator;
	f->in.node = "node";
	f->in.max_value = 1000;
	rbi_intake_init(&f->in);
	f->feed = &f->in.feed;
	f->bounds.keys = chunk_keys;
	f->bounds.args = SIZE_MAX;
	f->bounds.request_bytes = SIZE_MAX / 2;
	f->bounds.reply_bytes = SIZE_MAX;
}

static void end(fixture *f)
{
	rbi_intake_fini(&f->in);
	assert_int_equal(f->count.live_blocks, 0);
}

static rbi_parcel next(fixture *f, rb_status want)
{
	rbi_parcel parcel;

	memset(&parcel, 0, sizeof(parcel));
	assert_status(f->feed->ops->next(f->feed, &f->bounds, &parcel), want);
	return parcel;
}

static rb_status deliver(fixture *f, const rbi_parcel *parcel, rb_status status)
{
	rb_chunk *report = f->feed->ops->report(f->feed, parcel);

	assert_int_equal(report->count, parcel->cut.count);
	report->status = status;
	return f->feed->ops->delivered(f->feed, parcel, report);
}

/* The chunk's bytes are those of its entries, though the source has long
 * written others in their place. */
static void check_bytes(const rbi_parcel *parcel, size_t first, bool pairs)
{
	const rbi_batch *b = parcel->cut.batch;
	size_t i;

	assert_int_equal(b->n, parcel->cut.count);
	assert_int_equal(parcel->cut.request_bytes,
			 chunk_size(b, 0, parcel->cut.count));
	for (i = 0; i < b->n; i++) {
		char want[32];

		snprintf(want, sizeof(want), "key %zu", first + i);
		assert_int_equal(b->keylens[i], strlen(want));
		assert_memory_equal(b->keys[i], want, strlen(want));
		if (!pairs)
			continue;
		snprintf(want, sizeof(want), "value %zu", first + i);
		assert_memory_equal(b->values[i], want, strlen(want));
	}
}

static void test_what_the_source_gives_is_copied_in_order(void **state)
{
	int pairs;

	(void)state;
	for (pairs = 0; pairs < 2; pairs++) {
		rbi_parcel parcels[4];
		fixture f;
		size_t i;

		begin(&f, 3500, 1000, pairs != 0);
		for (i = 0; i < 4; i++)
			parcels[i] = next(&f, RB_OK);
		for (i = 0; i < 4; i++) {
			rb_chunk *report =
				f.feed->ops->report(f.feed, &parcels[i]);

			assert_int_equal(report->first, 1000 * i);
			assert_int_equal(parcels[i].cut.count,
					 i < 3 ? 1000 : 500);
			check_bytes(&parcels[i], 1000 * i, pairs != 0);
			assert_status(deliver(&f, &parcels[i], RB_ERR_IO),
				      RB_OK);
		}
		assert_true(f.feed->ended);
		assert_int_equal(f.ends.after_end, 0);
		assert_int_equal(f.in.failed, 3500);
		if (!pairs)
			assert_int_equal(f.ends.taken, 3500);
		end(&f);
	}
}

static void test_an_entry_that_does_not_fit_begins_the_next_chunk(void **state)
{
	rbi_parcel parcel;
	fixture f;

	(void)state;
	begin(&f, 4, 1000, true);
	f.ends.long_at = 1;
	/* Frame, and one short pair of 12 + 13 bytes, but no long one. */
	f.bounds.request_bytes = 4 + 10 + 12 + 13 + 20;
	parcel = next(&f, RB_OK);
	assert_int_equal(parcel.cut.count, 1);
	check_bytes(&parcel, 0, true);
	assert_int_equal(f.ends.given, 2);
	parcel = next(&f, RB_OK);
	assert_int_equal(parcel.cut.count, 1);
	check_bytes(&parcel, 1, true);
	parcel = next(&f, RB_OK);
	check_bytes(&parcel, 2, true);
	end(&f);
}

static void test_crates_are_used_again(void **state)
{
	fixture f;
	size_t blocks;
	size_t i;

	(void)state;
	begin(&f, 100000, 100, false);
	for (i = 0; i < 3; i++) {
		rbi_parcel parcel = next(&f, RB_OK);

		assert_status(deliver(&f, &parcel, RB_ERR_IO), RB_OK);
	}
	blocks = f.count.live_bytes;
	for (i = 3; i < 1000; i++) {
		rbi_parcel parcel = next(&f, RB_OK);

		check_bytes(&parcel, 100 * i, false);
		assert_status(deliver(&f, &parcel, RB_ERR_IO), RB_OK);
	}
	assert_true(f.count.live_bytes <= 2 * blocks);
	assert_int_equal(f.ends.taken, 100000);
	end(&f);
}

static void test_a_source_that_stops_has_given_what_it_gave(void **state)
{
	rbi_parcel parcel;
	rbi_parcel last;
	fixture f;

	(void)state;
	begin(&f, 100, 10, false);
	f.ends.stop_at = 15;
	parcel = next(&f, RB_OK);
	last = next(&f, RB_ERR_CANCELLED);
	assert_int_equal(last.cut.count, 5);
	assert_non_null(strstr(f.feed->problem, "source"));
	assert_status(deliver(&f, &last, RB_ERR_SKIPPED), RB_OK);
	assert_status(deliver(&f, &parcel, RB_ERR_IO), RB_OK);
	f.feed->ops->rest(f.feed, &f.bounds, "stopped");
	assert_int_equal(f.ends.taken, 15);
	assert_int_equal(f.ends.skipped, 5);
	assert_int_equal(f.ends.after_end, 0);
	end(&f);
}

static void test_a_bad_entry_is_named_by_its_number(void **state)
{
	rbi_parcel parcel;
	fixture f;

	(void)state;
	begin(&f, 100, 10, false);
	f.ends.bad_at = 27;
	parcel = next(&f, RB_OK);
	assert_status(deliver(&f, &parcel, RB_ERR_IO), RB_OK);
	parcel = next(&f, RB_OK);
	assert_status(deliver(&f, &parcel, RB_ERR_IO), RB_OK);
	parcel = next(&f, RB_ERR_INVALID);
	assert_non_null(strstr(f.feed->problem, "entry 27 "));
	assert_status(deliver(&f, &parcel, RB_ERR_SKIPPED), RB_OK);
	f.feed->ops->rest(f.feed, &f.bounds, "bad");
	assert_int_equal(f.ends.taken, 27);
	assert_int_equal(f.ends.given, 28);
	end(&f);
}

static void test_a_sink_that_stops_is_left_alone(void **state)
{
	rbi_parcel parcels[3];
	fixture f;
	size_t i;

	(void)state;
	begin(&f, 100, 10, false);
	f.ends.halt_at = 15;
	for (i = 0; i < 3; i++)
		parcels[i] = next(&f, RB_OK);
	assert_status(deliver(&f, &parcels[0], RB_ERR_IO), RB_OK);
	assert_status(deliver(&f, &parcels[1], RB_ERR_IO), RB_ERR_CANCELLED);
	assert_status(deliver(&f, &parcels[2], RB_ERR_IO), RB_OK);
	f.feed->ops->rest(f.feed, &f.bounds, "stopped");
	assert_int_equal(f.ends.taken, 20);
	assert_int_equal(f.ends.calls, 2);
	end(&f);
}

static void test_a_chunk_known_early_waits_for_those_before_it(void **state)
{
	rbi_parcel first;
	rbi_parcel second;
	fixture f;

	(void)state;
	begin(&f, 25, 10, false);
	first = next(&f, RB_OK);
	second = next(&f, RB_OK);
	assert_status(deliver(&f, &second, RB_ERR_SKIPPED), RB_OK);
	assert_int_equal(f.ends.taken, 0);
	assert_int_equal(f.feed->held, 1);
	assert_status(deliver(&f, &first, RB_ERR_IO), RB_OK);
	assert_int_equal(f.feed->held, 0);
	f.feed->ops->rest(f.feed, &f.bounds, "no memory");
	assert_int_equal(f.ends.taken, 20);
	assert_int_equal(f.ends.skipped, 10);
	/* The source still has the others, and is not asked. */
	assert_int_equal(f.ends.given, 20);
	end(&f);
}

static void test_an_entry_without_a_crate_is_delivered_at_the_end(void **state)
{
	rbi_parcel parcel;
	fixture f;

	(void)state;
	begin(&f, 25, 10, false);
	f.bounds.request_bytes = 40;
	parcel = next(&f, RB_OK);
	assert_int_equal(f.ends.given, parcel.cut.count + 1);
	assert_status(deliver(&f, &parcel, RB_ERR_IO), RB_OK);
	f.feed->ops->rest(f.feed, &f.bounds, "stopped");
	assert_int_equal(f.ends.taken, f.ends.given);
	assert_int_equal(f.ends.skipped, 1);
	end(&f);
}

static void test_every_failed_allocation_loses_no_entry(void **state)
{
	int pairs;

	(void)state;
	for (pairs = 0; pairs < 2; pairs++) {
		bool touched = true;
		size_t at;

		for (at = 1; touched; at++) {
			rbi_parcel parcel;
			fixture f;
			size_t delivered = 0;
			rb_status status;

			begin(&f, 200, 60, pairs != 0);
			f.count.fail_at = at;
			do {
				memset(&parcel, 0, sizeof(parcel));
				status = f.feed->ops->next(f.feed, &f.bounds,
							   &parcel);
				if (parcel.cut.count == 0)
					break;
				check_bytes(&parcel, delivered, pairs != 0);
				delivered += parcel.cut.count;
				assert_status(deliver(&f, &parcel, RB_ERR_IO),
					      RB_OK);
			} while (status == RB_OK && !f.feed->ended);
			touched = f.count.asked >= at;
			if (status != RB_OK)
				assert_status(status, RB_ERR_NOMEM);
			if (!f.feed->ended)
				f.feed->ops->rest(f.feed, &f.bounds, "why");
			assert_int_equal(f.in.failed, f.ends.given);
			if (!pairs)
				assert_int_equal(f.ends.taken, f.ends.given);
			end(&f);
		}
		assert_true(at > 10);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_source_gives_is_copied_in_order),
		cmocka_unit_test(
			test_an_entry_that_does_not_fit_begins_the_next_chunk),
		cmocka_unit_test(test_crates_are_used_again),
		cmocka_unit_test(
			test_a_source_that_stops_has_given_what_it_gave),
		cmocka_unit_test(test_a_bad_entry_is_named_by_its_number),
		cmocka_unit_test(test_a_sink_that_stops_is_left_alone),
		cmocka_unit_test(
			test_a_chunk_known_early_waits_for_those_before_it),
		cmocka_unit_test(
			test_an_entry_without_a_crate_is_delivered_at_the_end),
		cmocka_unit_test(test_every_failed_allocation_loses_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
