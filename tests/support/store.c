#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ arguments -- */

static bool is(const rbt_arg *arg, const char *name)
{
	return arg->len == strlen(name) &&
	       memcmp(arg->data, name, arg->len) == 0;
}

/* The number of a key; none of the test's: the last. */
static size_t number_of(const rbt_arg *key)
{
	size_t number = 0;

	if (key->len != strlen("key:00000000"))
		return RBT_STORE_KEYS - 1;
	for (size_t i = 4; i < key->len; i++)
		number = number * 10 + (size_t)(key->data[i] - '0');
	return number < RBT_STORE_KEYS ? number : RBT_STORE_KEYS - 1;
}

/* ------------------------------------------------------------- answers -- */

static size_t budget(const rbt_store *s)
{
	return s->connection < s->nbudgets ? s->budgets[s->connection] :
					     SIZE_MAX;
}

static void begin_connection(rbt_store *s)
{
	s->connection++;
	s->sent = 0;
	s->known = s->chosen = s->muted = false;
}

static void add_value(rbt_store *s, size_t i, rbt_reply *reply)
{
	char *value;

	s->asked[i]++;
	s->again += s->arrived[i];
	if (i >= s->nkeys || (s->closed && !s->chosen)) {
		rbt_reply_nil(reply);
		return;
	}
	value = malloc(s->value_len + 1);
	if (!value)
		abort();
	rbt_value_fill(value, s->value_len, i);
	rbt_reply_bulk(reply, value, s->value_len);
	free(value);
	s->arrived[i] = s->sent + reply->len <= budget(s);
}

static void read_values(rbt_store *s, size_t argc, const rbt_arg *argv,
			rbt_reply *reply)
{
	if (is(&argv[0], "MGET"))
		rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++)
		add_value(s, number_of(&argv[i]), reply);
}

static void apply(rbt_store *s, size_t argc, const rbt_arg *argv,
		  rbt_reply *reply)
{
	size_t step = is(&argv[0], "MSET") ? 2 : argc;
	char line[32];

	for (size_t i = 1; i < argc; i += step)
		s->applied[number_of(&argv[i])]++;
	if (!is(&argv[0], "INCR")) {
		rbt_reply_text(reply, "+OK\r\n");
		return;
	}
	snprintf(line, sizeof(line), ":%u\r\n",
		 s->applied[number_of(&argv[1])]);
	rbt_reply_text(reply, line);
}

static void give_size(const rbt_store *s, rbt_reply *reply)
{
	char line[32];

	snprintf(line, sizeof(line), ":%zu\r\n", s->value_len);
	rbt_reply_text(reply, line);
}

static void serve(rbt_store *s, size_t argc, const rbt_arg *argv,
		  rbt_reply *reply)
{
	s->commands++;
	if (s->hook)
		s->hook(s->hook_arg, s->commands);
	s->muted |= s->commands == s->mute_at;
	if (s->muted)
		return;
	if (s->closed && !s->known)
		rbt_reply_text(reply, "-NOAUTH Authentication required.\r\n");
	else if (s->commands > s->refuse_from &&
		 s->commands - s->refuse_from <= s->refusals)
		rbt_reply_text(reply, s->refusal);
	else if (is(&argv[0], "MGET") || is(&argv[0], "GET"))
		read_values(s, argc, argv, reply);
	else if (is(&argv[0], "STRLEN"))
		give_size(s, reply);
	else if (is(&argv[0], "PING"))
		rbt_reply_text(reply, "+PONG\r\n");
	else
		apply(s, argc, argv, reply);
}

/* ----------------------------------------------------------- handshake -- */

static void log_in(rbt_store *s, const rbt_arg *password, rbt_reply *reply)
{
	/* The client ended the one before. */
	if (s->sent > 0)
		begin_connection(s);
	s->logins++;
	if (s->logins == s->mute_login) {
		if (s->hook)
			s->hook(s->hook_arg, 0);
		return;
	}
	s->known = is(password, "pw") &&
		   (s->changed_at == 0 || s->logins < s->changed_at);
	rbt_reply_text(reply, s->known ? "+OK\r\n" :
					 "-WRONGPASS invalid password\r\n");
}

static void choose(rbt_store *s, const rbt_arg *db, rbt_reply *reply)
{
	s->selects++;
	s->chosen = s->known && is(db, "3");
	rbt_reply_text(reply, "+OK\r\n");
}

void rbt_store_answer(void *arg, size_t argc, const rbt_arg *argv,
		      rbt_reply *reply)
{
	rbt_store *s = arg;

	if (is(&argv[0], "AUTH"))
		log_in(s, &argv[argc - 1], reply);
	else if (is(&argv[0], "SELECT"))
		choose(s, &argv[argc - 1], reply);
	else
		serve(s, argc, argv, reply);
	if (reply->len < budget(s) - s->sent) {
		s->sent += reply->len;
		return;
	}
	reply->len = budget(s) - s->sent;
	reply->then = s->ending != RBT_THEN_GO_ON ? s->ending : RBT_THEN_CLOSE;
	begin_connection(s);
}

/* ------------------------------------------------------------ the scene -- */

static rbt_peer_options peer_of(rbt_store *store)
{
	rbt_peer_options p = { .family = RBT_TCP,
			       .handler = rbt_store_answer,
			       .handler_arg = store };

	return p;
}

void rbt_store_open(rbt_store *store, rbt_scene *s, const rb_options *defaults)
{
	rbt_peer_options p = peer_of(store);

	rbt_scene_open(s, &p, store->closed ? ":pw@" : "",
		       store->closed ? "/3" : "", defaults);
}

void rbt_store_wrap(rbt_store *store, rbt_scene *s)
{
	rbt_peer_options p = peer_of(store);

	rbt_scene_start(s, &p);
}

size_t rbt_store_reply_size(const rbt_store *store, size_t n)
{
	return (size_t)snprintf(NULL, 0, "*%zu\r\n", n) +
	       n * ((size_t)snprintf(NULL, 0, "$%zu\r\n", store->value_len) +
		    store->value_len + 2);
}
