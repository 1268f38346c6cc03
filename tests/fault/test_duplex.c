/*
 * A peer that answers before it reads on, with little room in between: who
 * writes all before reading waits for ever.
 */
#define _DEFAULT_SOURCE

#include "sanitized.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

static void set_buffers(const rbt_scene *s, int size)
{
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(s->ctx->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
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
			       .give_up_ms = 60000 };
	rb_options o = rbt_options(chunk_keys, window);

	rbt_scene_start(s, &p);
	set_buffers(s, size);
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

/* --------------------------------------------------- 100 MB each way -- */

/*
 * Argument i is what lies i bytes behind the begin of a noise, so that each is
 * another one and all of them take no memory. The peer knows the noise too.
 */
typedef struct flow {
	char *noise;
	size_t n, len; /* of the arguments */
	const char **args;
	size_t *lens;
	size_t next, wrong; /* of the peer */
} flow;

#define EACH_WAY ((size_t)RBT_PLAIN_OR_SANITIZED(100, 10) * 1000 * 1000)

static void flow_init(flow *f, size_t len)
{
	memset(f, 0, sizeof(*f));
	f->len = len;
	f->n = EACH_WAY / len;
	f->noise = malloc(f->n + len);
	f->args = calloc(f->n, sizeof(*f->args));
	f->lens = calloc(f->n, sizeof(*f->lens));
	assert_true(f->noise && f->args && f->lens);
	rbt_value_fill(f->noise, f->n + len, 1);
	for (size_t i = 0; i < f->n; i++) {
		f->args[i] = f->noise + i;
		f->lens[i] = len;
	}
}

static void flow_fini(flow *f)
{
	free(f->noise);
	free(f->args);
	free(f->lens);
}

/* Every byte came once and in its place. */
static void flow_take(flow *f, const rbt_arg *arg)
{
	if (arg->len != f->len || f->next == f->n ||
	    memcmp(arg->data, f->args[f->next], f->len) != 0)
		f->wrong++;
	f->next++;
}

static void echo(void *arg, size_t argc, const rbt_arg *argv, rbt_reply *reply)
{
	flow_take(arg, &argv[1]);
	rbt_reply_bulk(reply, argv[1].data, argc == 2 ? argv[1].len : 0);
}

static void echo_all(void *arg, size_t argc, const rbt_arg *argv,
		     rbt_reply *reply)
{
	rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++) {
		flow_take(arg, &argv[i]);
		rbt_reply_bulk(reply, argv[i].data, argv[i].len);
	}
}

static void take_pairs(void *arg, size_t argc, const rbt_arg *argv,
		       rbt_reply *reply)
{
	for (size_t i = 2; i < argc; i += 2)
		flow_take(arg, &argv[i]);
	rbt_reply_text(reply, "+OK\r\n");
}

/* Takes numbers of 8 digits, and answers with values. */
static void give_values(void *arg, size_t argc, const rbt_arg *argv,
			rbt_reply *reply)
{
	flow *f = arg;

	rbt_reply_array(reply, argc - 1);
	for (size_t i = 1; i < argc; i++) {
		f->wrong += (size_t)strtoul(argv[i].data, NULL, 10) != f->next;
		rbt_reply_bulk(reply, f->args[f->next++ % f->n], f->len);
	}
}

static rb_status do_pipeline(rbt_scene *s, const flow *f, const rb_options *o)
{
	rb_command *commands = calloc(f->n, sizeof(*commands));
	const char **argv = calloc(2 * f->n, sizeof(*argv));
	const size_t lens[] = { 4, f->len };
	rb_status status;

	assert_true(commands && argv);
	for (size_t i = 0; i < f->n; i++) {
		argv[2 * i] = "ECHO";
		argv[2 * i + 1] = f->args[i];
		commands[i].argc = 2;
		commands[i].argv = argv + 2 * i;
		commands[i].argvlen = lens;
	}
	status = rb_pipeline_chunked(s->rb, commands, f->n, o, &s->res);
	free(commands);
	free(argv);
	return status;
}

static rb_status do_long_keys(rbt_scene *s, const flow *f, const rb_options *o)
{
	return rb_mget_chunked(s->rb, f->args, f->lens, f->n, o, &s->res);
}

static rb_status do_reads(rbt_scene *s, const flow *f, const rb_options *o)
{
	assert_true(rbt_keys_init(&s->keys, "", f->n));
	return rb_mget_chunked(s->rb, s->keys.keys, s->keys.lens, f->n, o,
			       &s->res);
}

static rb_status do_writes(rbt_scene *s, const flow *f, const rb_options *o)
{
	assert_true(rbt_keys_init(&s->keys, "", f->n));
	return rb_mset_chunked(s->rb, s->keys.keys, s->keys.lens, f->args,
			       f->lens, f->n, o, &s->res);
}

typedef struct flow_row {
	const char *what;
	rbt_handler *handler;
	rb_status (*call)(rbt_scene *s, const flow *f, const rb_options *o);
	size_t len, chunk_keys, window;
	bool answers; /* with the arguments */
} flow_row;

/* Values from 16 KiB on leave from where they lie, shorter ones are copied. */
static const flow_row flows[] = {
	{ "ECHO of 10 KB", echo, do_pipeline, 10000, 50, 8, true },
	{ "ECHO of 200 KB", echo, do_pipeline, 200000, 2, 64, true },
	{ "keys of 2000 bytes", echo_all, do_long_keys, 2000, 200, 0, true },
	{ "reads alone", give_values, do_reads, 2000, 4000, 4, true },
	{ "writes of 10 KB alone", take_pairs, do_writes, 10000, 0, 4, false },
	{ "writes of 20 KB alone", take_pairs, do_writes, 20000, 0, 0, false },
};

static void want_flow(const rbt_scene *s, const flow *f, const flow_row *row)
{
	assert_int_equal(f->wrong, 0);
	assert_int_equal(f->next, f->n);
	assert_int_equal(rb_result_failed(s->res), 0);
	for (size_t i = 0; i < f->n && row->answers; i++)
		want_bytes(s->res, i, f->args[i], f->len);
}

static void flow_through(rbt_scene *s, const flow_row *row, rbt_family family,
			 int size)
{
	flow f;
	rbt_peer_options p = { .family = family,
			       .handler = row->handler,
			       .handler_arg = &f,
			       .sndbuf = size,
			       .rcvbuf = size,
			       .give_up_ms = 60000 };
	rb_options o = rbt_options(row->chunk_keys, row->window);
	rb_status status;

	flow_init(&f, row->len);
	rbt_scene_start(s, &p);
	set_buffers(s, size);
	status = row->call(s, &f, &o);
	if (status != RB_OK)
		print_error("%s\n", row->what);
	want_status(s->rb, status, RB_OK);
	want_flow(s, &f, row);
	flow_fini(&f);
}

static void test_100_mb_each_way_pass_a_socket_pair(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(flows); i++)
		flow_through(s, &flows[i], RBT_PAIR, SMALL);
}

static void test_100_mb_each_way_pass_tcp(void **state)
{
	rbt_scene *s = rbt_scene_use(state);

	for (size_t i = 0; i < COUNT(flows); i++)
		flow_through(s, &flows[i], RBT_TCP, SMALL_TCP);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RBT_SCENE(test_no_shape_of_window_hangs_on_a_socket_pair),
		RBT_SCENE(test_no_shape_of_window_hangs_on_tcp),
		RBT_SCENE(test_100_mb_each_way_pass_a_socket_pair),
		RBT_SCENE(test_100_mb_each_way_pass_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
