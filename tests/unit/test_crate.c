#include "alloc.h"
#include "count.h"
#include "crate.h"
#include "unit.h"

typedef struct fixture {
	rbt_count count;
	rbi_crate *crate;
} fixture;

static const rbi_batch form = { .command = { "MGET", 4 } };

static void begin(fixture *f, rbi_cargo cargo)
{
	rbt_count_init(&f->count);
	f->crate = rbi_crate_new(&f->count.allocator, cargo);
	assert_non_null(f->crate);
	rbi_crate_clear(f->crate, &form);
}

static void end(fixture *f)
{
	rbi_crate_free(f->crate);
	assert_int_equal(f->count.live_blocks, 0);
}

/* A pair, or, without a value, a key. */
static bool add(fixture *f, const char *key, size_t len, const char *value)
{
	size_t value_len = value != NULL ? strlen(value) : 0;
	const rbi_batch item = {
		.keys = &key,
		.keylens = &len,
		.values = value != NULL ? &value : NULL,
		.valuelens = &value_len,
		.n = 1,
	};

	return rbi_crate_add(f->crate, &item);
}

static void check_string(const char **strings, const size_t *lens, size_t i,
			 const char *want)
{
	assert_int_equal(lens[i], strlen(want));
	assert_memory_equal(strings[i], want, lens[i]);
}

static void test_keys_are_copied_empty_ones_too(void **state)
{
	char key[] = "one";
	const rbi_batch *b;
	fixture f;

	(void)state;
	begin(&f, RBI_CARGO_KEYS);
	assert_true(add(&f, key, 3, NULL));
	memset(key, 'x', 3);
	assert_true(add(&f, "", 0, NULL));
	assert_true(add(&f, NULL, 0, NULL));
	assert_true(add(&f, "four", 4, NULL));
	rbi_crate_close(f.crate);
	b = &f.crate->batch;
	assert_int_equal(b->n, 4);
	check_string(b->keys, b->keylens, 0, "one");
	check_string(b->keys, b->keylens, 1, "");
	assert_non_null(b->keys[2]);
	check_string(b->keys, b->keylens, 3, "four");
	assert_null(b->values);
	end(&f);
}

static void test_an_empty_crate_is_an_empty_batch(void **state)
{
	static const rbi_cargo cargos[] = { RBI_CARGO_KEYS, RBI_CARGO_PAIRS,
					    RBI_CARGO_COMMANDS };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cargos); i++) {
		fixture f;

		begin(&f, cargos[i]);
		rbi_crate_close(f.crate);
		assert_int_equal(f.crate->batch.n, 0);
		assert_string_equal(f.crate->batch.command.data, "MGET");
		end(&f);
	}
}

static void test_a_crate_is_used_again_with_its_memory(void **state)
{
	size_t allocs;
	int round;
	fixture f;
	int i;

	(void)state;
	begin(&f, RBI_CARGO_PAIRS);
	for (round = 0; round < 3; round++) {
		rbi_crate_clear(f.crate, &form);
		for (i = 0; i < 100; i++)
			assert_true(add(&f, "a key", 5, "a value"));
		rbi_crate_close(f.crate);
		assert_int_equal(f.crate->batch.n, 100);
		check_string(f.crate->batch.keys, f.crate->batch.keylens, 99,
			     "a key");
		check_string(f.crate->batch.values, f.crate->batch.valuelens,
			     99, "a value");
		if (round == 0)
			allocs = f.count.asked;
		assert_int_equal(f.count.asked, allocs);
	}
	end(&f);
}

static void test_commands_keep_their_arguments(void **state)
{
	const char *argv[] = { "SET", "", "v" };
	const char *ping[] = { "PING" };
	rb_command commands[] = { { 3, argv, NULL }, { 1, ping, NULL } };
	const rb_command *kept;
	fixture f;
	size_t i;

	(void)state;
	begin(&f, RBI_CARGO_COMMANDS);
	for (i = 0; i < 2; i++) {
		const rbi_batch item = { .form = RBI_FORM_COMMANDS,
					 .commands = &commands[i],
					 .n = 1 };

		assert_true(rbi_crate_add(f.crate, &item));
	}
	rbi_crate_close(f.crate);
	kept = f.crate->batch.commands;
	assert_int_equal(kept[0].argc, 3);
	check_string(kept[0].argv, kept[0].argvlen, 0, "SET");
	check_string(kept[0].argv, kept[0].argvlen, 1, "");
	check_string(kept[0].argv, kept[0].argvlen, 2, "v");
	assert_int_equal(kept[1].argc, 1);
	check_string(kept[1].argv, kept[1].argvlen, 0, "PING");
	end(&f);
}

/* The bytes are not touched, so there need not be any. */
static void test_a_string_too_long_for_memory_is_refused(void **state)
{
	static const size_t lens[] = { SIZE_MAX, SIZE_MAX / 2 + 2,
				       SIZE_MAX - 1024 };
	fixture f;
	size_t i;

	(void)state;
	begin(&f, RBI_CARGO_KEYS);
	assert_true(add(&f, "key", 3, NULL));
	for (i = 0; i < N_OF(lens); i++)
		assert_false(add(&f, "x", lens[i], NULL));
	assert_true(add(&f, "another", 7, NULL));
	rbi_crate_close(f.crate);
	assert_int_equal(f.crate->batch.n, 2);
	check_string(f.crate->batch.keys, f.crate->batch.keylens, 1, "another");
	end(&f);
}

static void test_without_memory_nothing_was_added(void **state)
{
	size_t fail_at;
	bool done = false;

	(void)state;
	for (fail_at = 2; !done; fail_at++) {
		fixture f;

		begin(&f, RBI_CARGO_PAIRS);
		f.count.fail_at = fail_at;
		done = add(&f, "key", 3, "value") && f.count.asked < fail_at;
		if (!done)
			assert_int_equal(f.crate->n, 0);
		f.count.fail_at = 0;
		if (f.crate->n == 0)
			assert_true(add(&f, "key", 3, "value"));
		rbi_crate_close(f.crate);
		check_string(f.crate->batch.keys, f.crate->batch.keylens, 0,
			     "key");
		check_string(f.crate->batch.values, f.crate->batch.valuelens, 0,
			     "value");
		assert_int_equal(f.crate->batch.n, 1);
		end(&f);
	}
	assert_true(fail_at > 5);
}

static void test_without_memory_there_is_no_crate(void **state)
{
	rbt_count count;

	(void)state;
	rbt_count_init(&count);
	count.fail_at = 1;
	assert_null(rbi_crate_new(&count.allocator, RBI_CARGO_KEYS));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_copied_empty_ones_too),
		cmocka_unit_test(test_an_empty_crate_is_an_empty_batch),
		cmocka_unit_test(test_a_crate_is_used_again_with_its_memory),
		cmocka_unit_test(test_commands_keep_their_arguments),
		cmocka_unit_test(test_a_string_too_long_for_memory_is_refused),
		cmocka_unit_test(test_without_memory_nothing_was_added),
		cmocka_unit_test(test_without_memory_there_is_no_crate),
	};

	return cmocka_run_group_tests_name("crate", tests, NULL, NULL);
}
