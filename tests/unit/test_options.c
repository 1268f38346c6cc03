#include "alloc.h"
#include "options.h"
#include "unit.h"

static int on_chunk(void *arg, const rb_chunk *chunk)
{
	(void)arg;
	(void)chunk;
	return 0;
}

static int other_on_chunk(void *arg, const rb_chunk *chunk)
{
	(void)arg;
	(void)chunk;
	return 1;
}

static bool is_all_zero(const void *ptr, size_t len)
{
	const unsigned char *p = ptr;

	while (len-- > 0) {
		if (*p++ != 0)
			return false;
	}
	return true;
}

/* ----------------------------------------------------------------- init -- */

static void test_init_sets_the_size_and_nothing_else(void **state)
{
	rb_options o;

	(void)state;
	memset(&o, 0xff, sizeof(o));
	rb_options_init(&o);
	assert_int_equal(o.struct_size, sizeof(o));
	o.struct_size = 0;
	assert_true(is_all_zero(&o, sizeof(o)));
}

static void test_init_stays_inside_of_a_smaller_structure(void **state)
{
	union {
		rb_options o;
		unsigned char bytes[sizeof(rb_options)];
	} u;
	size_t size = offsetof(rb_options, timeout_ms);

	(void)state;
	memset(&u, 0xff, sizeof(u));
	rb_options_init_sized(&u.o, size);
	assert_int_equal(u.o.struct_size, size);
	assert_int_equal(u.bytes[size - 1], 0);
	assert_int_equal(u.bytes[size], 0xff);
}

static void test_init_of_nothing_is_harmless(void **state)
{
	size_t struct_size = 77;

	(void)state;
	rb_options_init_sized(NULL, sizeof(rb_options));
	rb_options_init_sized((rb_options *)(void *)&struct_size, 0);
	rb_options_init_sized((rb_options *)(void *)&struct_size,
			      sizeof(struct_size) - 1);
	assert_int_equal(struct_size, 77);
}

/* ----------------------------------------------------------------- read -- */

static void test_no_options_are_all_defaults(void **state)
{
	rb_options out;

	(void)state;
	memset(&out, 0xff, sizeof(out));
	assert_null(rbi_options_read(&out, NULL));
	assert_true(is_all_zero(&out, sizeof(out)));
}

static void test_what_was_set_is_read(void **state)
{
	rb_options o;
	rb_options out;

	(void)state;
	rb_options_init(&o);
	o.chunk_keys = 1;
	o.max_result_bytes = 2;
	o.timeout_ms = 3;
	o.flags = RB_STOP_ON_ERROR;
	o.on_chunk = on_chunk;
	o.on_chunk_arg = &o;
	o.allocator = &rbi_alloc_default;
	assert_null(rbi_options_read(&out, &o));
	assert_memory_equal(&out, &o, sizeof(o));
}

static void test_an_unset_size_is_told(void **state)
{
	rb_options o;
	rb_options out;

	(void)state;
	memset(&o, 0, sizeof(o));
	assert_non_null(strstr(rbi_options_read(&out, &o), "struct_size"));
	o.struct_size = offsetof(rb_options, allocator);
	assert_non_null(strstr(rbi_options_read(&out, &o), "struct_size"));
}

/* A structure of a release to come, with one more member. */
typedef struct newer_options {
	rb_options o;
	size_t more;
} newer_options;

static void test_a_newer_structure_with_defaults_is_taken(void **state)
{
	newer_options newer;
	rb_options out;

	(void)state;
	rb_options_init_sized(&newer.o, sizeof(newer));
	newer.o.window = 3;
	assert_null(rbi_options_read(&out, &newer.o));
	assert_int_equal(out.window, 3);
}

static void test_a_newer_member_that_is_set_is_told(void **state)
{
	newer_options newer;
	rb_options out;

	(void)state;
	rb_options_init_sized(&newer.o, sizeof(newer));
	newer.more = 1;
	assert_non_null(strstr(rbi_options_read(&out, &newer.o), "members"));
	newer.more = (size_t)1 << (8 * sizeof(size_t) - 1);
	assert_non_null(rbi_options_read(&out, &newer.o));
}

static void test_an_unknown_flag_is_told(void **state)
{
	rb_options o;
	rb_options out;
	unsigned bit;

	(void)state;
	rb_options_init(&o);
	for (bit = 8; bit < 32; bit++) {
		o.flags = RB_STOP_ON_ERROR | (uint32_t)1 << bit;
		assert_non_null(strstr(rbi_options_read(&out, &o), "flags"));
	}
}

static void test_an_allocator_without_a_function_is_told(void **state)
{
	rb_allocator a = rbi_alloc_default;
	rb_options o;
	rb_options out;

	(void)state;
	rb_options_init(&o);
	o.allocator = &a;
	assert_null(rbi_options_read(&out, &o));
	a.alloc = NULL;
	assert_non_null(strstr(rbi_options_read(&out, &o), "allocator"));
	a = rbi_alloc_default;
	a.realloc = NULL;
	assert_non_null(strstr(rbi_options_read(&out, &o), "allocator"));
	a = rbi_alloc_default;
	a.free = NULL;
	assert_non_null(strstr(rbi_options_read(&out, &o), "allocator"));
}

/* ----------------------------------------------------------------- fill -- */

static void test_zeros_become_the_documented_defaults(void **state)
{
	rb_options none;
	rb_options o;

	(void)state;
	assert_null(rbi_options_read(&none, NULL));
	assert_null(rbi_options_read(&o, NULL));
	rbi_options_fill(&o, &none);
	assert_int_equal(o.chunk_keys, 1000);
	assert_int_equal(o.chunk_args, 1000000);
	assert_int_equal(o.chunk_request_bytes, 512 * 1024);
	assert_int_equal(o.chunk_reply_bytes, 4 * 1024 * 1024);
	assert_int_equal(o.window, 0);
	assert_int_equal(o.window_reply_bytes, 8 * 1024 * 1024);
	assert_int_equal(o.max_value_bytes, 512 * 1024 * 1024);
	assert_int_equal(o.max_result_bytes, SIZE_MAX);
	assert_int_equal(o.timeout_ms, 0);
	assert_int_equal(o.connect_timeout_ms, 5000);
	assert_int_equal(o.commands_per_second, 0);
	assert_int_equal(o.connections, 1);
	assert_int_equal(o.failover_ms, 10000);
	assert_null(o.allow_node);
	assert_int_equal(o.flags, RBI_OPTIONS_AUTO_KEYS);
	assert_null(o.on_chunk);
	assert_ptr_equal(o.allocator, &rbi_alloc_default);
}

/* Sets every number to n and up, all different. */
static void set_all(rb_options *o, unsigned n)
{
	o->chunk_keys = n;
	o->chunk_args = n + 1;
	o->chunk_request_bytes = n + 2;
	o->chunk_reply_bytes = n + 3;
	o->window = n + 4;
	o->window_reply_bytes = n + 5;
	o->max_value_bytes = n + 6;
	o->max_result_bytes = n + 7;
	o->timeout_ms = n + 8;
	o->connect_timeout_ms = n + 9;
	o->attempts = n + 10;
	o->commands_per_second = n + 11;
	o->connections = n / 4;
	o->failover_ms = n + 13;
}

static void test_zeros_become_the_clients_defaults_first(void **state)
{
	rb_options client;
	rb_options o;
	rb_options want;

	(void)state;
	rb_options_init(&client);
	set_all(&client, 50);
	client.allocator = &rbi_alloc_default;
	want = client;
	rb_options_init(&o);
	rbi_options_fill(&o, &client);
	assert_memory_equal(&o, &want, sizeof(o));
}

static void test_what_the_call_says_wins(void **state)
{
	static const rb_allocator mine = { NULL, NULL, NULL, NULL };
	rb_options client;
	rb_options o;
	rb_options want;

	(void)state;
	rb_options_init(&client);
	set_all(&client, 50);
	client.on_chunk = on_chunk;
	client.on_chunk_arg = &client;
	client.allocator = &rbi_alloc_default;
	rb_options_init(&o);
	set_all(&o, 200);
	o.on_chunk = other_on_chunk;
	o.allocator = &mine;
	want = o;
	rbi_options_fill(&o, &client);
	assert_memory_equal(&o, &want, sizeof(o));
}

static void test_flags_are_joined(void **state)
{
	rb_options client;
	rb_options o;

	(void)state;
	rb_options_init(&client);
	rb_options_init(&o);
	client.flags = RB_STOP_ON_ERROR;
	client.chunk_keys = 10;
	rbi_options_fill(&o, &client);
	assert_int_equal(o.flags, RB_STOP_ON_ERROR);
}

static void test_the_callback_comes_with_its_argument(void **state)
{
	rb_options client;
	rb_options o;
	int arg;

	(void)state;
	rb_options_init(&client);
	client.on_chunk = on_chunk;
	client.on_chunk_arg = &arg;
	rb_options_init(&o);
	rbi_options_fill(&o, &client);
	assert_true(o.on_chunk == on_chunk);
	assert_ptr_equal(o.on_chunk_arg, &arg);
}

static void test_huge_numbers_are_cut_to_what_can_be_summed(void **state)
{
	rb_options none;
	rb_options o;

	(void)state;
	rb_options_init(&none);
	rb_options_init(&o);
	memset((char *)&o + sizeof(o.struct_size), 0xff,
	       offsetof(rb_options, timeout_ms) - sizeof(o.struct_size));
	rbi_options_fill(&o, &none);
	assert_int_equal(o.chunk_args, 1048576);
	assert_true(o.chunk_request_bytes <= SIZE_MAX / 2);
	assert_true(o.chunk_reply_bytes <= SIZE_MAX / 2);
	assert_true(o.window_reply_bytes <= SIZE_MAX / 2);
	assert_true(o.max_value_bytes <= SIZE_MAX / 2);
	assert_int_equal(o.chunk_keys, SIZE_MAX);
	assert_int_equal(o.max_result_bytes, SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init_sets_the_size_and_nothing_else),
		cmocka_unit_test(test_init_stays_inside_of_a_smaller_structure),
		cmocka_unit_test(test_init_of_nothing_is_harmless),
		cmocka_unit_test(test_no_options_are_all_defaults),
		cmocka_unit_test(test_what_was_set_is_read),
		cmocka_unit_test(test_an_unset_size_is_told),
		cmocka_unit_test(test_a_newer_structure_with_defaults_is_taken),
		cmocka_unit_test(test_a_newer_member_that_is_set_is_told),
		cmocka_unit_test(test_an_unknown_flag_is_told),
		cmocka_unit_test(test_an_allocator_without_a_function_is_told),
		cmocka_unit_test(test_zeros_become_the_documented_defaults),
		cmocka_unit_test(test_zeros_become_the_clients_defaults_first),
		cmocka_unit_test(test_what_the_call_says_wins),
		cmocka_unit_test(test_flags_are_joined),
		cmocka_unit_test(test_the_callback_comes_with_its_argument),
		cmocka_unit_test(
			test_huge_numbers_are_cut_to_what_can_be_summed),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
