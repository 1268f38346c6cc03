/*
 * Slot maps out of replies, which are made from the bytes that a server sends.
 */
#include "alloc.h"
#include "count.h"
#include "reply.h"
#include "slotmap.h"
#include "unit.h"

#include <stdio.h>

/* A reply, the bytes it was read from and the memory it lies in. */
typedef struct answer {
	char *bytes;
	rbi_slabs memory;
	const struct redisReply *reply;
} answer;

static void answer_init(answer *a, const char *bytes, size_t len)
{
	rbi_reply_builder builder;
	rbi_reader reader;
	rbi_token token;

	a->bytes = exact_copy(bytes, len);
	a->reply = NULL;
	rbi_slabs_init(&a->memory, &rbi_alloc_default);
	rbi_reply_init(&builder, &a->memory);
	rbi_reader_init(&reader, 100000);
	rbi_reader_window(&reader, a->bytes, a->bytes + len);
	while (a->reply == NULL) {
		rbi_token_kind kind = rbi_reader_next(&reader, &token);

		if (kind == RBI_TOKEN_MORE || kind == RBI_TOKEN_BROKEN)
			fail_msg("no RESP, or cut: %s", bytes);
		assert_status(rbi_reply_take(&builder, kind, &token, &a->reply),
			      RB_OK);
	}
	/* There is nothing behind it. */
	assert_ptr_equal(reader.pos, a->bytes + len);
}

static void answer_fini(answer *a)
{
	rbi_slabs_fini(&a->memory);
	free(a->bytes);
}

/* What a read said of bytes, the map being left to be looked at. */
static rb_status read_bytes(rbi_slotmap *map, const char *bytes, size_t len,
			    char *problem, size_t size)
{
	const char *text = NULL;
	rb_status status;
	answer a;

	answer_init(&a, bytes, len);
	rbi_slotmap_init(map, &rbi_alloc_default);
	status = rbi_slotmap_read(map, a.reply, "asked", &text);
	assert_int_equal(text == NULL, status == RB_OK);
	snprintf(problem, size, "%s", text != NULL ? text : "");
	answer_fini(&a);
	return status;
}

static void must_read(rbi_slotmap *map, const char *bytes)
{
	char problem[200];

	if (read_bytes(map, bytes, strlen(bytes), problem, sizeof(problem)) !=
	    RB_OK)
		fail_msg("%s: %s", bytes, problem);
}

/* ---------------------------------------------------------- as one text -- */

static size_t print_node(const rbi_slotmap *map, size_t i, char *out,
			 size_t size)
{
	const rbi_node *node = &map->nodes[i];

	assert_int_equal(strlen(node->host), node->host_len);
	return (size_t)snprintf(out, size, "%s:%u", node->host, node->port);
}

/*
 * The map as "0-5=host:port 7=host:port", and behind that the replicas:
 * "host:port<primary's host:port".
 */
static void print_map(const rbi_slotmap *map, char *out, size_t size)
{
	size_t at = 0;
	size_t i;
	size_t first;

	out[0] = '\0';
	for (first = 0; first < RBI_SLOTS; first = i) {
		for (i = first + 1; i < RBI_SLOTS; i++) {
			if (map->owner[i] != map->owner[first])
				break;
		}
		if (map->owner[first] == RBI_NO_NODE)
			continue;
		at += (size_t)snprintf(out + at, size - at, " %zu-%zu=", first,
				       i - 1);
		at += print_node(map, map->owner[first], out + at, size - at);
	}
	for (i = 0; i < map->nnodes; i++) {
		if (!map->nodes[i].replica)
			continue;
		at += (size_t)snprintf(out + at, size - at, " ");
		at += print_node(map, i, out + at, size - at);
		at += (size_t)snprintf(out + at, size - at, "<");
		at += print_node(map, map->nodes[i].primary, out + at,
				 size - at);
	}
	assert_true(at < size);
}

static void want_map(const rbi_slotmap *map, const char *want)
{
	char got[1000];

	print_map(map, got, sizeof(got));
	assert_string_equal(got, want);
}

/* As a map is before anything was read. */
static void want_empty(const rbi_slotmap *map)
{
	size_t i;

	assert_null(map->nodes);
	assert_int_equal(map->nnodes, 0);
	for (i = 0; i < RBI_SLOTS; i++)
		assert_int_equal(map->owner[i], RBI_NO_NODE);
}

/* ----------------------------------------------------------------- bytes -- */

/* Nodes of several servers' ages, all but their CRLF. */
#define NODE(endpoint, port) "*3\r\n" endpoint ":" port "\r\n$2\r\nid\r\n"
#define A "$1\r\na\r\n"
#define B "$1\r\nb\r\n"
#define C "$1\r\nc\r\n"
#define UNKNOWN "$1\r\n?\r\n"
#define EMPTY "$0\r\n\r\n"
#define NIL "$-1\r\n"
#define NO_META "*0\r\n"
#define IP(ip_len, ip) "*2\r\n$2\r\nip\r\n$" ip_len "\r\n" ip "\r\n"
#define META(endpoint, port, meta) \
	"*4\r\n" endpoint ":" port "\r\n$2\r\nid\r\n" meta

static void test_three_primaries_with_replicas_are_read(void **state)
{
	rbi_slotmap map;

	(void)state;
	must_read(
		&map,
		"*3\r\n"
		"*4\r\n:0\r\n:5460\r\n" NODE(A, "7000") NODE(
			A, "7003") "*5\r\n:5461\r\n:10922\r\n" NODE(B, "7000")
			NODE(B, "7003")
				NODE(C, "7004") "*3\r\n:10923\r\n:16383\r\n" NODE(
					C, "7000"));
	want_map(&map, " 0-5460=a:7000 5461-10922=b:7000 10923-16383=c:7000"
		       " a:7003<a:7000 b:7003<b:7000 c:7004<b:7000");
	rbi_slotmap_fini(&map);
	want_empty(&map);
}

static void test_nodes_of_all_ages_are_read(void **state)
{
	static const char *const nodes[] = {
		"*2\r\n" A ":7\r\n",
		"*2\r\n+a\r\n:7\r\n",
		NODE(A, "7"),
		META(A, "7", NO_META),
		META(A, "7", NIL),
		META(A, "7", IP("1", "z")),
		META(A, "7", "%1\r\n$2\r\nip\r\n$1\r\nz\r\n"),
		/* And what may come to stand behind the metadata. */
		"*6\r\n" A ":7\r\n$2\r\nid\r\n*0\r\n*1\r\n:1\r\n+x\r\n",
	};
	char bytes[200];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(nodes); i++) {
		rbi_slotmap map;

		snprintf(bytes, sizeof(bytes), "*1\r\n*3\r\n:1\r\n:2\r\n%s",
			 nodes[i]);
		must_read(&map, bytes);
		want_map(&map, " 1-2=a:7");
		assert_int_equal(map.nnodes, 1);
		rbi_slotmap_fini(&map);
	}
}

static void test_an_endpoint_that_is_not_named_is_found(void **state)
{
	static const struct {
		const char *bytes; /* of the primary */
		const char *want;
	} cases[] = {
		{ NODE(NIL, "7"), " 1-2=asked:7" },
		{ NODE("_\r\n", "7"), " 1-2=asked:7" },
		{ NODE(EMPTY, "7"), " 1-2=asked:7" },
		{ NODE(UNKNOWN, "7"), " 1-2=asked:7" },
		/* Only for a name that is not known the ip is meant. */
		{ META(NIL, "7", IP("3", "::1")), " 1-2=asked:7" },
		{ META(EMPTY, "7", IP("3", "::1")), " 1-2=asked:7" },
		{ META(UNKNOWN, "7", IP("3", "::1")), " 1-2=::1:7" },
		{ META(UNKNOWN, "7", "%1\r\n+ip\r\n$2\r\nxy\r\n"),
		  " 1-2=xy:7" },
		{ META(UNKNOWN, "7",
		       "*4\r\n$8\r\nhostname\r\n$1\r\nn\r\n$2\r\nip\r\n"
		       "$2\r\nxy\r\n"),
		  " 1-2=xy:7" },
		{ META(UNKNOWN, "7", IP("0", "")), " 1-2=asked:7" },
		{ META(UNKNOWN, "7", IP("1", "?")), " 1-2=asked:7" },
		{ META(UNKNOWN, "7", NO_META), " 1-2=asked:7" },
		{ META(UNKNOWN, "7", NIL), " 1-2=asked:7" },
		{ META(UNKNOWN, "7", "*1\r\n$2\r\nip\r\n"), " 1-2=asked:7" },
		{ META(UNKNOWN, "7", "*2\r\n$2\r\nip\r\n" NIL),
		  " 1-2=asked:7" },
		{ META(UNKNOWN, "7", "*2\r\n$2\r\nip\r\n:1\r\n"),
		  " 1-2=asked:7" },
		/* Names and values take turns. */
		{ META(UNKNOWN, "7", "*3\r\n+x\r\n+ip\r\n+xy\r\n"),
		  " 1-2=asked:7" },
		{ META(UNKNOWN, "7", "*2\r\n+ipx\r\n+xy\r\n"), " 1-2=asked:7" },
		{ META("$3\r\n::1\r\n", "7", NO_META), " 1-2=::1:7" },
		{ NODE("$5\r\n[::1]\r\n", "7"), " 1-2=::1:7" },
		{ NODE("$2\r\n??\r\n", "7"), " 1-2=??:7" },
	};
	char bytes[300];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_slotmap map;

		snprintf(bytes, sizeof(bytes), "*1\r\n*3\r\n:1\r\n:2\r\n%s",
			 cases[i].bytes);
		must_read(&map, bytes);
		want_map(&map, cases[i].want);
		rbi_slotmap_fini(&map);
	}
}

static void test_an_ip_is_looked_for_among_32_names(void **state)
{
	char bytes[500];
	size_t before;

	(void)state;
	for (before = 31; before <= 32; before++) {
		rbi_slotmap map;
		size_t at;
		size_t i;

		at = (size_t)snprintf(bytes, sizeof(bytes),
				      "*1\r\n*3\r\n:1\r\n:2\r\n*4\r\n" UNKNOWN
				      ":7\r\n+id\r\n*%zu\r\n",
				      2 * before + 2);
		for (i = 0; i < before; i++)
			at += (size_t)snprintf(bytes + at, sizeof(bytes) - at,
					       "+n\r\n+v\r\n");
		snprintf(bytes + at, sizeof(bytes) - at, "+ip\r\n+xy\r\n");
		must_read(&map, bytes);
		want_map(&map, before < 32 ? " 1-2=xy:7" : " 1-2=asked:7");
		rbi_slotmap_fini(&map);
	}
}

static void test_without_a_host_that_was_asked_a_node_needs_a_name(void **state)
{
	const char *problem = NULL;
	rbi_slotmap map;
	answer a;

	(void)state;
	answer_init(&a, LIT("*2\r\n*3\r\n:1\r\n:1\r\n" NODE(
				NIL, "7") "*3\r\n:2\r\n:2\r\n" NODE(B, "7")));
	rbi_slotmap_init(&map, &rbi_alloc_default);
	assert_status(rbi_slotmap_read(&map, a.reply, NULL, &problem), RB_OK);
	want_map(&map, " 2-2=b:7");
	rbi_slotmap_fini(&map);
	answer_fini(&a);
}

static void test_a_range_of_an_unusable_primary_is_nobodys(void **state)
{
	static const char *const primaries[] = {
		NODE(A, "0"),
		NODE(A, "65536"),
		NODE(A, "-1"),
		NODE(A, "4294967303"),
		NODE("$3\r\na b\r\n", "7"),
		NODE("$3\r\na\tb\r\n", "7"),
		NODE("$1\r\n \r\n", "7"),
		NODE("$2\r\na\x7f\r\n", "7"),
		NODE("$2\r\n[]\r\n", "7"),
		META(UNKNOWN, "7", IP("3", "a b")),
	};
	char bytes[300];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(primaries); i++) {
		rbi_slotmap map;

		/* Nor is its replica of any use then. */
		snprintf(bytes, sizeof(bytes),
			 "*2\r\n*4\r\n:1\r\n:2\r\n%s%s"
			 "*3\r\n:5\r\n:6\r\n%s",
			 primaries[i], NODE(C, "7"), NODE(B, "7"));
		must_read(&map, bytes);
		want_map(&map, " 5-6=b:7");
		assert_int_equal(map.nnodes, 1);
		rbi_slotmap_fini(&map);
	}
}

static void test_a_host_with_a_nul_in_it_is_unusable(void **state)
{
	static const char bytes[] =
		"*2\r\n"
		"*3\r\n:1\r\n:2\r\n*2\r\n$3\r\na\0b\r\n:7\r\n"
		"*3\r\n:3\r\n:3\r\n" NODE(B, "7");
	char problem[100];
	rbi_slotmap map;

	(void)state;
	assert_status(read_bytes(&map, LIT(bytes), problem, sizeof(problem)),
		      RB_OK);
	want_map(&map, " 3-3=b:7");
	rbi_slotmap_fini(&map);
}

static void test_a_host_has_255_bytes_at_most(void **state)
{
	char host[300];
	char bytes[500];
	int len;

	(void)state;
	memset(host, 'h', sizeof(host));
	for (len = 255; len <= 256; len++) {
		rbi_slotmap map;

		snprintf(bytes, sizeof(bytes),
			 "*2\r\n*3\r\n:0\r\n:0\r\n%s"
			 "*3\r\n:1\r\n:1\r\n*2\r\n$%d\r\n%.*s\r\n:7\r\n",
			 NODE(A, "7"), len, len, host);
		must_read(&map, bytes);
		assert_int_equal(map.nnodes, len == 255 ? 2 : 1);
		rbi_slotmap_fini(&map);
	}
}

static void test_replicas_that_cannot_be_used_are_ignored(void **state)
{
	static const char *const replicas[] = {
		NODE(C, "0"),
		NODE("$3\r\nc d\r\n", "7"),
		"*0\r\n",
		"*1\r\n" C,
		"*2\r\n" C C,
		":1\r\n",
		NIL,
		"*-1\r\n",
		"*2\r\n:1\r\n:7\r\n",
	};
	char bytes[300];
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(replicas); i++) {
		rbi_slotmap map;

		snprintf(bytes, sizeof(bytes), "*1\r\n*5\r\n:1\r\n:2\r\n%s%s%s",
			 NODE(A, "7"), replicas[i], NODE(B, "7"));
		must_read(&map, bytes);
		want_map(&map, " 1-2=a:7 b:7<a:7");
		rbi_slotmap_fini(&map);
	}
}

static void test_a_primary_is_one_wherever_it_is_listed(void **state)
{
	static const char as_replica_first[] =
		"*2\r\n"
		"*4\r\n:1\r\n:1\r\n" NODE(A, "7")
			NODE(B, "7") "*3\r\n:2\r\n:2\r\n" NODE(B, "7");
	static const char of_two[] =
		"*2\r\n"
		"*4\r\n:1\r\n:1\r\n" NODE(A, "7")
			NODE(C, "7") "*4\r\n:2\r\n:2\r\n" NODE(B, "7")
				NODE(C, "7");
	static const char of_itself[] =
		"*1\r\n*4\r\n:1\r\n:1\r\n" NODE(A, "7") NODE(A, "7");
	rbi_slotmap map;

	(void)state;
	must_read(&map, as_replica_first);
	want_map(&map, " 1-1=a:7 2-2=b:7");
	rbi_slotmap_fini(&map);
	must_read(&map, of_two);
	want_map(&map, " 1-1=a:7 2-2=b:7 c:7<a:7");
	rbi_slotmap_fini(&map);
	must_read(&map, of_itself);
	want_map(&map, " 1-1=a:7");
	rbi_slotmap_fini(&map);
}

/* Its replicas are the same each time, and are read the first time. */
static void test_a_primary_of_several_ranges_is_one_node(void **state)
{
	rbi_slotmap map;

	(void)state;
	must_read(
		&map,
		"*4\r\n"
		"*4\r\n:7\r\n:8\r\n" NODE(A, "7")
			NODE(C, "7") "*3\r\n:1\r\n:1\r\n" NODE(
				B, "7") "*5\r\n:2\r\n:2\r\n" NODE(A, "7")
				NODE(C, "7")
					NODE(C, "8") "*3\r\n:3\r\n:3\r\n" NODE(
						A, "8"));
	want_map(&map, " 1-1=b:7 2-2=a:7 3-3=a:8 7-8=a:7 c:7<a:7");
	assert_int_equal(map.nnodes, 4);
	rbi_slotmap_fini(&map);
}

/* ------------------------------------------------------------ malformed -- */

static void test_what_is_no_map_is_refused_in_words(void **state)
{
	static const struct {
		const char *bytes;
		rb_status status;
		const char *words;
	} cases[] = {
		{ "*0\r\n", RB_ERR_SERVER, "not ready" },
		{ "-ERR This instance has cluster support disabled\r\n",
		  RB_ERR_SERVER, "cluster support disabled" },
		{ "-NOPERM no\r\n", RB_ERR_SERVER, "NOPERM no" },
		{ "!9\r\nNOPERM no\r\n", RB_ERR_SERVER, "NOPERM no" },
		{ "+OK\r\n", RB_ERR_PROTOCOL, "list" },
		{ "$2\r\nhi\r\n", RB_ERR_PROTOCOL, "list" },
		{ ":7\r\n", RB_ERR_PROTOCOL, "list" },
		{ NIL, RB_ERR_PROTOCOL, "list" },
		{ "*-1\r\n", RB_ERR_PROTOCOL, "list" },
		{ ",1.5\r\n", RB_ERR_PROTOCOL, "list" },
		/* Ranges. */
		{ "*1\r\n:1\r\n", RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*0\r\n", RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n" NIL, RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*1\r\n:1\r\n", RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*3\r\n$1\r\n1\r\n:1\r\n" NODE(A, "7"), RB_ERR_PROTOCOL,
		  "slot" },
		{ "*1\r\n*3\r\n:1\r\n$1\r\n1\r\n" NODE(A, "7"), RB_ERR_PROTOCOL,
		  "slot" },
		{ "*1\r\n*3\r\n:-1\r\n:1\r\n" NODE(A, "7"), RB_ERR_PROTOCOL,
		  "slot" },
		{ "*1\r\n*3\r\n:1\r\n:16384\r\n" NODE(A, "7"), RB_ERR_PROTOCOL,
		  "slot" },
		{ "*1\r\n*3\r\n:16384\r\n:16384\r\n" NODE(A, "7"),
		  RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*3\r\n:1\r\n:4294967297\r\n" NODE(A, "7"),
		  RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*3\r\n:9223372036854775807\r\n:1\r\n" NODE(A, "7"),
		  RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*3\r\n:2\r\n:1\r\n" NODE(A, "7"), RB_ERR_PROTOCOL,
		  "ends before" },
		{ "*2\r\n*3\r\n:1\r\n:3\r\n" NODE(
			  A, "7") "*3\r\n:3\r\n:4\r\n" NODE(B, "7"),
		  RB_ERR_PROTOCOL, "twice" },
		{ "*2\r\n*3\r\n:1\r\n:3\r\n" NODE(
			  A, "7") "*3\r\n:2\r\n:2\r\n" NODE(A, "7"),
		  RB_ERR_PROTOCOL, "twice" },
		/* Primaries. */
		{ "*1\r\n*2\r\n:1\r\n:2\r\n", RB_ERR_PROTOCOL, "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n" A, RB_ERR_PROTOCOL, "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n" NIL, RB_ERR_PROTOCOL, "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n*0\r\n", RB_ERR_PROTOCOL,
		  "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n*1\r\n" A, RB_ERR_PROTOCOL,
		  "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n" A "$1\r\n7\r\n",
		  RB_ERR_PROTOCOL, "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n:1\r\n:7\r\n", RB_ERR_PROTOCOL,
		  "endpoint" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n*0\r\n:7\r\n", RB_ERR_PROTOCOL,
		  "endpoint" },
		/* A good range before it changes nothing. */
		{ "*2\r\n*3\r\n:1\r\n:2\r\n" NODE(A, "7") "*0\r\n",
		  RB_ERR_PROTOCOL, "slot" },
		{ "*1\r\n*3\r\n:1\r\n:2\r\n" NODE(A, "0"), RB_ERR_PROTOCOL,
		  "can be used" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		char problem[200];
		rbi_slotmap map;
		rb_status status =
			read_bytes(&map, cases[i].bytes, strlen(cases[i].bytes),
				   problem, sizeof(problem));

		if (status != cases[i].status)
			fail_msg("%s: %s", cases[i].bytes,
				 rb_status_text(status));
		if (strstr(problem, cases[i].words) == NULL)
			fail_msg("%s: %s", cases[i].bytes, problem);
		want_empty(&map);
	}
}

static void test_no_reply_is_refused(void **state)
{
	const char *problem = NULL;
	rbi_slotmap map;

	(void)state;
	rbi_slotmap_init(&map, &rbi_alloc_default);
	assert_status(rbi_slotmap_read(&map, NULL, "asked", &problem),
		      RB_ERR_PROTOCOL);
	want_empty(&map);
}

/* --------------------------------------------------------------- bounds -- */

/* One slot each, on nodes with the ports from 1 on, with a replica each. */
static char *many_ranges(size_t n, size_t nports, size_t nreplicas)
{
	size_t size = 64 + n * (64 + 32 * nreplicas);
	char *bytes = malloc(size);
	size_t at;
	size_t i;
	size_t k;

	assert_non_null(bytes);
	at = (size_t)snprintf(bytes, size, "*%zu\r\n", n);
	for (i = 0; i < n; i++) {
		at += (size_t)snprintf(bytes + at, size - at,
				       "*%zu\r\n:%zu\r\n:%zu\r\n"
				       "*2\r\n+h\r\n:%zu\r\n",
				       3 + nreplicas, i % RBI_SLOTS,
				       i % RBI_SLOTS, 1 + i % nports);
		for (k = 0; k < nreplicas; k++)
			at += (size_t)snprintf(
				bytes + at, size - at, "*2\r\n+r\r\n:%zu\r\n",
				1 + (i % nports * nreplicas + k) % 65535);
	}
	assert_true(at < size);
	return bytes;
}

static void test_every_slot_may_be_a_range(void **state)
{
	char *bytes = many_ranges(RBI_SLOTS, 3, 2);
	rbi_slotmap map;
	size_t i;

	(void)state;
	must_read(&map, bytes);
	assert_int_equal(map.nnodes, 9);
	for (i = 0; i < RBI_SLOTS; i++)
		assert_int_equal(map.nodes[map.owner[i]].port, 1 + i % 3);
	rbi_slotmap_fini(&map);
	free(bytes);
}

static void test_more_ranges_than_slots_are_refused(void **state)
{
	char *bytes = many_ranges(RBI_SLOTS + 1, 3, 0);
	char problem[100];
	rbi_slotmap map;

	(void)state;
	assert_status(read_bytes(&map, bytes, strlen(bytes), problem,
				 sizeof(problem)),
		      RB_ERR_PROTOCOL);
	assert_non_null(strstr(problem, "more ranges"));
	want_empty(&map);
	free(bytes);
}

static void test_more_than_1000_primaries_are_refused(void **state)
{
	char *bytes = many_ranges(1000, 1000, 0);
	char problem[100];
	rbi_slotmap map;

	(void)state;
	must_read(&map, bytes);
	assert_int_equal(map.nnodes, 1000);
	rbi_slotmap_fini(&map);
	free(bytes);

	bytes = many_ranges(1001, 1001, 0);
	assert_status(read_bytes(&map, bytes, strlen(bytes), problem,
				 sizeof(problem)),
		      RB_ERR_UNSUPPORTED);
	assert_non_null(strstr(problem, "1000"));
	want_empty(&map);
	free(bytes);
}

static void test_replicas_for_which_there_is_no_room_are_ignored(void **state)
{
	char *bytes = many_ranges(990, 990, 2);
	rbi_slotmap map;

	(void)state;
	must_read(&map, bytes);
	assert_int_equal(map.nnodes, 1000);
	assert_int_equal(map.owner[989], 989);
	rbi_slotmap_fini(&map);
	free(bytes);
}

static void test_a_primary_has_100_replicas_at_most(void **state)
{
	char *bytes = many_ranges(2, 2, 101);
	rbi_slotmap map;

	(void)state;
	must_read(&map, bytes);
	assert_int_equal(map.nnodes, 2 + 2 * RBI_REPLICAS_MAX);
	rbi_slotmap_fini(&map);
	free(bytes);
}

/* Each allocation in turn fails, until none does. */
static void test_without_memory_nothing_is_left(void **state)
{
	char *bytes = many_ranges(30, 30, 1);
	rb_status status = RB_ERR_NOMEM;
	size_t at;
	answer a;

	(void)state;
	answer_init(&a, bytes, strlen(bytes));
	for (at = 1; status != RB_OK; at++) {
		const char *problem = NULL;
		rbi_slotmap map;
		rbt_count count;

		rbt_count_init(&count);
		count.fail_at = at;
		rbi_slotmap_init(&map, &count.allocator);
		status = rbi_slotmap_read(&map, a.reply, "asked", &problem);
		if (status == RB_OK) {
			assert_int_equal(map.nnodes, 60);
			rbi_slotmap_fini(&map);
		} else {
			assert_status(status, RB_ERR_NOMEM);
			assert_string_equal(problem, "out of memory");
			want_empty(&map);
		}
		assert_int_equal(count.live_blocks, 0);
	}
	assert_true(at > 60);
	answer_fini(&a);
	free(bytes);
}

/* -------------------------------------------------------- what was heard -- */

static void test_nodes_are_found_by_host_and_port(void **state)
{
	rbi_slotmap map;

	(void)state;
	rbi_slotmap_init(&map, &rbi_alloc_default);
	want_empty(&map);
	assert_int_equal(rbi_slotmap_node(&map, LIT("a"), 7), 0);
	assert_int_equal(rbi_slotmap_node(&map, LIT("a"), 8), 1);
	assert_int_equal(rbi_slotmap_node(&map, LIT("b"), 7), 2);
	assert_int_equal(rbi_slotmap_node(&map, LIT("aa"), 7), 3);
	assert_int_equal(rbi_slotmap_node(&map, "a:8", 1, 8), 1);
	assert_int_equal(rbi_slotmap_node(&map, LIT("bb"), 9), 4);
	assert_int_equal(rbi_slotmap_node(&map, LIT("b"), 9), 5);
	assert_int_equal(rbi_slotmap_node(&map, LIT("b"), 7), 2);
	assert_int_equal(map.nnodes, 6);
	assert_string_equal(map.nodes[1].host, "a");
	assert_int_equal(map.nodes[1].port, 8);
	assert_int_equal(map.nodes[1].primary, RBI_NO_NODE);
	assert_false(map.nodes[1].replica);
	rbi_slotmap_fini(&map);
	want_empty(&map);
}

static void test_a_node_of_which_was_heard_gets_the_slot(void **state)
{
	rbi_slotmap map;
	size_t node;

	(void)state;
	must_read(&map, "*1\r\n*4\r\n:1\r\n:3\r\n" NODE(A, "7") NODE(B, "7"));
	node = rbi_slotmap_node(&map, LIT("c"), 7);
	rbi_slotmap_set(&map, 2, node);
	rbi_slotmap_set(&map, 16383, node);
	want_map(&map, " 1-1=a:7 2-2=c:7 3-3=a:7 16383-16383=c:7 b:7<a:7");
	assert_int_equal(map.nodes[node].primary, node);
	/* A replica took over. */
	rbi_slotmap_set(&map, 3, rbi_slotmap_node(&map, LIT("b"), 7));
	want_map(&map, " 1-1=a:7 2-2=c:7 3-3=b:7 16383-16383=c:7");
	rbi_slotmap_fini(&map);
}

static void test_numbers_that_are_none_of_the_map_change_nothing(void **state)
{
	rbi_slotmap map;

	(void)state;
	must_read(&map, "*1\r\n*3\r\n:1\r\n:3\r\n" NODE(A, "7"));
	rbi_slotmap_set(&map, RBI_SLOTS, 0);
	rbi_slotmap_set(&map, UINT16_MAX, 0);
	rbi_slotmap_set(&map, 9, 1);
	rbi_slotmap_set(&map, 9, RBI_NO_NODE);
	want_map(&map, " 1-3=a:7");
	rbi_slotmap_fini(&map);
}

static void test_a_node_needs_memory_and_room(void **state)
{
	rbi_slotmap map;
	rbt_count count;
	size_t at;
	size_t i;

	(void)state;
	for (at = 1; at <= 2; at++) {
		rbt_count_init(&count);
		count.fail_at = at;
		rbi_slotmap_init(&map, &count.allocator);
		assert_int_equal(rbi_slotmap_node(&map, LIT("a"), 7),
				 RBI_NO_NODE);
		assert_int_equal(map.nnodes, 0);
		assert_int_equal(rbi_slotmap_node(&map, LIT("a"), 7), 0);
		rbi_slotmap_fini(&map);
		assert_int_equal(count.live_blocks, 0);
	}
	rbi_slotmap_init(&map, &rbi_alloc_default);
	for (i = 0; i < RBI_NODES_MAX; i++)
		assert_int_equal(
			rbi_slotmap_node(&map, LIT("a"), (unsigned)(1 + i)), i);
	assert_int_equal(rbi_slotmap_node(&map, LIT("a"), 1001), RBI_NO_NODE);
	assert_int_equal(rbi_slotmap_node(&map, LIT("a"), 1000), 999);
	rbi_slotmap_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_primaries_with_replicas_are_read),
		cmocka_unit_test(test_nodes_of_all_ages_are_read),
		cmocka_unit_test(test_an_endpoint_that_is_not_named_is_found),
		cmocka_unit_test(test_an_ip_is_looked_for_among_32_names),
		cmocka_unit_test(
			test_without_a_host_that_was_asked_a_node_needs_a_name),
		cmocka_unit_test(
			test_a_range_of_an_unusable_primary_is_nobodys),
		cmocka_unit_test(test_a_host_with_a_nul_in_it_is_unusable),
		cmocka_unit_test(test_a_host_has_255_bytes_at_most),
		cmocka_unit_test(test_replicas_that_cannot_be_used_are_ignored),
		cmocka_unit_test(test_a_primary_is_one_wherever_it_is_listed),
		cmocka_unit_test(test_a_primary_of_several_ranges_is_one_node),
		cmocka_unit_test(test_what_is_no_map_is_refused_in_words),
		cmocka_unit_test(test_no_reply_is_refused),
		cmocka_unit_test(test_every_slot_may_be_a_range),
		cmocka_unit_test(test_more_ranges_than_slots_are_refused),
		cmocka_unit_test(test_more_than_1000_primaries_are_refused),
		cmocka_unit_test(
			test_replicas_for_which_there_is_no_room_are_ignored),
		cmocka_unit_test(test_a_primary_has_100_replicas_at_most),
		cmocka_unit_test(test_without_memory_nothing_is_left),
		cmocka_unit_test(test_nodes_are_found_by_host_and_port),
		cmocka_unit_test(test_a_node_of_which_was_heard_gets_the_slot),
		cmocka_unit_test(
			test_numbers_that_are_none_of_the_map_change_nothing),
		cmocka_unit_test(test_a_node_needs_memory_and_room),
	};

	return cmocka_run_group_tests_name("slotmap", tests, NULL, NULL);
}
