#include "alloc.h"
#include "count.h"
#include "keys.h"
#include "lane.h"
#include "unit.h"

#define KEYS 40

typedef struct fixture {
	rbt_count count;
	rbi_lane lane;
	rb_result *res;
	keys keys;
	rbi_batch batch;
	size_t next; /* the first key not yet pushed */
} fixture;

static void begin_with(fixture *f, size_t max_value)
{
	rbt_count_init(&f->count);
	keys_init(&f->keys, KEYS, NULL, 5);
	f->batch = keys_mget(&f->keys);
	f->res = rbi_result_new(&f->count.allocator, KEYS, KEYS, "node");
	assert_non_null(f->res);
	f->next = 0;
	rbi_lane_init(&f->lane, &f->count.allocator);
	rbi_lane_begin(&f->lane, f->res, max_value);
}

static void begin(fixture *f)
{
	begin_with(f, (size_t)512 * 1024 * 1024);
}

static void end(fixture *f)
{
	rbi_lane_fini(&f->lane);
	rb_result_free(f->res);
	keys_fini(&f->keys);
	assert_int_equal(f->count.live_blocks, 0);
}

/* Pushes a chunk of count keys; the size of its command. */
static size_t push(fixture *f, size_t count)
{
	rbi_bounds bounds = { .keys = count,
			      .args = SIZE_MAX,
			      .request_bytes = SIZE_MAX / 4,
			      .reply_bytes = SIZE_MAX / 4 };
	rbi_parcel parcel = { .cut = rbi_plan_cut(&f->batch, f->next, &bounds),
			      .entries = f->res->entries + f->next };

	parcel.tag = rbi_result_add(f->res, f->next, parcel.cut.count);
	assert_status(rbi_lane_push(&f->lane, &parcel, 100), RB_OK);
	f->next += count;
	return parcel.cut.request_bytes;
}

static void send_all(fixture *f, uint64_t now_us)
{
	rbi_lane_sent(&f->lane, f->lane.out.pending, now_us);
}

/* Bytes arrive, in as many receives as the room wants. */
static void receive(fixture *f, const char *bytes, size_t n)
{
	while (n > 0) {
		char *buf;
		size_t len;

		assert_status(rbi_lane_room(&f->lane, &buf, &len), RB_OK);
		assert_true(len > 0);
		/* Nothing beyond the used bytes can be pointed to. */
		assert_true(f->lane.keep <= f->res->bytes.newest->len);
		if (len > n)
			len = n;
		memcpy(buf, bytes, len);
		rbi_lane_received(&f->lane, len);
		bytes += len;
		n -= len;
	}
}

static void check_answered(fixture *f, size_t first, const char *want)
{
	assert_int_equal(rbi_lane_next(&f->lane), RBI_LANE_ANSWERED);
	assert_int_equal(rbi_lane_oldest(&f->lane)->parcel.cut.first, first);
	assert_string_equal(f->res->entries[first].data, want);
	rbi_lane_pop(&f->lane);
}

static void test_a_lane_without_chunks_is_idle(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	assert_true(rbi_lane_idle(&f.lane));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	assert_int_equal(rbi_lane_reply_bytes(&f.lane), 0);
	end(&f);
}

static void test_a_chunk_is_sent_answered_and_popped(void **state)
{
	fixture f;
	size_t size;

	(void)state;
	begin(&f);
	size = push(&f, 2);
	assert_int_equal(f.lane.out.pending, size);
	assert_false(rbi_lane_idle(&f.lane));
	send_all(&f, 1000);
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	receive(&f, LIT("*2\r\n$1\r\na\r\n$-1\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_ANSWERED);
	assert_status(f.lane.answer.status, RB_OK);
	assert_int_equal(rbi_lane_reply_bytes(&f.lane), 16);
	rbi_lane_pop(&f.lane);
	assert_true(rbi_lane_idle(&f.lane));
	assert_string_equal(f.res->entries[0].data, "a");
	end(&f);
}

static void test_answers_belong_to_the_oldest(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	push(&f, 1);
	push(&f, 1);
	send_all(&f, 1000);
	receive(&f, LIT("*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n*1\r\n$1\r\nc\r\n"));
	check_answered(&f, 0, "a");
	check_answered(&f, 1, "b");
	check_answered(&f, 2, "c");
	assert_true(rbi_lane_idle(&f.lane));
	end(&f);
}

static void test_answers_survive_any_cut(void **state)
{
	static const char bytes[] =
		"*1\r\n$3\r\naaa\r\n>1\r\n+x\r\n*1\r\n$3\r\nbbb\r\n";
	size_t cut;

	(void)state;
	for (cut = 0; cut < sizeof(bytes); cut++) {
		rbi_lane_event event;
		size_t popped = 0;
		fixture f;

		begin(&f);
		push(&f, 1);
		push(&f, 1);
		send_all(&f, 1);
		receive(&f, bytes, cut);
		event = rbi_lane_next(&f.lane);
		while (event == RBI_LANE_ANSWERED) {
			rbi_lane_pop(&f.lane);
			popped++;
			event = rbi_lane_next(&f.lane);
		}
		assert_int_equal(event, RBI_LANE_WAITING);
		receive(&f, bytes + cut, sizeof(bytes) - 1 - cut);
		for (; popped < 2; popped++) {
			assert_int_equal(rbi_lane_next(&f.lane),
					 RBI_LANE_ANSWERED);
			rbi_lane_pop(&f.lane);
		}
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
		assert_string_equal(f.res->entries[0].data, "aaa");
		assert_string_equal(f.res->entries[1].data, "bbb");
		assert_true(rbi_lane_idle(&f.lane));
		end(&f);
	}
}

static void test_it_knows_how_much_of_each_has_left(void **state)
{
	const rbi_flight *flight;
	fixture f;
	size_t size;

	(void)state;
	begin(&f);
	size = push(&f, 1);
	push(&f, 1);
	flight = rbi_lane_oldest(&f.lane);
	assert_int_equal(flight->begin, 0);
	assert_int_equal(flight->end, size);
	rbi_lane_sent(&f.lane, 1, 10);
	assert_int_equal(flight->first_sent_us, 10);
	assert_int_equal(flight->last_sent_us, 0);
	assert_int_equal(f.lane.nsent, 0);
	rbi_lane_sent(&f.lane, size - 2, 15);
	assert_int_equal(flight->last_sent_us, 0);
	assert_int_equal(f.lane.nsent, 0);
	rbi_lane_sent(&f.lane, 1, 20);
	assert_int_equal(flight->last_sent_us, 20);
	assert_int_equal(f.lane.nsent, 1);
	send_all(&f, 30);
	assert_int_equal(flight->first_sent_us, 10);
	assert_int_equal(flight->last_sent_us, 20);
	assert_int_equal(f.lane.nsent, 2);
	assert_int_equal(f.lane.sent, f.lane.queued);
	end(&f);
}

static void test_one_send_may_take_many_chunks(void **state)
{
	fixture f;
	size_t i;

	(void)state;
	begin(&f);
	for (i = 0; i < 20; i++)
		push(&f, 1);
	send_all(&f, 50);
	assert_int_equal(f.lane.nsent, 20);
	for (i = 0; i < 20; i++) {
		const rbi_flight *flight = rbi_lane_oldest(&f.lane);

		assert_int_equal(flight->first_sent_us, 50);
		assert_int_equal(flight->last_sent_us, 50);
		assert_int_equal(flight->parcel.cut.first, i);
		rbi_lane_pop(&f.lane);
	}
	end(&f);
}

static void test_the_queue_keeps_its_order_while_it_grows(void **state)
{
	size_t popped = 0;
	fixture f;
	size_t i;

	(void)state;
	begin(&f);
	for (i = 0; i < KEYS; i++) {
		push(&f, 1);
		if (i % 3 == 2) {
			send_all(&f, i + 1);
			assert_int_equal(
				rbi_lane_oldest(&f.lane)->parcel.cut.first,
				popped);
			rbi_lane_pop(&f.lane);
			popped++;
		}
	}
	assert_int_equal(f.lane.count, KEYS - popped);
	while (f.lane.count > 0) {
		assert_int_equal(rbi_lane_oldest(&f.lane)->parcel.cut.first,
				 popped);
		assert_int_equal(rbi_lane_oldest(&f.lane)->parcel.tag, popped);
		rbi_lane_pop(&f.lane);
		popped++;
	}
	assert_int_equal(popped, KEYS);
	assert_int_equal(f.lane.reply_guess, 0);
	end(&f);
}

static void test_predicted_bytes_are_summed_and_taken_back(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	push(&f, 1);
	assert_int_equal(f.lane.reply_guess, 200);
	rbi_lane_pop(&f.lane);
	assert_int_equal(f.lane.reply_guess, 100);
	end(&f);
}

static void test_round_trips_count_what_had_to_be_awaited(void **state)
{
	fixture f;
	int i;

	(void)state;
	begin(&f);
	/* Two at a time: three round trips for six chunks. */
	for (i = 0; i < 3; i++) {
		push(&f, 1);
		push(&f, 1);
		send_all(&f, 1);
		receive(&f, LIT("*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n"));
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_ANSWERED);
		rbi_lane_pop(&f.lane);
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_ANSWERED);
		rbi_lane_pop(&f.lane);
	}
	assert_int_equal(f.lane.round_trips, 3);
	end(&f);
}

static void test_an_answer_before_its_command_is_refused(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	rbi_lane_sent(&f.lane, 3, 1);
	receive(&f, LIT("*1\r\n$1\r\na\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_BROKEN);
	assert_non_null(strstr(f.lane.problem, "before"));
	end(&f);
}

static void test_an_answer_before_a_later_command_is_refused(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("*1\r\n$1\r\na\r\n"));
	check_answered(&f, 0, "a");
	push(&f, 1);
	rbi_lane_sent(&f.lane, 3, 2);
	receive(&f, LIT("*1\r\n$1\r\nb\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_BROKEN);
	end(&f);
}

static void test_an_error_may_come_before_its_command_has_left(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	rbi_lane_sent(&f.lane, 3, 1);
	receive(&f, LIT("-ERR Protocol error: invalid bulk length\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_ANSWERED);
	assert_status(f.lane.answer.status, RB_ERR_SERVER);
	rbi_lane_pop(&f.lane);
	assert_false(rbi_lane_idle(&f.lane));
	send_all(&f, 2);
	assert_true(rbi_lane_idle(&f.lane));
	end(&f);
}

static void test_an_answer_that_nobody_asked_for_is_refused(void **state)
{
	static const char *const bytes[] = { "+OK\r\n",	   "*1\r\n$1\r\na\r\n",
					     "-ERR x\r\n", "$-1\r\n",
					     "+",	   "*",
					     "$5\r\nab",   "garbage" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(bytes); i++) {
		fixture f;

		begin(&f);
		push(&f, 1);
		send_all(&f, 1);
		receive(&f, LIT("*1\r\n$1\r\na\r\n"));
		receive(&f, bytes[i], strlen(bytes[i]));
		check_answered(&f, 0, "a");
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_BROKEN);
		assert_non_null(f.lane.problem);
		end(&f);
	}
}

static void test_a_push_that_nobody_asked_for_is_fine(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("*1\r\n$1\r\na\r\n>2\r\n+x\r\n*1"));
	check_answered(&f, 0, "a");
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	assert_false(rbi_lane_idle(&f.lane));
	receive(&f, LIT("\r\n$1\r\nk\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	assert_true(rbi_lane_idle(&f.lane));
	end(&f);
}

static void test_reply_bytes_do_not_count_a_push_before(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT(">1\r\n+x\r\n*1\r\n$1\r\na\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_ANSWERED);
	assert_int_equal(rbi_lane_reply_bytes(&f.lane), 11);
	end(&f);
}

static void test_what_is_not_resp_is_refused(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("HTTP/1.1 400 Bad Request\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_BROKEN);
	assert_true(strlen(f.lane.problem) > 0);
	end(&f);
}

/* Values of many sizes, over many slabs, in small receives. */
static void test_values_stay_when_slabs_change(void **state)
{
	size_t len = 6000;
	size_t cap = KEYS * (len + 32);
	char *bytes = malloc(cap);
	size_t n = 0;
	size_t at;
	size_t i;
	fixture f;

	(void)state;
	assert_non_null(bytes);
	begin(&f);
	push(&f, KEYS);
	send_all(&f, 1);
	n += (size_t)sprintf(bytes, "*%d\r\n", KEYS);
	for (i = 0; i < KEYS; i++) {
		n += (size_t)sprintf(bytes + n, "$%zu\r\n", len - i);
		memset(bytes + n, (int)('A' + i), len - i);
		n += len - i;
		memcpy(bytes + n, "\r\n", 2);
		n += 2;
	}
	for (at = 0; at < n; at += 1000) {
		receive(&f, bytes + at, n - at < 1000 ? n - at : 1000);
		assert_int_equal(rbi_lane_next(&f.lane),
				 n - at <= 1000 ? RBI_LANE_ANSWERED :
						  RBI_LANE_WAITING);
	}
	for (i = 0; i < KEYS; i++) {
		const rbi_entry *e = &f.res->entries[i];
		const char *data = e->data;

		assert_int_equal(e->word >> 8, len - i);
		assert_int_equal(data[0], 'A' + i);
		assert_int_equal(data[len - i - 1], 'A' + i);
		assert_int_equal(data[len - i], '\0');
	}
	free(bytes);
	end(&f);
}

static void test_bytes_that_nobody_keeps_do_not_pile_up(void **state)
{
	char junk[5000];
	fixture f;
	int i;

	(void)state;
	begin_with(&f, 100);
	push(&f, 2);
	send_all(&f, 1);
	receive(&f, LIT("*2\r\n$1\r\na\r\n$100000000\r\n"));
	memset(junk, 'j', sizeof(junk));
	for (i = 0; i < 20000; i++) {
		receive(&f, junk, sizeof(junk));
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	}
	assert_true(f.count.peak_bytes < 200000);
	receive(&f, LIT("\r\n"));
	check_answered(&f, 0, "a");
	assert_int_equal(rbi_entry_state(&f.res->entries[1]), RBI_STATE_LONG);
	end(&f);
}

static void test_a_new_slab_keeps_nothing_of_the_old_one(void **state)
{
	char value[8000];
	fixture f;
	size_t i;

	(void)state;
	memset(value, 'v', sizeof(value));
	begin(&f);
	push(&f, KEYS);
	send_all(&f, 1);
	receive(&f, LIT("*40\r\n$8000\r\n"));
	receive(&f, value, sizeof(value));
	receive(&f, LIT("\r\n$7"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	/* It does not fit behind the first, and what follows is not kept. */
	receive(&f, LIT("000\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	receive(&f, value, 7000);
	receive(&f, LIT("\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	for (i = 2; i < KEYS; i++) {
		receive(&f, LIT("$-1\r\n"));
		assert_int_equal(rbi_lane_next(&f.lane),
				 i < KEYS - 1 ? RBI_LANE_WAITING :
						RBI_LANE_ANSWERED);
	}
	assert_int_equal(f.res->entries[0].word >> 8, 8000);
	assert_memory_equal(f.res->entries[0].data, value, sizeof(value));
	assert_int_equal(f.res->entries[1].word >> 8, 7000);
	assert_memory_equal(f.res->entries[1].data, value, 7000);
	end(&f);
}

static void test_pushes_do_not_pile_up(void **state)
{
	static const char one[] = ">2\r\n$10\r\ninvalidate\r\n$3\r\nkey\r\n";
	char many[400 * (sizeof(one) - 1)];
	fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < 400; i++)
		memcpy(many + i * (sizeof(one) - 1), one, sizeof(one) - 1);
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	for (i = 0; i < 1000; i++) {
		receive(&f, many, sizeof(many));
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	}
	assert_true(f.count.peak_bytes < 200000);
	receive(&f, LIT("*1\r\n$1\r\na\r\n"));
	check_answered(&f, 0, "a");
	end(&f);
}

static void test_without_memory_a_chunk_is_not_there(void **state)
{
	rbi_parcel parcel = { .cut = { .count = 1, .request_bytes = 100000 } };
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	parcel.cut.batch = &f.batch;
	parcel.entries = f.res->entries;
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	assert_status(rbi_lane_push(&f.lane, &parcel, 100), RB_ERR_NOMEM);
	assert_int_equal(f.lane.count, 1);
	assert_int_equal(f.lane.reply_guess, 100);
	assert_int_equal(f.lane.queued, f.lane.out.pending);
	end(&f);
}

static void test_without_memory_there_is_no_room(void **state)
{
	char *buf = NULL;
	size_t len = 0;
	fixture f;

	(void)state;
	begin(&f);
	f.count.fail_at = f.count.asked + 1;
	f.count.fail_on = 1;
	assert_status(rbi_lane_room(&f.lane, &buf, &len), RB_ERR_NOMEM);
	end(&f);
}

static void test_a_new_call_begins_from_nothing(void **state)
{
	rb_result *first;
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	push(&f, 1);
	rbi_lane_sent(&f.lane, 5, 1);
	receive(&f, LIT("*1\r\n$5\r\nab"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	first = f.res;
	f.res = rbi_result_new(&f.count.allocator, KEYS, KEYS, "node");
	assert_non_null(f.res);
	f.next = 0;
	rbi_lane_begin(&f.lane, f.res, 1000);
	rb_result_free(first);
	assert_true(rbi_lane_idle(&f.lane));
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("*1\r\n$1\r\nz\r\n"));
	check_answered(&f, 0, "z");
	end(&f);
}

/* ---------------------------------------------------- a new connection -- */

static void pop_all(fixture *f)
{
	while (f->lane.count > 0)
		rbi_lane_pop(&f->lane);
}

static void test_a_restart_drops_what_was_cut_and_keeps_what_came(void **state)
{
	fixture f;
	size_t size;

	(void)state;
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("*1\r\n$5\r\nfirst\r\n"));
	check_answered(&f, 0, "first");
	size = push(&f, 2);
	push(&f, 1);
	rbi_lane_sent(&f.lane, size + 3, 2);
	/* One value has come whole, and half of the next. */
	receive(&f, LIT("*2\r\n$3\r\none\r\n$8\r\nhal"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	pop_all(&f);
	rbi_lane_restart(&f.lane);
	assert_true(rbi_lane_idle(&f.lane));
	assert_false(rbi_lane_is_used(&f.lane));
	assert_int_equal(f.lane.out.pending, 0);
	assert_int_equal(f.lane.reply_guess, 0);

	size = push(&f, 1);
	assert_int_equal(f.lane.out.pending, size);
	send_all(&f, 3);
	assert_true(rbi_lane_is_used(&f.lane));
	/* The other half is an answer's beginning here, or nothing at all. */
	receive(&f, LIT("*1\r\n$5\r\nfresh\r\n"));
	check_answered(&f, 4, "fresh");
	assert_string_equal(f.res->entries[0].data, "first");
	assert_string_equal(f.res->entries[1].data, "one");
	end(&f);
}

static void test_a_restart_counts_the_bytes_of_all_connections(void **state)
{
	fixture f;
	size_t first;
	size_t second;

	(void)state;
	begin(&f);
	first = push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("*1\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
	pop_all(&f);
	rbi_lane_restart(&f.lane);
	assert_int_equal(f.lane.sent, first);
	second = push(&f, 1);
	assert_int_equal(rbi_lane_oldest(&f.lane)->begin, first);
	assert_int_equal(rbi_lane_oldest(&f.lane)->end, first + second);
	send_all(&f, 2);
	receive(&f, LIT("*1\r\n$1\r\nv\r\n"));
	check_answered(&f, 1, "v");
	assert_int_equal(f.lane.sent, first + second);
	assert_int_equal(f.lane.received, 4 + 11);
	end(&f);
}

static void test_a_restart_before_anything_is_fine(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	rbi_lane_restart(&f.lane);
	rbi_lane_restart(&f.lane);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("*1\r\n$1\r\nv\r\n"));
	check_answered(&f, 0, "v");
	end(&f);
}

static void test_a_restart_forgets_what_was_not_resp(void **state)
{
	fixture f;

	(void)state;
	begin(&f);
	push(&f, 1);
	send_all(&f, 1);
	receive(&f, LIT("what\r\n"));
	assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_BROKEN);
	pop_all(&f);
	rbi_lane_restart(&f.lane);
	assert_null(f.lane.problem);
	push(&f, 1);
	send_all(&f, 2);
	receive(&f, LIT("*1\r\n$1\r\nv\r\n"));
	check_answered(&f, 1, "v");
	end(&f);
}

static void test_restarts_without_end_take_no_memory(void **state)
{
	size_t live = 0;
	fixture f;
	int i;

	(void)state;
	begin(&f);
	for (i = 0; i < 1000; i++) {
		f.next = 0;
		f.res->nchunks = 0;
		push(&f, 1);
		send_all(&f, 1);
		receive(&f, LIT("*1\r\n$5000\r\n"));
		receive(&f, f.keys.bytes, (size_t)KEYS * 5);
		assert_int_equal(rbi_lane_next(&f.lane), RBI_LANE_WAITING);
		pop_all(&f);
		rbi_lane_restart(&f.lane);
		if (i == 10)
			live = f.count.live_bytes;
	}
	assert_int_equal(f.count.live_bytes, live);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lane_without_chunks_is_idle),
		cmocka_unit_test(test_a_chunk_is_sent_answered_and_popped),
		cmocka_unit_test(test_answers_belong_to_the_oldest),
		cmocka_unit_test(test_answers_survive_any_cut),
		cmocka_unit_test(test_it_knows_how_much_of_each_has_left),
		cmocka_unit_test(test_one_send_may_take_many_chunks),
		cmocka_unit_test(test_the_queue_keeps_its_order_while_it_grows),
		cmocka_unit_test(
			test_predicted_bytes_are_summed_and_taken_back),
		cmocka_unit_test(test_round_trips_count_what_had_to_be_awaited),
		cmocka_unit_test(test_an_answer_before_its_command_is_refused),
		cmocka_unit_test(
			test_an_answer_before_a_later_command_is_refused),
		cmocka_unit_test(
			test_an_error_may_come_before_its_command_has_left),
		cmocka_unit_test(
			test_an_answer_that_nobody_asked_for_is_refused),
		cmocka_unit_test(test_a_push_that_nobody_asked_for_is_fine),
		cmocka_unit_test(test_reply_bytes_do_not_count_a_push_before),
		cmocka_unit_test(test_what_is_not_resp_is_refused),
		cmocka_unit_test(test_values_stay_when_slabs_change),
		cmocka_unit_test(test_bytes_that_nobody_keeps_do_not_pile_up),
		cmocka_unit_test(test_a_new_slab_keeps_nothing_of_the_old_one),
		cmocka_unit_test(test_pushes_do_not_pile_up),
		cmocka_unit_test(test_without_memory_a_chunk_is_not_there),
		cmocka_unit_test(test_without_memory_there_is_no_room),
		cmocka_unit_test(test_a_new_call_begins_from_nothing),
		cmocka_unit_test(
			test_a_restart_drops_what_was_cut_and_keeps_what_came),
		cmocka_unit_test(
			test_a_restart_counts_the_bytes_of_all_connections),
		cmocka_unit_test(test_a_restart_before_anything_is_fine),
		cmocka_unit_test(test_a_restart_forgets_what_was_not_resp),
		cmocka_unit_test(test_restarts_without_end_take_no_memory),
	};

	return cmocka_run_group_tests_name("lane", tests, NULL, NULL);
}
