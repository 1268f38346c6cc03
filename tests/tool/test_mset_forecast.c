/*
 * mset --dry-run: its numbers are those of the library, and it connects to
 * nothing.
 */
#include "block.h"
#include "forecast.h"
#include "tooling.h"

#include <inttypes.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BYTES(text) text, sizeof(text) - 1

/* Pairs of many sizes, in the arrays that the library takes. */
enum { NPAIRS = 5000, LONGEST = 3000 };

typedef struct load_of_pairs {
	const char *keys[NPAIRS];
	size_t keylens[NPAIRS];
	const char *values[NPAIRS];
	size_t valuelens[NPAIRS];
	char bytes[LONGEST + NPAIRS];
} load_of_pairs;

static void make_pairs(load_of_pairs *p)
{
	memset(p->bytes, 'x', sizeof(p->bytes));
	for (size_t i = 0; i < NPAIRS; i++) {
		p->keys[i] = p->bytes + i;
		p->keylens[i] = 1 + i % 130;
		p->values[i] = p->bytes;
		p->valuelens[i] = i * 7919 % (i % 13 == 0 ? LONGEST : 120);
	}
}

/* What the library says that it has sent. */
static void want_forecast(rbt_live *live, const load_of_pairs *p,
			  const rb_options *o, size_t which)
{
	forecast f = forecast_begin(o);
	rb_stats stats = { .struct_size = sizeof(stats) };
	size_t largest = 0;

	rbt_live_drop(live);
	want_status(live->rb,
		    rb_mset_chunked(live->rb, (const char **)p->keys,
				    p->keylens, (const char **)p->values,
				    p->valuelens, NPAIRS, o, &live->res),
		    RB_OK);
	for (size_t i = 0; i < NPAIRS; i++)
		forecast_add(&f, p->keylens[i], p->valuelens[i]);
	forecast_end(&f);
	for (size_t i = 0; i < rb_result_chunks(live->res); i++) {
		size_t bytes = rb_result_chunk(live->res, i)->request_bytes;

		largest = bytes > largest ? bytes : largest;
	}
	assert_int_equal(rb_result_stats(live->res, &stats), RB_OK);
	if (f.chunks != rb_result_chunks(live->res) ||
	    f.bytes != stats.request_bytes || f.commands != stats.commands ||
	    f.largest_chunk != largest)
		fail_msg("%zu: %" PRIu64 " chunks, %" PRIu64 " bytes, %" PRIu64
			 " commands, largest %zu; but %zu, %" PRIu64
			 ", %" PRIu64 ", %zu",
			 which, f.chunks, f.bytes, f.commands, f.largest_chunk,
			 rb_result_chunks(live->res), stats.request_bytes,
			 stats.commands, largest);
}

static void test_the_forecast_is_what_the_library_sends(void **state)
{
	static const struct {
		size_t keys;
		size_t args;
		size_t bytes;
		uint64_t expire_ms;
		uint32_t flags;
	} cases[] = {
		{ 0, 0, 0, 0, 0 },
		{ 1, 0, 0, 0, 0 },
		{ 7, 0, 0, 0, RB_TRANSACTION },
		{ 0, 101, 0, 0, 0 },
		{ 0, 2, 0, 0, 0 },
		{ 0, 101, 0, 0, RB_IF_PRESENT },
		{ 0, 0, 1, 0, 0 },
		{ 0, 0, 1000, 0, 0 },
		{ 0, 0, 1001, 0, RB_TRANSACTION },
		{ 0, 0, 4099, 0, RB_IF_PRESENT },
		{ 0, 0, 4099, 12345, 0 },
		{ 500, 0, 9999, 999999, RB_IF_PRESENT | RB_TRANSACTION },
		{ 5000, 0, 1 << 20, 0, 0 },
	};
	rbt_live *live = rbt_live_use(state);
	load_of_pairs *p = malloc(sizeof(*p));

	assert_non_null(p);
	make_pairs(p);
	for (size_t i = 0; i < COUNT(cases); i++) {
		rb_options o = rbt_options(cases[i].keys, 0);

		/* Whether the server knows MSETEX is asked only once. */
		rbt_live_open_uri(live, &o, "unix://%s",
				  rbt_server_socket(live->server));
		o.chunk_args = cases[i].args;
		o.chunk_request_bytes = cases[i].bytes;
		o.expire_ms = cases[i].expire_ms;
		o.flags = cases[i].flags;
		want_forecast(live, p, &o, i);
	}
	free(p);
}

static void test_a_dry_run_tells_exact_numbers_and_connects_not(void **state)
{
	static const char in[] = "a\t1\nbb\t12345\nbad\nnone\t\\N\nc\t\n";
	const char *const argv[] = { rbt_tool(), "mset",     "--dry-run",
				     "-s",	 "/nowhere", "--chunk-keys",
				     "2",	 NULL };
	rbt_spawned s;

	(void)state;
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = BYTES(in) }, &s);
	assert_int_equal(s.status, 1);
	assert_string_equal(s.out, "records         5\n"
				   "bad             1\n"
				   "without a value 1\n"
				   "pairs to send   3\n"
				   "chunks          2\n"
				   "commands        2\n"
				   "bytes to send   74\n"
				   "largest chunk   47\n"
				   "largest record  7 (standard input:2)\n");
	want_words(s.err, "standard input:3: ");
	rbt_spawned_free(&s);
}

static void test_a_dry_run_ends_chunks_where_blocks_end(void **state)
{
	enum { N = 2 * BLOCK_RECORDS + 10 };
	rbt_live *live = rbt_live_use(state);
	size_t len;
	char *in = rbt_make_tsv("k", N, &len);
	char line[64];
	rbt_spawned s;

	rbt_tool_want(live, &s, in, len, ARGS("mset", "--chunk-keys", "333"),
		      0);
	rbt_spawned_free(&s);
	rbt_tool_want(live, &s, in, len,
		      ARGS("mset", "--dry-run", "--chunk-keys", "333"), 0);
	snprintf(line, sizeof(line), "\nchunks          %" PRIu64 "\n",
		 rbt_live_calls(live, "mset"));
	want_words(s.out, line);
	rbt_spawned_free(&s);
	free(in);
}

static void test_a_dry_run_of_a_cluster_says_that_there_is_more(void **state)
{
	const char *const argv[] = { rbt_tool(),
				     "mset",
				     "--dry-run",
				     "-u",
				     "redis+cluster://127.0.0.1:1",
				     NULL };
	rbt_spawned s;

	(void)state;
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = BYTES("a\t1\n") }, &s);
	assert_int_equal(s.status, 0);
	want_words(s.err, "a command for each slot");
	rbt_spawned_free(&s);
}

static void test_a_reader_that_is_gone_ends_a_dry_run(void **state)
{
	char redirect[64];
	const char *const argv[] = { "/bin/sh",	 "-c",	 redirect,    "sh",
				     rbt_tool(), "mset", "--dry-run", NULL };
	int ends[2];
	rbt_spawned s;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	snprintf(redirect, sizeof(redirect), "exec \"$@\" >&%d", ends[1]);
	rbt_spawn_run(&(rbt_spawn){ .argv = argv, .in = BYTES("a\t1\n") }, &s);
	close(ends[1]);
	assert_int_equal(s.status, 141);
	assert_string_equal(s.err, "");
	rbt_spawned_free(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_LIVE(test_the_forecast_is_what_the_library_sends),
		RBT_LIVE(test_a_dry_run_tells_exact_numbers_and_connects_not),
		RBT_LIVE(test_a_dry_run_ends_chunks_where_blocks_end),
		RBT_LIVE(test_a_dry_run_of_a_cluster_says_that_there_is_more),
		RBT_LIVE(test_a_reader_that_is_gone_ends_a_dry_run),
	};

	return cmocka_run_group_tests(tests, rbt_live_open, rbt_live_close);
}
