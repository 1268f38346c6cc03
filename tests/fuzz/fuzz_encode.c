/*
 * Requests: bytes 0 to 4 choose the form of the batch, the number of entries
 * and the bounds of a chunk, and the rest are the entries.
 *
 * Cut, encoded, offered in pieces and put together again, each chunk has
 * exactly the size that was predicted for it, keeps to its bounds, and reads as
 * the arguments that went in.
 */
#include "alloc.h"
#include "entries.h"
#include "expect.h"
#include "request.h"

#define PIECES 7

/* The forms that the verbs use. */
static rbi_batch make_batch(const entries *e, unsigned form)
{
	rbi_batch b = {
		.command = { "MSET", 4 },
		.keys = (const char **)(uintptr_t)e->keys,
		.keylens = e->keylens,
		.commands = e->commands,
		.n = e->n,
		.keys_name = "keys",
		.keylens_name = "keylens",
		.transaction = (form & 8) != 0,
	};

	if ((form & 7) != 0 && (form & 7) != 6) {
		b.values = (const char **)(uintptr_t)e->values;
		b.valuelens = e->valuelens;
		b.shape = RBI_SHAPE_OK;
	}
	if ((form & 7) == 1 || (form & 7) == 6)
		b.fixed = (rb_slice){ e->keys[0], e->keylens[0] };
	if ((form & 7) == 3)
		b.counted = true;
	if ((form & 7) == 3 || (form & 7) == 4) {
		b.tail[0] = (rb_slice){ "PX", 2 };
		b.tail[1] = (rb_slice){ "86400000", 8 };
		b.ntail = 2;
	}
	if ((form & 7) == 4)
		b.form = RBI_FORM_EACH;
	if ((form & 7) == 5)
		b.form = RBI_FORM_COMMANDS;
	return b;
}

/* ---------------------------------------------------------------- check -- */

static void check_bounds(const rbi_cut *cut, const rbi_bounds *bounds)
{
	const rbi_batch *b = cut->batch;
	size_t fixed = rbi_batch_fixed_args(b);
	size_t args = cut->count * rbi_batch_entry_args(b);

	must(cut->count >= 1 && cut->count <= b->n - cut->first);
	/* What cannot be divided goes alone, whatever the bounds. */
	if (cut->count == rbi_batch_unit(b, cut->first))
		return;
	must(cut->count <= bounds->keys);
	must(cut->request_bytes <= bounds->request_bytes);
	must(b->form != RBI_FORM_GATHER || fixed + args <= bounds->args);
	must(bounds->entry_reply == 0 ||
	     cut->count <= bounds->reply_bytes / bounds->entry_reply);
}

/* Takes what waits to leave, in pieces and at most step bytes at a time, but
 * in no more than some hundred steps. */
static size_t drain(rbi_outbuf *out, rbt_request *r, size_t step)
{
	struct iovec iov[PIECES];
	size_t total = 0;

	step = rbi_max(step, out->pending / 100);

	while (out->pending > 0) {
		int n = rbi_outbuf_offer(out, iov, PIECES);
		size_t took = 0;
		int i;

		must(n > 0 && n <= PIECES);
		for (i = 0; i < n && took < step; i++) {
			size_t some = rbi_min(iov[i].iov_len, step - took);
			char *room = rbt_request_space(r, some);

			must(some > 0 && room != NULL);
			memcpy(room, iov[i].iov_base, some);
			rbt_request_filled(r, some);
			took += some;
		}
		rbi_outbuf_sent(out, took);
		total += took;
	}
	return total;
}

/* Some of its bytes have left: so many entries, and no part of one. */
static void check_sent(const rbi_cut *cut, size_t sent)
{
	size_t bytes = 0;
	size_t n;

	if (cut->batch->form == RBI_FORM_GATHER || cut->batch->transaction)
		return;
	n = rbi_plan_sent(cut, sent, &bytes);
	must(n <= cut->count && bytes <= sent);
	must((n == cut->count) == (sent >= cut->request_bytes));
}

static void check_batch(const rbi_batch *b, const rbi_bounds *bounds,
			size_t step)
{
	static rbt_request r; /* keeps its memory, and no bytes */
	size_t first = 0;
	rbi_outbuf out;

	rbt_request_reset(&r);
	rbi_outbuf_init(&out, &rbi_alloc_default);
	while (first < b->n) {
		rbi_cut cut = rbi_plan_cut(b, first, bounds);

		must(cut.batch == b && cut.first == first);
		check_bounds(&cut, bounds);
		check_sent(&cut, step);
		must(rbi_request_append(&out, &cut) == RB_OK);
		must(out.pending == cut.request_bytes);
		must(drain(&out, &r, step) == cut.request_bytes);
		expect_chunk(&r, &cut);
		first += cut.count;
	}
	rbi_outbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static entries e;
	input in = { data, size };
	unsigned form = take_byte(&in);
	size_t n = 1 + take_byte(&in) % ENTRIES_MAX;
	unsigned bits = take_byte(&in);
	rbi_bounds bounds = {
		.keys = 1 + bits % 16,
		.args = 1 + bits / 16 * 3,
		.entry_reply = form >> 4,
		.reply_bytes = 60,
	};
	rbi_batch batch;
	char why[200];

	bounds.request_bytes = (size_t)16 * take_byte(&in);
	bits = take_byte(&in);
	entries_init(&e, &in, n);
	batch = make_batch(&e, form);
	/* A MULTI may lack its EXEC. */
	if (rbi_batch_check(&batch, SIZE_MAX, why, sizeof(why)) == RB_OK)
		check_batch(&batch, &bounds, 1 + 37 * (size_t)bits);
	entries_fini(&e);
	return 0;
}
