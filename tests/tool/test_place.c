/*
 * Places: parts to a URI and back.
 */
#include "password.h"
#include "place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <redisbatch/redisbatch.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void want_uri(const place *p, const char *want)
{
	char *uri = place_uri(p);

	assert_non_null(uri);
	assert_string_equal(uri, want);
	password_free(uri);
}

static void test_a_uri_comes_back_as_it_was(void **state)
{
	static const char *uris[] = {
		"redis://h",
		"redis://h:1",
		"redis://h:1/7",
		"redis://:pw@h",
		"redis://ann:pw@h:1/2",
		"redis://ann:p@w@h",
		"redis://[::1]:7000/3",
		"redis+cluster://a:1,b:2/0",
		"redis+cluster://ann:pw@a:1,b:2",
		"rediss://ann:pw@h:1/2",
		"rediss+cluster://a",
		"unix:///run/a%20b.sock",
		"unix://ann:pw@/run/s?db=4",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(uris); i++) {
		place p = { .address = NULL };

		assert_null(place_read(&p, uris[i]));
		want_uri(&p, uris[i]);
		place_fini(&p);
	}
}

static void test_a_scheme_is_known_in_any_case(void **state)
{
	place p = { .address = NULL };

	(void)state;
	assert_null(place_read(&p, "REDIS+Cluster://h"));
	assert_int_equal(p.kind, PLACE_CLUSTER);
	place_fini(&p);
	assert_non_null(place_read(&p, "http://h"));
	assert_non_null(place_read(&p, ""));
	assert_non_null(place_read(&p, "redis:/h"));
	place_fini(&p);
}

static void test_a_host_stands_in_a_uri(void **state)
{
	static const struct {
		const char *host, *uri;
	} cases[] = {
		{ "localhost", "redis://localhost:6379" },
		{ "::1", "redis://[::1]:6379" },
		{ "[::1]", "redis://[::1]:6379" },
		{ "fe80::1%eth0", "redis://[fe80::1%eth0]:6379" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		place p = { .address = NULL };

		assert_null(place_at_host(&p, cases[i].host, 6379));
		want_uri(&p, cases[i].uri);
		place_fini(&p);
	}
}

static void test_what_is_no_host_is_refused(void **state)
{
	static const char *hosts[] = { "",    "h:1", "a b", "a/b", "a@b", "a,b",
				       "a#b", "a?b", "[]",  "[a",  "a\n" };
	char long_one[400];

	(void)state;
	memset(long_one, 'a', sizeof(long_one));
	long_one[256] = '\0';
	for (size_t i = 0; i <= COUNT(hosts); i++) {
		place p = { .address = NULL };
		const char *host = i < COUNT(hosts) ? hosts[i] : long_one;

		if (place_at_host(&p, host, 1) == NULL)
			fail_msg("'%s' was taken", host);
		place_fini(&p);
	}
}

static void test_the_longest_host_is_taken_whole(void **state)
{
	place p = { .address = NULL };
	char host[256];
	char want[300];

	(void)state;
	memset(host, 'a', 255);
	host[255] = '\0';
	assert_null(place_at_host(&p, host, 65535));
	snprintf(want, sizeof(want), "redis://%s:65535", host);
	want_uri(&p, want);
	place_fini(&p);
}

static void test_a_socket_is_encoded_and_made_absolute(void **state)
{
	char long_one[120];
	place p = { .address = NULL };

	(void)state;
	assert_null(place_at_socket(&p, "/run/a b?db=1#@%"));
	want_uri(&p, "unix:///run/a%20b%3Fdb%3D1%23%40%25");
	place_fini(&p);
	assert_null(place_at_socket(&p, "s"));
	assert_int_equal(p.address[0], '/');
	assert_string_equal(strrchr(p.address, '/'), "/s");
	place_fini(&p);
	assert_non_null(place_at_socket(&p, ""));
	memset(long_one, 'a', sizeof(long_one));
	long_one[0] = '/';
	long_one[108] = '\0';
	assert_non_null(place_at_socket(&p, long_one));
	place_fini(&p);
}

static void test_a_login_is_encoded(void **state)
{
	place p = { .address = NULL };

	(void)state;
	assert_null(place_read(&p, "redis://old:pw@h"));
	assert_true(place_login(&p, "a:b", "@:/?#% \xc3\xa9\x7f"));
	want_uri(&p, "redis://a%3Ab:%40%3A%2F%3F%23%25%20%C3%A9%7F@h");
	assert_true(place_login(&p, NULL, "new"));
	want_uri(&p, "redis://a%3Ab:new@h");
	assert_true(place_choose(&p, 12));
	assert_true(place_choose(&p, 3));
	want_uri(&p, "redis://a%3Ab:new@h/3");
	place_fini(&p);
}

/* A user without a password is for others to refuse. */
static void test_a_user_alone_waits_for_its_password(void **state)
{
	place p = { .address = NULL };

	(void)state;
	assert_null(place_read(&p, "redis://ann@h"));
	assert_string_equal(p.user, "ann");
	assert_null(p.password);
	assert_true(place_login(&p, NULL, "pw"));
	want_uri(&p, "redis://ann:pw@h");
	place_fini(&p);
}

static void test_a_node_beside_has_the_login(void **state)
{
	place p = { .address = NULL };
	place node;

	(void)state;
	assert_null(place_read(&p, "redis+cluster://ann:p%2f@a:1,b:2"));
	assert_true(place_beside(&p, "c", 3, &node));
	want_uri(&node, "redis://ann:p%2f@c:3");
	place_fini(&node);
	assert_false(place_beside(&p, "", 3, &node));
	place_fini(&p);
}

/* What is made of any bytes is taken apart by the library as it was. */
static void test_every_byte_makes_a_uri_that_the_library_takes(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		char text[] = { 'a', (char)c, 'z', '\0' };
		char path[] = { '/', (char)c, '\0' };
		place p = { .address = NULL };
		char *uri;

		assert_null(place_at_socket(&p, path));
		assert_true(place_login(&p, text, text));
		uri = place_uri(&p);
		if (rb_uri_problem(uri) != NULL)
			fail_msg("%d: %s", c, rb_uri_problem(uri));
		password_free(uri);
		place_fini(&p);
	}
}

static void test_a_wiped_argument_keeps_its_copy(void **state)
{
	static const struct {
		const char *uri, *left;
	} cases[] = {
		{ "redis://ann:pw@h/1", "redis://******@h/1" },
		{ "redis://:p@w@h", "redis://****@h" },
		{ "redis://:a/b@h", "redis://****@h" },
		{ "redis://h:1", "redis://h:1" },
		{ "ann:pw@h", "******@h" },
	};
	char secret[] = "secret";
	char *copy;

	(void)state;
	copy = password_from_argument(secret);
	assert_string_equal(copy, "secret");
	assert_string_equal(secret, "******");
	password_free(copy);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char uri[64];

		strcpy(uri, cases[i].uri);
		copy = password_from_uri(uri);
		assert_string_equal(copy, cases[i].uri);
		assert_string_equal(uri, cases[i].left);
		password_wipe(copy);
		assert_int_equal(copy[0], 0);
		password_free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_uri_comes_back_as_it_was),
		cmocka_unit_test(test_a_scheme_is_known_in_any_case),
		cmocka_unit_test(test_a_host_stands_in_a_uri),
		cmocka_unit_test(test_what_is_no_host_is_refused),
		cmocka_unit_test(test_the_longest_host_is_taken_whole),
		cmocka_unit_test(test_a_socket_is_encoded_and_made_absolute),
		cmocka_unit_test(test_a_login_is_encoded),
		cmocka_unit_test(test_a_user_alone_waits_for_its_password),
		cmocka_unit_test(test_a_node_beside_has_the_login),
		cmocka_unit_test(
			test_every_byte_makes_a_uri_that_the_library_takes),
		cmocka_unit_test(test_a_wiped_argument_keeps_its_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
