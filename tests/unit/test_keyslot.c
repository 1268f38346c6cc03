#include "keyslot.h"
#include "unit.h"

typedef struct slot_case {
	const char *key;
	size_t len;
	unsigned want;
} slot_case;

/* In a block of its size, so that a sanitizer sees a read too far. */
static unsigned slot_of(const char *key, size_t len)
{
	char *copy = exact_copy(key, len);
	unsigned slot = rbi_keyslot(copy, len);

	free(copy);
	return slot;
}

static bool has_tag(const char *key, size_t len)
{
	char *copy = exact_copy(key, len);
	bool has = rbi_keyslot_has_tag(copy, len);

	free(copy);
	return has;
}

/* As redis-server 7.0.15 answers CLUSTER KEYSLOT. */
static void test_slots_are_those_of_a_server(void **state)
{
	static const slot_case cases[] = {
		{ LIT("123456789"), 12739 },
		{ LIT("foo"), 12182 },
		{ LIT("bar"), 5061 },
		{ LIT("a\0b"), 8383 },
		{ LIT("\xff\xfe"), 3374 },
		/* A tag that is whole and not empty. */
		{ LIT("foo{{bar}}zap"), 4015 },
		{ LIT("{bar"), 4015 },
		{ LIT("foo{bar}{zap}"), 5061 },
		{ LIT("{user1000}.following"), 3443 },
		{ LIT("a}b{c}d"), 7365 },
		{ LIT("{a}x"), 15495 },
		{ LIT("k{a}b}"), 15495 },
		{ LIT("}{a}"), 15495 },
		{ LIT("{a}b}c"), 15495 },
		{ LIT("{ }"), 9314 },
		{ LIT("{\xff}x"), 7920 },
		{ LIT("a\0b{t\0g}"), 6281 },
		/* None. */
		{ LIT("{}"), 15257 },
		{ LIT("{}foo"), 9500 },
		{ LIT("foo{}"), 5542 },
		{ LIT("a{}"), 6082 },
		{ LIT("foo{}{bar}"), 8363 },
		{ LIT("{a"), 10276 },
		{ LIT("a{b"), 13340 },
		{ LIT("foo{bar"), 15278 },
		{ LIT("}{abc"), 15680 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		unsigned got = slot_of(cases[i].key, cases[i].len);

		if (got != cases[i].want)
			fail_msg("%s: %u, not %u", cases[i].key, got,
				 cases[i].want);
	}
}

static void test_an_empty_key_has_slot_0_and_needs_no_address(void **state)
{
	(void)state;
	assert_int_equal(rbi_keyslot("", 0), 0);
	assert_int_equal(rbi_keyslot(NULL, 0), 0);
	assert_false(rbi_keyslot_has_tag("", 0));
	assert_false(rbi_keyslot_has_tag(NULL, 0));
}

static void test_a_tag_is_between_the_first_brace_and_its_end(void **state)
{
	static const struct {
		const char *key;
		size_t len;
		bool want;
	} cases[] = {
		{ LIT("{a}"), true },	 { LIT("x{a}y"), true },
		{ LIT("{{}"), true },	 { LIT("}{a}"), true },
		{ LIT("{\0}"), true },	 { LIT("{a}{}"), true },
		{ LIT("a"), false },	 { LIT("{"), false },
		{ LIT("}"), false },	 { LIT("{}"), false },
		{ LIT("{a"), false },	 { LIT("a}"), false },
		{ LIT("}a{"), false },	 { LIT("{}{a}"), false },
		{ LIT("x{}a}"), false }, { LIT("\0"), false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		if (has_tag(cases[i].key, cases[i].len) != cases[i].want)
			fail_msg("case %zu: %s", i, cases[i].key);
	}
}

static void test_what_stands_behind_the_key_is_no_part_of_it(void **state)
{
	(void)state;
	assert_int_equal(rbi_keyslot("foo{bar}", 3), 12182);
	assert_false(rbi_keyslot_has_tag("{a}", 2));
	assert_false(rbi_keyslot_has_tag("a{b}", 1));
	assert_int_equal(rbi_keyslot("{a}", 2), 10276);
}

static void test_only_the_tag_counts(void **state)
{
	char key[64];
	uint64_t seed = 2026;
	int round;

	(void)state;
	for (round = 0; round < 1000; round++) {
		size_t before = random_below(&seed, 20);
		size_t len = 1 + random_below(&seed, 20);
		size_t behind = random_below(&seed, 20);
		unsigned want;
		size_t i;

		/* Letters on the left, anything but } inside, any behind. */
		for (i = 0; i < before; i++)
			key[i] = (char)('a' + random_below(&seed, 26));
		key[before] = '{';
		for (i = 0; i < len; i++) {
			char byte = (char)next_random(&seed);

			key[before + 1 + i] = (char)(byte == '}' ? '{' : byte);
		}
		key[before + 1 + len] = '}';
		for (i = 0; i < behind; i++)
			key[before + len + 2 + i] = (char)next_random(&seed);
		want = slot_of(key, before + len + 2 + behind);
		assert_true(has_tag(key, before + len + 2 + behind));
		/* Without braces around it the tag may have a { of its own. */
		assert_int_equal(slot_of(key + before, len + 2), want);
	}
}

/* ------------------------------------------------------------ reference -- */

/* One bit after the other, as the definition has it. */
static unsigned slow_checksum(const char *data, size_t len)
{
	unsigned crc = 0;
	size_t i;
	int bit;

	for (i = 0; i < len; i++) {
		crc ^= (unsigned)(unsigned char)data[i] << 8;
		for (bit = 0; bit < 8; bit++)
			crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 :
						    crc << 1;
		crc &= 0xffff;
	}
	return crc;
}

static void test_the_table_agrees_with_the_definition(void **state)
{
	char key[80];
	uint64_t seed = 1021;
	int round;

	(void)state;
	assert_int_equal(slow_checksum("123456789", 9), 0x31c3);
	for (round = 0; round < 20000; round++) {
		size_t len = (size_t)round % (sizeof(key) + 1);
		size_t i;

		for (i = 0; i < len; i++) {
			key[i] = (char)next_random(&seed);
			if (key[i] == '{')
				key[i] = '[';
		}
		assert_int_equal(slot_of(key, len),
				 slow_checksum(key, len) % RBI_SLOTS);
	}
}

static void test_every_slot_is_some_keys(void **state)
{
	static bool seen[RBI_SLOTS];
	size_t nseen = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < 65536; i++) {
		const char key[2] = { (char)(i >> 8), (char)i };
		unsigned slot = rbi_keyslot(key, 2);

		assert_true(slot < RBI_SLOTS);
		nseen += !seen[slot];
		seen[slot] = true;
	}
	assert_int_equal(nseen, RBI_SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_are_those_of_a_server),
		cmocka_unit_test(
			test_an_empty_key_has_slot_0_and_needs_no_address),
		cmocka_unit_test(
			test_a_tag_is_between_the_first_brace_and_its_end),
		cmocka_unit_test(
			test_what_stands_behind_the_key_is_no_part_of_it),
		cmocka_unit_test(test_only_the_tag_counts),
		cmocka_unit_test(test_the_table_agrees_with_the_definition),
		cmocka_unit_test(test_every_slot_is_some_keys),
	};

	return cmocka_run_group_tests_name("keyslot", tests, NULL, NULL);
}
