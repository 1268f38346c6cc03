/*
 * A whole call over a played connection (play.h): byte 0 chooses the verb,
 * bytes 1 and 2 the number of entries and the bounds, byte 3 an allocation that
 * fails, and what follows is how bytes go and what the peer says.
 *
 * Whatever it says: each entry has one outcome that fits its status, memory is
 * bounded by what came, all of it is given back, and the context is either
 * marked broken, or the peer has answered each command once and nothing else
 * was read. What an MGET gives is what the peer said. Then the client is used once more.
 */
#include "count.h"
#include "play.h"
#include "verbs.h"

/* A value that is announced and no longer than this gets its memory. */
#define VALUE_MAX 20000

/* What a call takes of its own, a map of slots and a fleet among it, and for
 * each byte that came. */
#define MEMORY_OWN ((size_t)384 * 1024)
#define MEMORY_BYTE ((size_t)64)

static size_t use_bytes(const char *data, size_t len)
{
	size_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += (unsigned char)data[i];
	must(data == NULL || data[len] == '\0');
	return sum;
}

static size_t use_reply(const struct redisReply *reply)
{
	size_t sum = 0;
	size_t i;

	must(reply != NULL);
	if (reply->str != NULL)
		sum += use_bytes(reply->str, (size_t)reply->len);
	for (i = 0; i < reply->elements; i++)
		sum += use_reply(reply->element[i]);
	return sum;
}

static void check_entry(const rb_result *res, size_t i)
{
	const struct redisReply *reply = rb_result_reply(res, i);
	rb_slice value = rb_result_value(res, i);
	rb_status status = rb_result_status(res, i);
	rb_outcome outcome = rb_result_outcome(res, i);
	const char *message = rb_result_message(res, i);

	must(strcmp(rb_status_text(status), "unknown status") != 0);
	must(outcome >= RB_NOT_SENT && outcome <= RB_UNKNOWN);
	must(status != RB_OK || outcome == RB_ANSWERED ||
	     outcome == RB_REJECTED);
	must(message != NULL && (status != RB_OK || message[0] == 0));
	must(value.data == NULL || status == RB_OK);
	if (value.data != NULL)
		(void)use_bytes(value.data, value.len);
	if (reply != NULL)
		(void)use_reply(reply);
	/* Nothing of it was applied; a server that gives up may say why. */
	if (play_now.sent == 0)
		must(outcome == RB_NOT_SENT || outcome == RB_REJECTED);
	if (play_now.nheard == 0)
		must(outcome == RB_NOT_SENT || outcome == RB_REJECTED ||
		     (outcome == RB_UNKNOWN && play_now.sent > 0));
}

static void check_chunk(const rb_chunk *chunk)
{
	bool lists = chunk->entries != NULL;

	must(chunk->count > 0 && chunk->node != NULL);
	must(chunk->message != NULL);
	/* Only a server that gives up answers what has not left; what was cut
	 * anew may find that its connection is lost. */
	if (chunk->attempts == 0)
		must(chunk->status == RB_ERR_SKIPPED ||
		     chunk->status == RB_ERR_SERVER ||
		     (lists && chunk->status == RB_ERR_CONNECT));
	/* And it may have been refused for now before. */
	if (chunk->status == RB_ERR_SKIPPED || chunk->status == RB_ERR_CONNECT)
		must((chunk->attempts == 0 && chunk->outcome == RB_NOT_SENT) ||
		     (lists && (chunk->outcome == RB_NOT_SENT ||
				chunk->outcome == RB_REJECTED ||
				chunk->outcome == RB_UNKNOWN)));
}

static bool lists_entries(const rb_result *res)
{
	size_t c;

	for (c = 0; c < rb_result_chunks(res); c++) {
		if (rb_result_chunk(res, c)->entries != NULL)
			return true;
	}
	return false;
}

/* Each entry is in one chunk. They are in order, unless the server has refused
 * keys of several slots: then some chunks list their entries, or there was no
 * memory to do so. */
static void check_chunks(const rb_result *res, size_t n, rb_status status)
{
	bool seen[VERBS_ENTRIES] = { false };
	bool in_order = true;
	size_t next = 0;
	size_t c;
	size_t i;

	for (c = 0; c < rb_result_chunks(res); c++) {
		const rb_chunk *chunk = rb_result_chunk(res, c);
		const size_t *entries = chunk->entries;

		check_chunk(chunk);
		in_order = in_order && chunk->first == next;
		for (i = 0; i < chunk->count; i++) {
			size_t entry =
				entries != NULL ? entries[i] : chunk->first + i;

			must(entry < n && !seen[entry]);
			seen[entry] = true;
		}
		next += chunk->count;
	}
	must(next == n);
	must(in_order || lists_entries(res) || status == RB_ERR_NOMEM);
}

/* Each entry has one outcome. */
static void check_result(const rb_result *res, size_t n, rb_status status)
{
	size_t failed = 0;
	size_t i;

	must(rb_result_count(res) == n);
	check_chunks(res, n, status);
	for (i = 0; i < n; i++) {
		check_entry(res, i);
		failed += rb_result_status(res, i) != RB_OK;
	}
	must(rb_result_failed(res) == failed);
	must(status != RB_OK || failed == 0);
	must(status != RB_ERR_PARTIAL || failed > 0);
}

/* Each value of an MGET is what came for its key. */
static void check_values(const rb_result *res)
{
	char *bytes = exact_copy(play_now.heard, play_now.nheard);
	rbi_token_kind kind;
	rbi_token token;
	rbi_reader r;
	size_t i = 0;

	rbi_reader_init(&r, SIZE_MAX / 4);
	rbi_reader_window(&r, bytes, bytes + play_now.nheard);
	for (;;) {
		rb_slice value;

		kind = rbi_reader_next(&r, &token);
		if (kind <= RBI_TOKEN_BROKEN)
			break;
		if (token.depth != 1)
			continue;
		value = rb_result_value(res, i++);
		must(value.data == NULL || token.data != NULL);
		must(value.data != NULL || token.data == NULL);
		must(value.len == token.len);
		if (value.data != NULL)
			must(memcmp(value.data, token.data, token.len) == 0);
	}
	must(i == rb_result_count(res));
	free(bytes);
}

static void check_call(rb_client *client, rb_status status, rb_result *res,
		       size_t n)
{
	must((status == RB_OK) == (rb_client_error(client)[0] == '\0'));
	if (res != NULL)
		check_result(res, n, status);
	must(play_now.ctx->err != 0 || play_in_step(&play_now));
	rb_result_free(res);
}

static void set_options(rb_options *o, input *in)
{
	static const size_t bounds[] = { VALUE_MAX, 1, 5, 100 };
	unsigned how = take_byte(in);

	rb_options_init(o);
	o->chunk_keys = 1 + how / 32;
	how = take_byte(in);
	o->window = how % 4;
	o->max_value_bytes = bounds[how / 4 % 4];
	o->max_result_bytes = bounds[how / 16 % 4];
	o->flags = (how & 64) != 0 ? RB_STOP_ON_ERROR : 0;
	o->on_chunk_arg = &play_now;
	o->on_chunk = (how & 128) != 0 ? verbs_cancel : verbs_go_on;
	/* Silence has to end; sending byte by byte takes less. */
	o->timeout_ms = 10000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input in = { data, size };
	unsigned which = take_byte(&in);
	size_t n = 1 + (size > 1 ? (size_t)data[1] : 0) % VERBS_ENTRIES;
	rb_client *client;
	rb_options o;
	rbt_count count;
	rb_result *res;
	rb_status status;

	if (size > PLAY_INPUT)
		return 0;
	set_options(&o, &in);
	rbt_count_init(&count);
	count.fail_at = take_byte(&in);
	o.allocator = &count.allocator;
	play_init(&play_now, &in);
	status = rb_client_wrap(&client, play_now.ctx, &o);
	must(status == RB_OK || (status == RB_ERR_NOMEM && client == NULL));
	if (client != NULL) {
		play_attach(&play_now, client);
		status = verbs_call(client, which, n, &o, &res);
		must(res != NULL || verbs_is_stream(which) ||
		     (status != RB_OK && status != RB_ERR_PARTIAL));
		if (which % VERBS == 0 && status == RB_OK &&
		    !lists_entries(res))
			check_values(res);
		check_call(client, status, res, n);
		status = verbs_call(client, 0, 2, &o, &res);
		if (status != RB_ERR_BUSY)
			check_call(client, status, res, 2);
	}
	rb_client_free(client);
	must(count.live_blocks == 0);
	must(count.peak_bytes <= MEMORY_OWN + MEMORY_BYTE * size);
	return 0;
}
