/*
 * A peer that answers before it reads on, with little room in between: who
 * writes all before reading waits for ever.
 */
#define _DEFAULT_SOURCE

#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	KEY_LEN = 60,
	VALUE_LEN = 2000,
	SMALL = 4096,
	/* Below that TCP itself comes to a standstill now and then. */
	SMALL_TCP = 65536
};

/* Each value begins with its key, so that none can stand for another. */
static void answer(void *arg, size_t argc, const rbt_arg *argv,
		   rbt_reply *reply)
{
	char value[VALUE_LEN];

	(void)arg;
	memset(value, 'v', sizeof(value));
	rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++) {
		memcpy(value, argv[i].data, KEY_LEN);
		rbt_reply_bulk(reply, value, sizeof(value));
	}
}

static void want_values(const rbt_scene *s)
{
	assert_int_equal(rb_result_failed(s->res), 0);
	for (size_t i = 0; i < s->keys.n; i++) {
		rb_slice v = rb_result_value(s->res, i);

		assert_int_equal(v.len, VALUE_LEN);
		assert_memory_equal(v.data, s->keys.keys[i], KEY_LEN);
		assert_int_equal(v.data[VALUE_LEN - 1], 'v');
	}
}

static void read_through(rbt_scene *s, rbt_family family, int size,
			 size_t chunk_keys, size_t window)
{
	/* With eight digits behind it: 60 bytes. */
	static const char prefix[] =
		"a:key:of:many:bytes:so:that:requests:are:large:too::";
	rbt_peer_options p = { .family = family,
			       .handler = answer,
			       .sndbuf = size,
			       .rcvbuf = size,
			       .give_up_ms = 20000 };
	rb_options o = rbt_options(chunk_keys, window);

	rbt_scene_start(s, &p);
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	o.chunk_request_bytes = o.chunk_reply_bytes = (size_t)1 << 30;
	o.window_reply_bytes = (size_t)1 << 30;
	assert_true(rbt_keys_init(&s->keys, prefix, chunk_keys * window));
	assert_int_equal(s->keys.lens[0], KEY_LEN);
	want_status(s->rb,
		    rb_mget_chunked(s->rb, s->keys.keys, s->keys.lens,
				    s->keys.n, &o, &s->res),
		    RB_OK);
	want_values(s);
	assert_int_equal(rbt_peer_commands(s->peer), window);
}

static const struct {
	size_t chunk_keys, window;
} shapes[] = {
	{ 4000, 4 },
	{ 2000, 8 },
	{ 200, 32 },
	{ 200, 16 },
};

static void test_no_shape_of_window_hangs_on_a_socket_pair(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(shapes); i++)
		read_through(s, RBT_PAIR, SMALL, shapes[i].chunk_keys,
			     shapes[i].window);
}

static void test_no_shape_of_window_hangs_on_tcp(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(shapes); i++)
		read_through(s, RBT_TCP, SMALL_TCP, shapes[i].chunk_keys,
			     shapes[i].window);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_no_shape_of_window_hangs_on_a_socket_pair),
		RBT_SCENE(test_no_shape_of_window_hangs_on_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
