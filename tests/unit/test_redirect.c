#include "redirect.h"
#include "unit.h"

/* In a block of its size, so that a sanitizer sees a read too far. The caller
 * frees *copy, which the redirect points into. */
static bool parse(const char *text, size_t len, char **copy, rbi_redirect *r)
{
	*copy = exact_copy(text, len);
	return rbi_redirect_parse(*copy, len, r);
}

static void test_redirects_are_taken_apart(void **state)
{
	static const struct {
		const char *text;
		bool ask;
		unsigned slot;
		const char *host;
		unsigned port;
	} cases[] = {
		{ "MOVED 8579 127.0.0.1:17012", false, 8579, "127.0.0.1",
		  17012 },
		{ "ASK 449 127.0.0.1:7001", true, 449, "127.0.0.1", 7001 },
		{ "MOVED 0 h:1", false, 0, "h", 1 },
		{ "MOVED 16383 h:65535", false, 16383, "h", 65535 },
		{ "MOVED 1 node-1.cache.example.com:6379", false, 1,
		  "node-1.cache.example.com", 6379 },
		/* The port is behind the last colon. */
		{ "MOVED 5 ::1:7000", false, 5, "::1", 7000 },
		{ "ASK 5 2001:db8::17:6379", true, 5, "2001:db8::17", 6379 },
		{ "MOVED 5 fe80::1%eth0:7", false, 5, "fe80::1%eth0", 7 },
		{ "MOVED 5 :::7", false, 5, "::", 7 },
		{ "MOVED 5 [::1]:7000", false, 5, "::1", 7000 },
		{ "MOVED 5 [h]:7000", false, 5, "h", 7000 },
		/* Unknown to the node. */
		{ "MOVED 8579 :17012", false, 8579, "", 17012 },
		{ "MOVED 8579 ?:17012", false, 8579, "", 17012 },
		{ "ASK 8579 :17012", true, 8579, "", 17012 },
		{ "MOVED 8579 ??:17012", false, 8579, "??", 17012 },
		{ "MOVED 8579 \xc3\xa9:7", false, 8579, "\xc3\xa9", 7 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		const char *text = cases[i].text;
		size_t want = strlen(cases[i].host);
		rbi_redirect r;
		char *copy;

		if (!parse(text, strlen(text), &copy, &r))
			fail_msg("%s: refused", text);
		assert_int_equal(r.ask, cases[i].ask);
		assert_int_equal(r.slot, cases[i].slot);
		assert_int_equal(r.port, cases[i].port);
		if (r.host_len != want ||
		    memcmp(r.host, cases[i].host, want) != 0)
			fail_msg("%s: %.*s", text, (int)r.host_len, r.host);
		free(copy);
	}
}

static void test_all_else_is_no_redirect(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		{ LIT("") },
		{ LIT("MOVED") },
		{ LIT("MOVED ") },
		{ LIT("MOVED  ") },
		{ LIT("MOVED 1") },
		{ LIT("MOVED 1 ") },
		{ LIT("MOVED 1 h") },
		{ LIT("MOVED 1 h:") },
		{ LIT("MOVED 1 :") },
		{ LIT("MOVED 1 7") },
		{ LIT("MOVEDh 1 h:7") },
		{ LIT("MOVED\t1 h:7") },
		{ LIT("moved 1 h:7") },
		{ LIT("ask 1 h:7") },
		{ LIT("ASKING 1 h:7") },
		{ LIT("ERR MOVED 1 h:7") },
		{ LIT(" MOVED 1 h:7") },
		{ LIT("-MOVED 1 h:7") },
		{ LIT("REDIRECT h:7") },
		/* The slot. */
		{ LIT("MOVED 16384 h:7") },
		{ LIT("MOVED 99999999999999999999 h:7") },
		{ LIT("MOVED 4294967297 h:7") },
		{ LIT("MOVED -1 h:7") },
		{ LIT("MOVED +1 h:7") },
		{ LIT("MOVED 1x h:7") },
		{ LIT("MOVED x h:7") },
		{ LIT("MOVED  1 h:7") },
		{ LIT("MOVED  h:7") },
		{ LIT("MOVED h:7") },
		{ LIT("MOVED h:7 1") },
		/* The port, with which the text ends. */
		{ LIT("MOVED 1 h:0") },
		{ LIT("MOVED 1 h:65536") },
		{ LIT("MOVED 1 h:4294967303") },
		{ LIT("MOVED 1 h:99999999999999999999") },
		{ LIT("MOVED 1 h:-7") },
		{ LIT("MOVED 1 h:+7") },
		{ LIT("MOVED 1 h: 7") },
		{ LIT("MOVED 1 h:7 ") },
		{ LIT("MOVED 1 h:7\r") },
		{ LIT("MOVED 1 h:7\0") },
		{ LIT("MOVED 1 h:7x") },
		{ LIT("MOVED 1 h:7@17") },
		{ LIT("MOVED 1 h:7 and more") },
		/* The host. */
		{ LIT("MOVED 1  h:7") },
		{ LIT("MOVED 1 a b:7") },
		{ LIT("MOVED 1 a\tb:7") },
		{ LIT("MOVED 1 a\0b:7") },
		{ LIT("MOVED 1 \0:7") },
		{ LIT("MOVED 1 a\nb:7") },
		{ LIT("MOVED 1 a\x1f:7") },
		{ LIT("MOVED 1 a\x7f:7") },
		{ LIT("MOVED 1 []:7") },
		{ LIT("MOVED 1 [::1:7") },
		{ LIT("MOVED 1 ::1]:7") },
		{ LIT("MOVED 1 [[::1]]:7") },
		{ LIT("MOVED 1 [a b]:7") },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		rbi_redirect r = { .port = 4711 };
		char *copy;

		if (parse(cases[i].text, cases[i].len, &copy, &r))
			fail_msg("case %zu: \"%s\"", i, cases[i].text);
		assert_int_equal(r.port, 4711);
		free(copy);
	}
}

static void test_the_text_need_not_end_with_a_nul(void **state)
{
	rbi_redirect r;

	(void)state;
	assert_true(rbi_redirect_parse("MOVED 12 h:7890", 13, &r));
	assert_int_equal(r.port, 78);
	assert_false(rbi_redirect_parse(NULL, 0, &r));
}

static void test_a_redirect_that_was_cut_is_none(void **state)
{
	static const char text[] = "MOVED 16000 ::1:7";
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(text) - 1; len++) {
		rbi_redirect r;
		char *copy;
		bool good = parse(text, len, &copy, &r);

		free(copy);
		/* Which is one by itself: the host ":", and port 1. */
		assert_int_equal(good, len == sizeof("MOVED 16000 ::1") - 1);
	}
}

static void test_a_host_has_255_bytes_at_most(void **state)
{
	char text[400];
	size_t len;

	(void)state;
	for (len = 254; len <= 257; len++) {
		rbi_redirect r;
		char *copy;
		bool good;

		memset(text, 'h', sizeof(text));
		memcpy(text, "MOVED 1 ", 8);
		memcpy(text + 8 + len, ":7", 2);
		good = parse(text, len + 10, &copy, &r);
		assert_int_equal(good, len <= RBI_HOST_MAX);
		if (good)
			assert_int_equal(r.host_len, len);
		free(copy);
		/* Brackets do not count. */
		text[8] = '[';
		text[8 + len - 1] = ']';
		good = parse(text, len + 10, &copy, &r);
		free(copy);
		assert_true(good);
		assert_int_equal(r.host_len, len - 2);
	}
}

static void test_a_host_may_be_empty(void **state)
{
	rb_slice host = { NULL, 0 };

	(void)state;
	assert_true(rbi_redirect_host(&host));
	assert_null(host.data);
	assert_int_equal(host.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redirects_are_taken_apart),
		cmocka_unit_test(test_all_else_is_no_redirect),
		cmocka_unit_test(test_the_text_need_not_end_with_a_nul),
		cmocka_unit_test(test_a_redirect_that_was_cut_is_none),
		cmocka_unit_test(test_a_host_has_255_bytes_at_most),
		cmocka_unit_test(test_a_host_may_be_empty),
	};

	return cmocka_run_group_tests_name("redirect", tests, NULL, NULL);
}
