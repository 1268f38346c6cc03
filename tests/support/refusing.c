#include "refusing.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static size_t whole_size(size_t argc, const rbt_arg *argv)
{
	size_t size = 0;

	for (size_t i = 0; i < argc; i++)
		size += argv[i].len;
	return size;
}

static size_t longest(size_t argc, const rbt_arg *argv)
{
	size_t len = 0;

	for (size_t i = 0; i < argc; i++)
		len = argv[i].len > len ? argv[i].len : len;
	return len;
}

static bool has_prefix(const char *prefix, size_t argc, const rbt_arg *argv)
{
	size_t len = strlen(prefix);

	for (size_t i = 1; i < argc; i++) {
		if (argv[i].len >= len && !memcmp(argv[i].data, prefix, len))
			return true;
	}
	return false;
}

static bool is_refused(const rbt_refusing *r, size_t argc, const rbt_arg *argv)
{
	if (r->first > 0 && atomic_load(&r->refused) < r->first)
		return true;
	if (r->prefix && has_prefix(r->prefix, argc, argv))
		return true;
	return (r->most_args > 0 && argc > r->most_args) ||
	       (r->most_bytes > 0 && whole_size(argc, argv) > r->most_bytes) ||
	       (r->most_len > 0 && longest(argc, argv) > r->most_len);
}

static bool is_named(const rbt_arg *name, const char *word)
{
	return name->len == strlen(word) &&
	       !memcmp(name->data, word, name->len);
}

static void say_long(size_t len, rbt_reply *reply)
{
	char line[32];

	snprintf(line, sizeof(line), "$%zu\r\n", len);
	rbt_reply_text(reply, line);
	for (size_t i = 0; i < len; i++)
		rbt_reply_bytes(reply, "v", 1);
	rbt_reply_text(reply, "\r\n");
}

static size_t read_all(const rbt_refusing *r, size_t argc, const rbt_arg *argv,
		       size_t from, rbt_reply *reply)
{
	rbt_reply_array(reply, argc - from);
	for (size_t i = from; i < argc; i++) {
		if (r->value_len > 0)
			say_long(r->value_len, reply);
		else
			rbt_reply_bulk(reply, argv[i].data, argv[i].len);
	}
	return argc - from;
}

static size_t say_length(const rbt_arg *arg, rbt_reply *reply)
{
	char line[32];

	snprintf(line, sizeof(line), ":%zu\r\n", arg->len);
	rbt_reply_text(reply, line);
	return 0;
}

/* How many entries that was. */
static size_t serve(const rbt_refusing *r, size_t argc, const rbt_arg *argv,
		    rbt_reply *reply)
{
	if (is_named(&argv[0], "MGET"))
		return read_all(r, argc, argv, 1, reply);
	if (is_named(&argv[0], "HMGET"))
		return read_all(r, argc, argv, 2, reply);
	if (is_named(&argv[0], "STRLEN"))
		return say_length(&argv[1], reply);
	if (is_named(&argv[0], "HSTRLEN"))
		return say_length(&argv[2], reply);
	if (is_named(&argv[0], "HSET")) {
		rbt_reply_text(reply, ":1\r\n");
		return (argc - 2) / 2;
	}
	if (is_named(&argv[0], "PING")) {
		rbt_reply_text(reply, "+PONG\r\n");
		return 0;
	}
	rbt_reply_text(reply, "+OK\r\n");
	return is_named(&argv[0], "MSET") ? (argc - 1) / 2 : 1;
}

static void answer(void *arg, size_t argc, const rbt_arg *argv,
		   rbt_reply *reply)
{
	rbt_refusing *r = arg;
	size_t before = reply->len;
	size_t n;

	if (!is_named(&argv[0], "PING") && is_refused(r, argc, argv)) {
		atomic_fetch_add(&r->refused, 1);
		rbt_reply_text(reply, r->words);
		reply->then = r->then;
		return;
	}
	n = serve(r, argc, argv, reply);
	if (r->most_reply > 0 && reply->len - before > r->most_reply) {
		atomic_fetch_add(&r->refused, 1);
		reply->len = before;
		reply->then = RBT_THEN_CLOSE;
		return;
	}
	atomic_fetch_add(&r->served, 1);
	atomic_fetch_add(&r->entries, n);
}

rbt_peer_options rbt_refusing_peer(rbt_refusing *refusing, rbt_family family)
{
	rbt_peer_options o = { .family = family,
			       .handler = answer,
			       .handler_arg = refusing };

	return o;
}
