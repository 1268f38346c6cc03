#include "load.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD_KEYS = 1000, LOAD_BYTES = 1 << 20 };

/* ---------------------------------------------------------------- keys -- */

bool rbt_keys_init(rbt_keys *keys, const char *prefix, size_t n)
{
	size_t size = strlen(prefix) + 24;

	memset(keys, 0, sizeof(*keys));
	keys->keys = calloc(n + 1, sizeof(*keys->keys));
	keys->lens = calloc(n + 1, sizeof(*keys->lens));
	keys->bytes = malloc((n + 1) * size);
	if (!keys->keys || !keys->lens || !keys->bytes) {
		rbt_keys_fini(keys);
		return false;
	}
	keys->n = n;
	for (size_t i = 0, at = 0; i < n; i++) {
		int len =
			snprintf(keys->bytes + at, size, "%s%08zu", prefix, i);

		keys->keys[i] = keys->bytes + at;
		keys->lens[i] = (size_t)len;
		at += (size_t)len + 1;
	}
	return true;
}

void rbt_keys_fini(rbt_keys *keys)
{
	free(keys->keys);
	free(keys->lens);
	free(keys->bytes);
	memset(keys, 0, sizeof(*keys));
}

/* -------------------------------------------------------------- values -- */

/* splitmix64, which is bijective: no two values of 8 bytes or more agree. */
static uint64_t next_word(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rbt_value_fill(char *out, size_t len, size_t i)
{
	uint64_t state = (uint64_t)i << 24, word;
	size_t n;

	while (len > 0) {
		word = next_word(&state);
		n = len < sizeof(word) ? len : sizeof(word);
		memcpy(out, &word, n);
		out += n;
		len -= n;
	}
}

bool rbt_value_is(const char *data, size_t len, size_t want, size_t i)
{
	uint64_t state = (uint64_t)i << 24, word;
	size_t n;

	if (!data || len != want)
		return false;
	while (len > 0) {
		word = next_word(&state);
		n = len < sizeof(word) ? len : sizeof(word);
		if (memcmp(data, &word, n) != 0)
			return false;
		data += n;
		len -= n;
	}
	return true;
}

/* --------------------------------------------------------- the server -- */

static bool say_why(char *why, size_t size, const char *text)
{
	if (why)
		snprintf(why, size, "%s", text);
	return false;
}

static bool run(redisContext *ctx, int argc, const char **argv,
		const size_t *lens, char *why, size_t size)
{
	redisReply *reply = redisCommandArgv(ctx, argc, argv, lens);
	bool fine = reply && reply->type != REDIS_REPLY_ERROR;

	if (!fine)
		say_why(why, size, reply ? reply->str : ctx->errstr);
	if (reply)
		freeReplyObject(reply);
	return fine;
}

/* The arguments of one command, and the bytes of its values. */
typedef struct load_command {
	const char **argv;
	size_t *lens;
	char *values;
} load_command;

static bool make_command(load_command *c, size_t nargs, size_t bytes)
{
	c->argv = calloc(nargs, sizeof(*c->argv));
	c->lens = calloc(nargs, sizeof(*c->lens));
	c->values = malloc(bytes + 1);
	return c->argv && c->lens && c->values;
}

static void free_command(load_command *c)
{
	free(c->argv);
	free(c->lens);
	free(c->values);
}

static size_t keys_per_command(size_t value_len)
{
	size_t n = value_len ? LOAD_BYTES / value_len : LOAD_KEYS;

	if (n > LOAD_KEYS)
		n = LOAD_KEYS;
	return n > 0 ? n : 1;
}

bool rbt_load(redisContext *ctx, const rbt_keys *keys, size_t value_len,
	      char *why, size_t size)
{
	size_t step = keys_per_command(value_len);
	load_command c;
	bool fine = make_command(&c, 1 + 2 * step, step * value_len);

	if (!fine)
		say_why(why, size, "out of memory");
	for (size_t first = 0; fine && first < keys->n; first += step) {
		size_t n = keys->n - first < step ? keys->n - first : step;

		c.argv[0] = "MSET";
		c.lens[0] = 4;
		for (size_t i = 0; i < n; i++) {
			char *value = c.values + i * value_len;

			rbt_value_fill(value, value_len, first + i);
			c.argv[1 + 2 * i] = keys->keys[first + i];
			c.lens[1 + 2 * i] = keys->lens[first + i];
			c.argv[2 + 2 * i] = value;
			c.lens[2 + 2 * i] = value_len;
		}
		fine = run(ctx, (int)(1 + 2 * n), c.argv, c.lens, why, size);
	}
	free_command(&c);
	return fine;
}

bool rbt_unload(redisContext *ctx, const rbt_keys *keys, char *why, size_t size)
{
	load_command c;
	bool fine = make_command(&c, 1 + LOAD_KEYS, 0);

	if (!fine)
		say_why(why, size, "out of memory");
	for (size_t first = 0; fine && first < keys->n; first += LOAD_KEYS) {
		size_t n = keys->n - first;

		if (n > LOAD_KEYS)
			n = LOAD_KEYS;
		c.argv[0] = "UNLINK";
		c.lens[0] = 6;
		memcpy(c.argv + 1, keys->keys + first, n * sizeof(*c.argv));
		memcpy(c.lens + 1, keys->lens + first, n * sizeof(*c.lens));
		fine = run(ctx, (int)(1 + n), c.argv, c.lens, why, size);
	}
	free_command(&c);
	return fine;
}
