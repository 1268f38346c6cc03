/*
 * Slot maps, from any bytes: byte 0 says which allocation fails, byte 1 how long
 * an error's text is, which follows; the rest is what a node says to CLUSTER
 * SLOTS.
 *
 * Whatever it is, a map has owners that are nodes, nodes that can be dialled,
 * and replicas whose primaries are none; a second reading is the same; and what
 * is refused leaves an empty map and a text. A redirect says the same when it is
 * written anew, and puts its node into the map.
 */
#include "alloc.h"
#include "count.h"
#include "fuzz.h"
#include "redirect.h"
#include "reply.h"
#include "slotmap.h"

#define INPUT_MAX ((size_t)1 << 16)

static const char asked[] = "asked";

/* The first whole reply, or NULL. */
static const struct redisReply *read_reply(rbi_slabs *memory, char *bytes,
					   size_t len)
{
	const struct redisReply *reply = NULL;
	rbi_reply_builder builder;
	rbi_reader reader;
	rbi_token token;

	rbi_reply_init(&builder, memory);
	rbi_reader_init(&reader, INPUT_MAX);
	rbi_reader_window(&reader, bytes, bytes + len);
	while (reply == NULL) {
		rbi_token_kind kind = rbi_reader_next(&reader, &token);

		if (kind == RBI_TOKEN_MORE || kind == RBI_TOKEN_BROKEN)
			return NULL;
		must(rbi_reply_take(&builder, kind, &token, &reply) == RB_OK);
	}
	return reply;
}

/* -------------------------------------------------------------- the map -- */

static void check_host(const char *host, size_t len)
{
	size_t i;

	must(len <= RBI_HOST_MAX);
	for (i = 0; i < len; i++) {
		must((unsigned char)host[i] > ' ' && host[i] != 0x7f);
		must(host[i] != '[' && host[i] != ']');
	}
}

static void check_node(const rbi_slotmap *map, size_t i)
{
	const rbi_node *node = &map->nodes[i];
	size_t k;

	must(node->host_len > 0);
	check_host(node->host, node->host_len);
	must(node->host[node->host_len] == '\0');
	must(node->port >= 1 && node->port <= 65535);
	for (k = 0; k < i; k++)
		must(map->nodes[k].port != node->port ||
		     strcmp(map->nodes[k].host, node->host) != 0);
	if (node->replica) {
		must(node->primary < map->nnodes && node->primary != i);
		must(!map->nodes[node->primary].replica);
	} else {
		must(node->primary == i);
	}
}

/* The number of slots that somebody has. */
static size_t check_map(const rbi_slotmap *map)
{
	size_t served = 0;
	size_t i;

	must(map->nnodes <= RBI_NODES_MAX);
	for (i = 0; i < map->nnodes; i++)
		check_node(map, i);
	for (i = 0; i < RBI_SLOTS; i++) {
		if (map->owner[i] == RBI_NO_NODE)
			continue;
		must(map->owner[i] < map->nnodes);
		must(!map->nodes[map->owner[i]].replica);
		served++;
	}
	return served;
}

static void same_maps(const rbi_slotmap *a, const rbi_slotmap *b)
{
	size_t i;

	must(a->nnodes == b->nnodes);
	must(memcmp(a->owner, b->owner, sizeof(a->owner)) == 0);
	for (i = 0; i < a->nnodes; i++) {
		must(strcmp(a->nodes[i].host, b->nodes[i].host) == 0);
		must(a->nodes[i].port == b->nodes[i].port);
		must(a->nodes[i].replica == b->nodes[i].replica);
		must(a->nodes[i].primary == b->nodes[i].primary);
	}
}

static rb_status read_map(rbi_slotmap *map, const struct redisReply *reply,
			  const rb_allocator *a)
{
	const char *problem = NULL;
	rb_status status;

	rbi_slotmap_init(map, a);
	status = rbi_slotmap_read(map, reply, asked, &problem);
	if (status == RB_OK) {
		must(problem == NULL);
		must(check_map(map) > 0);
	} else {
		must(problem != NULL);
		must(map->nnodes == 0 && map->nodes == NULL);
		must(check_map(map) == 0);
	}
	return status;
}

/* Once more, with an allocation that fails, if it comes to that many. */
static void read_again(const rbi_slotmap *map, const struct redisReply *reply,
		       rb_status want, size_t fail_at)
{
	static rbi_slotmap other;
	rbt_count count;
	rb_status status;

	rbt_count_init(&count);
	count.fail_at = fail_at;
	status = read_map(&other, reply, &count.allocator);
	if (status == want)
		same_maps(map, &other);
	else
		must(status == RB_ERR_NOMEM && fail_at > 0);
	rbi_slotmap_fini(&other);
	must(count.live_blocks == 0);
}

/* ----------------------------------------------------------- a redirect -- */

static void same_written_anew(const rbi_redirect *r)
{
	char text[RBI_HOST_MAX + 40];
	int len = snprintf(text, sizeof(text), "%s %u %.*s:%u",
			   r->ask ? "ASK" : "MOVED", r->slot, (int)r->host_len,
			   r->host, r->port);
	rbi_redirect again;

	must(len > 0 && (size_t)len < sizeof(text));
	must(rbi_redirect_parse(text, (size_t)len, &again));
	must(again.ask == r->ask && again.slot == r->slot);
	must(again.port == r->port && again.host_len == r->host_len);
	must(memcmp(again.host, r->host, r->host_len) == 0);
	/* The text ends with the port. */
	text[len] = ' ';
	must(!rbi_redirect_parse(text, (size_t)len + 1, &again));
}

/* The slot goes to that node. */
static void follow(rbi_slotmap *map, const rbi_redirect *r)
{
	const char *host = r->host_len > 0 ? r->host : asked;
	size_t len = r->host_len > 0 ? r->host_len : sizeof(asked) - 1;
	size_t node = rbi_slotmap_node(map, host, len, r->port);

	if (node == RBI_NO_NODE) {
		must(map->nnodes == RBI_NODES_MAX);
		return;
	}
	must(rbi_slotmap_node(map, host, len, r->port) == node);
	rbi_slotmap_set(map, r->slot, node);
	must(map->owner[r->slot] == node);
	must(!map->nodes[node].replica);
}

static bool read_redirect(const char *text, size_t len, rbi_redirect *r)
{
	if (!rbi_redirect_parse(text, len, r))
		return false;
	must(r->slot < RBI_SLOTS);
	must(r->port >= 1 && r->port <= 65535);
	must(r->host >= text && r->host + r->host_len <= text + len);
	check_host(r->host, r->host_len);
	same_written_anew(r);
	return true;
}

/* ---------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static rbi_slotmap map;
	const struct redisReply *reply;
	input in = { data, size };
	size_t fail_at = take_byte(&in);
	size_t len = take_byte(&in);
	rb_status status = RB_ERR_PROTOCOL;
	rbi_redirect redirect;
	rbi_slabs memory;
	char *bytes;
	char *text;

	if (in.size > INPUT_MAX)
		return 0;
	if (len > in.size)
		len = in.size;
	text = exact_copy(take_bytes(&in, len), len);
	bytes = exact_copy(in.data, in.size);
	rbi_slabs_init(&memory, &rbi_alloc_default);
	rbi_slotmap_init(&map, &rbi_alloc_default);

	reply = read_reply(&memory, bytes, in.size);
	if (reply != NULL) {
		status = read_map(&map, reply, &rbi_alloc_default);
		read_again(&map, reply, status, fail_at);
	}
	if (read_redirect(text, len, &redirect)) {
		follow(&map, &redirect);
		must(check_map(&map) > 0);
	}

	rbi_slotmap_fini(&map);
	rbi_slabs_fini(&memory);
	free(bytes);
	free(text);
	return 0;
}
