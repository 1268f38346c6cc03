#include "scene.h"

#include "tick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RECORD = 4096 };

static redisContext *connect_to(rbt_peer *peer, rbt_family family)
{
	switch (family) {
	case RBT_TCP:
		return redisConnect("127.0.0.1", rbt_peer_port(peer));
	case RBT_UNIX:
		return redisConnectUnix(rbt_peer_path(peer));
	case RBT_PAIR:
		return redisConnectFd(rbt_peer_take_fd(peer));
	}
	return NULL;
}

/* -------------------------------------------------------- up and down -- */

static void take_down(rbt_scene *s)
{
	size_t left;

	rb_result_free(s->res);
	rb_client_free(s->rb);
	if (s->ctx)
		redisFree(s->ctx);
	rbt_keys_fini(&s->keys);
	rbt_peer_stop(s->peer);
	free(s->script);
	left = s->count.live_blocks;
	memset(s, 0, sizeof(*s));
	/* Whatever a test is about: all memory is given back. */
	assert_int_equal(left, 0);
}

int rbt_scene_begin(void **state)
{
	*state = calloc(1, sizeof(rbt_scene));
	return *state ? 0 : -1;
}

int rbt_scene_end(void **state)
{
	take_down(*state);
	free(*state);
	*state = NULL;
	return 0;
}

rbt_scene *rbt_scene_use(void **state)
{
	return *state;
}

static const rbt_step *copy_script(rbt_scene *s, const rbt_step *script)
{
	size_t n = 0;

	while (script[n].kind != RBT_STEP_END)
		n++;
	s->script = malloc((n + 1) * sizeof(*script));
	assert_non_null(s->script);
	memcpy(s->script, script, (n + 1) * sizeof(*script));
	return s->script;
}

static void start_peer(rbt_scene *s, const rbt_peer_options *options)
{
	rbt_peer_options own = *options;

	take_down(s);
	rbt_count_init(&s->count);
	if (own.script)
		own.script = copy_script(s, own.script);
	if (own.script && !own.record)
		own.record = RECORD;
	s->peer = rbt_peer_start(&own);
	assert_non_null(s->peer);
}

void rbt_scene_start(rbt_scene *s, const rbt_peer_options *options)
{
	rb_options defaults = rbt_options(0, 0);

	start_peer(s, options);
	s->ctx = connect_to(s->peer, options->family);
	assert_non_null(s->ctx);
	assert_int_equal(s->ctx->err, 0);
	defaults.allocator = &s->count.allocator;
	assert_int_equal(rb_client_wrap(&s->rb, s->ctx, &defaults), RB_OK);
}

void rbt_scene_play(rbt_scene *s, rbt_family family, const rbt_step *script)
{
	rbt_peer_options options = { .family = family, .script = script };

	rbt_scene_start(s, &options);
}

void rbt_scene_open(rbt_scene *s, const rbt_peer_options *peer, const char *who,
		    const char *db, const rb_options *options)
{
	rb_options defaults = options ? *options : rbt_options(0, 0);

	start_peer(s, peer);
	defaults.allocator = &s->count.allocator;
	snprintf(s->uri, sizeof(s->uri), "redis://%s127.0.0.1:%d%s", who,
		 rbt_peer_port(s->peer), db);
	assert_int_equal(rb_client_open(&s->rb, s->uri, &defaults), RB_OK);
}

void rbt_scene_play_own(rbt_scene *s, const rbt_step *script, const char *who,
			const char *db, const rb_options *options)
{
	rbt_peer_options peer = { .family = RBT_TCP, .script = script };

	rbt_scene_open(s, &peer, who, db, options);
}

void rbt_scene_rest(rbt_scene *s)
{
	rbt_peer_stop(s->peer);
	s->peer = NULL;
}

/* -------------------------------------------------------- a test's work -- */

rb_status rbt_scene_read(rbt_scene *s, size_t n, const rb_options *o)
{
	rb_result_free(s->res);
	s->res = NULL;
	rbt_keys_fini(&s->keys);
	assert_true(rbt_keys_init(&s->keys, "key:", n));
	return rb_mget_chunked(s->rb, s->keys.keys, s->keys.lens, n, o,
			       &s->res);
}

void rbt_scene_want_over(rbt_scene *s)
{
	char problem[160] = "it is not over yet";
	bool over = rbt_peer_await_over(s->peer, 60000);

	if (over)
		return;
	rbt_peer_problem(s->peer, problem, sizeof(problem));
	fail_msg("the peer's script: %s", problem);
}

void rbt_scene_want_broken(rbt_scene *s)
{
	const char *key = "any";
	rb_result *res = NULL;

	assert_int_not_equal(s->ctx->err, 0);
	assert_int_not_equal(s->ctx->errstr[0], '\0');
	assert_null(redisCommand(s->ctx, "PING"));
	assert_int_equal(rb_mget_chunked(s->rb, &key, NULL, 1, NULL, &res),
			 RB_ERR_INVALID);
	assert_null(res);
}

void rbt_scene_want_pong(rbt_scene *s)
{
	redisReply *reply;

	assert_int_equal(s->ctx->err, 0);
	reply = redisCommand(s->ctx, "PING");
	if (!reply)
		print_error("PING: %s\n", s->ctx->errstr);
	assert_non_null(reply);
	assert_string_equal(reply->str, "PONG");
	freeReplyObject(reply);
}

unsigned rbt_scene_ms_since(uint64_t start_us)
{
	return (unsigned)((rbt_now_us() - start_us) / 1000);
}
