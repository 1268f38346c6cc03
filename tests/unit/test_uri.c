#include "alloc.h"
#include "count.h"
#include "unit.h"
#include "uri.h"

#include <stdio.h>

typedef struct uri_case {
	const char *text;
	const char *host;
	unsigned port;
	const char *path;
	const char *user;
	const char *password;
	unsigned db;
} uri_case;

static void check_text(const char *uri, const char *got, const char *want)
{
	if (got == NULL || want == NULL)
		assert_true(got == want);
	else if (strcmp(got, want) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", uri, got, want);
}

static void check_parts(const uri_case *c)
{
	const char *problem = NULL;
	rbi_uri uri;
	rb_status status =
		rbi_uri_parse(&uri, c->text, &rbi_alloc_default, &problem);

	if (status != RB_OK)
		fail_msg("%s: %s", c->text, problem);
	check_text(c->text, uri.host, c->host);
	check_text(c->text, uri.path, c->path);
	check_text(c->text, uri.user, c->user);
	check_text(c->text, uri.password, c->password);
	if (c->host != NULL)
		assert_int_equal(uri.port, c->port);
	assert_int_equal(uri.db, c->db);
	rbi_uri_fini(&uri, &rbi_alloc_default);
	assert_null(uri.text);
	assert_null(uri.password);
}

static void test_tcp_uris_are_taken_apart(void **state)
{
	static const uri_case cases[] = {
		{ "redis://h", "h", 6379, NULL, NULL, NULL, 0 },
		{ "redis://h/", "h", 6379, NULL, NULL, NULL, 0 },
		{ "REDIS://h", "h", 6379, NULL, NULL, NULL, 0 },
		{ "redis://h:1", "h", 1, NULL, NULL, NULL, 0 },
		{ "redis://h:65535/3", "h", 65535, NULL, NULL, NULL, 3 },
		{ "redis://10.0.0.1:7000", "10.0.0.1", 7000, NULL, NULL, NULL,
		  0 },
		{ "redis://h/15", "h", 6379, NULL, NULL, NULL, 15 },
		{ "redis://:pw@h", "h", 6379, NULL, NULL, "pw", 0 },
		{ "redis://u:pw@h:7/1", "h", 7, NULL, "u", "pw", 1 },
		{ "redis://:@h", "h", 6379, NULL, NULL, NULL, 0 },
		{ "redis://u:p:q@h", "h", 6379, NULL, "u", "p:q", 0 },
		{ "redis://u:p@q@h", "h", 6379, NULL, "u", "p@q", 0 },
		{ "redis://u%40:p%2f%3A%25@h", "h", 6379, NULL, "u@", "p/:%",
		  0 },
		{ "redis://:%C3%a9%20@h", "h", 6379, NULL, NULL, "\xc3\xa9 ",
		  0 },
		{ "redis://[::1]", "::1", 6379, NULL, NULL, NULL, 0 },
		{ "redis://[::1]:7/2", "::1", 7, NULL, NULL, NULL, 2 },
		{ "redis://u:p@[fe80::1%eth0]:7", "fe80::1%eth0", 7, NULL, "u",
		  "p", 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_parts(&cases[i]);
}

typedef struct cluster_case {
	const char *text;
	const char *seeds; /* host port, each with a semicolon behind it */
	const char *user;
	const char *password;
	unsigned db;
} cluster_case;

static void check_cluster(const cluster_case *c)
{
	const char *problem = NULL;
	char got[300] = "";
	rbi_uri uri;
	size_t i;

	if (rbi_uri_parse(&uri, c->text, &rbi_alloc_default, &problem) != RB_OK)
		fail_msg("%s: %s", c->text, problem);
	assert_true(uri.cluster);
	assert_null(uri.path);
	for (i = 0; i < uri.nseeds; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %u;",
			 uri.seeds[i].host, uri.seeds[i].port);
	check_text(c->text, got, c->seeds);
	assert_string_equal(uri.host, uri.seeds[0].host);
	assert_int_equal(uri.port, uri.seeds[0].port);
	check_text(c->text, uri.user, c->user);
	check_text(c->text, uri.password, c->password);
	assert_int_equal(uri.db, c->db);
	rbi_uri_fini(&uri, &rbi_alloc_default);
	assert_null(uri.seeds);
	assert_int_equal(uri.nseeds, 0);
}

static void test_uris_of_clusters_name_several_nodes(void **state)
{
	static const cluster_case cases[] = {
		{ "redis+cluster://h", "h 6379;", NULL, NULL, 0 },
		{ "redis+cluster://h/", "h 6379;", NULL, NULL, 0 },
		{ "Redis+CLUSTER://h:7", "h 7;", NULL, NULL, 0 },
		{ "redis+cluster://h1:1,h2:2", "h1 1;h2 2;", NULL, NULL, 0 },
		{ "redis+cluster://a,b:65535,c/0", "a 6379;b 65535;c 6379;",
		  NULL, NULL, 0 },
		{ "redis+cluster://h,h", "h 6379;h 6379;", NULL, NULL, 0 },
		{ "redis+cluster://:pw@a:1,b:2/3", "a 1;b 2;", NULL, "pw", 3 },
		{ "redis+cluster://u:p%2c@a:1,b:2", "a 1;b 2;", "u", "p,", 0 },
		{ "redis+cluster://u:p,q@r,@a:1,b:2", "a 1;b 2;", "u", "p,q@r,",
		  0 },
		{ "redis+cluster://[::1]:1,[::2],10.0.0.1",
		  "::1 1;::2 6379;10.0.0.1 6379;", NULL, NULL, 0 },
		{ "redis+cluster://[::1]", "::1 6379;", NULL, NULL, 0 },
		{ "redis+cluster://a,[::1]/1", "a 6379;::1 6379;", NULL, NULL,
		  1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_cluster(&cases[i]);
}

static void test_other_uris_are_no_clusters(void **state)
{
	static const char *const texts[] = { "redis://h", "unix:///a" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(texts); i++) {
		const char *problem = NULL;
		rbi_uri uri;

		assert_status(rbi_uri_parse(&uri, texts[i], &rbi_alloc_default,
					    &problem),
			      RB_OK);
		assert_false(uri.cluster);
		assert_null(uri.seeds);
		assert_int_equal(uri.nseeds, 0);
		rbi_uri_fini(&uri, &rbi_alloc_default);
	}
}

static void test_a_cluster_has_100_seeds_at_most(void **state)
{
	char text[600];
	size_t n;

	(void)state;
	for (n = 100; n <= 101; n++) {
		const char *problem = NULL;
		rb_status status;
		rbi_uri uri;
		size_t i;

		strcpy(text, "redis+cluster://h");
		for (i = 1; i < n; i++)
			strcat(text, ",h:1");
		status =
			rbi_uri_parse(&uri, text, &rbi_alloc_default, &problem);
		if (n <= RBI_URI_SEEDS_MAX) {
			assert_status(status, RB_OK);
			assert_int_equal(uri.nseeds, n);
			rbi_uri_fini(&uri, &rbi_alloc_default);
		} else {
			assert_status(status, RB_ERR_INVALID);
			assert_non_null(strstr(problem, "100 hosts"));
		}
	}
}

static void test_unix_uris_are_taken_apart(void **state)
{
	static const uri_case cases[] = {
		{ "unix:///a/b.sock", NULL, 0, "/a/b.sock", NULL, NULL, 0 },
		{ "UNIX:///a", NULL, 0, "/a", NULL, NULL, 0 },
		{ "unix:///a?db=2", NULL, 0, "/a", NULL, NULL, 2 },
		{ "unix://:pw@/a", NULL, 0, "/a", NULL, "pw", 0 },
		{ "unix://u:p%40@/a?db=0", NULL, 0, "/a", "u", "p@", 0 },
		{ "unix:///a%20b%3fc", NULL, 0, "/a b?c", NULL, NULL, 0 },
		{ "unix:///with@sign", NULL, 0, "/with@sign", NULL, NULL, 0 },
		{ "unix:///with:colon", NULL, 0, "/with:colon", NULL, NULL, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_parts(&cases[i]);
}

typedef struct bad_case {
	const char *text;
	const char *words; /* stands in the problem */
} bad_case;

static void check_refused(const bad_case *c, rb_status want)
{
	const char *problem = NULL;
	rbi_uri uri;
	rb_status status =
		rbi_uri_parse(&uri, c->text, &rbi_alloc_default, &problem);

	if (status != want)
		fail_msg("%s: %s", c->text, rb_status_text(status));
	assert_non_null(problem);
	if (strstr(problem, c->words) == NULL)
		fail_msg("%s: %s", c->text, problem);
	assert_null(uri.text);
}

static void test_bad_uris_are_refused_in_words(void **state)
{
	static const bad_case cases[] = {
		{ NULL, "NULL" },
		{ "", "neither" },
		{ "h", "neither" },
		{ "redis:", "neither" },
		{ "redis:/h", "neither" },
		{ "http://h", "neither" },
		{ "127.0.0.1:6379", "neither" },
		{ "redis://", "host" },
		{ "redis:///1", "host" },
		{ "redis://:7", "host" },
		{ "redis://u:p@", "host" },
		{ "redis://[]", "host" },
		{ "redis://[::1", "bracket" },
		{ "redis://[::1]x", "bracket" },
		{ "redis://[::1]x:7", "bracket" },
		{ "redis://h:", "port" },
		{ "redis://h:0", "port" },
		{ "redis://h:65536", "port" },
		{ "redis://h:70000", "port" },
		{ "redis://h:4294967297", "port" },
		{ "redis://h:99999999999999999999", "port" },
		{ "redis://h:-1", "port" },
		{ "redis://h:+1", "port" },
		{ "redis://h: 1", "port" },
		{ "redis://h:1x", "port" },
		{ "redis://::1", "port" },
		{ "redis://h/x", "database" },
		{ "redis://h/-1", "database" },
		{ "redis://h/1/2", "database" },
		{ "redis://h/4294967296", "database" },
		{ "redis://h/99999999999999999999", "database" },
		{ "redis://h?db=1", "part" },
		{ "redis://h/1?x=y", "part" },
		{ "redis://h#x", "part" },
		{ "redis://user@h", "password" },
		{ "redis://user:@h", "password" },
		{ "redis://@h", "password" },
		{ "redis://u:%@h", "escape" },
		{ "redis://u:%4@h", "escape" },
		{ "redis://u:%zz@h", "escape" },
		{ "redis://u%:p@h", "escape" },
		{ "redis://u:a%00b@h", "escape" },
		{ "redis+cluster:", "neither" },
		{ "redis+cluster:/h", "neither" },
		{ "redis+cluster://", "host" },
		{ "redis+cluster:///1", "host" },
		{ "redis+cluster://,", "host" },
		{ "redis+cluster://a,", "host" },
		{ "redis+cluster://,a", "host" },
		{ "redis+cluster://a,,b", "host" },
		{ "redis+cluster://a,:7", "host" },
		{ "redis+cluster://a,[]", "host" },
		{ "redis+cluster://:pw@", "host" },
		{ "redis+cluster://a,[::1", "bracket" },
		{ "redis+cluster://[::1,::2]", "bracket" },
		{ "redis+cluster://a:1,b:", "port" },
		{ "redis+cluster://a:1,b:0", "port" },
		{ "redis+cluster://a:65536,b:1", "port" },
		{ "redis+cluster://a:1 ,b:1", "port" },
		{ "redis+cluster://a:1,::1", "port" },
		{ "redis+cluster://a:1,u:p@b:2/x", "database" },
		{ "redis+cluster://a:1,b:2/1,2", "database" },
		{ "redis+cluster://a/1/2", "database" },
		{ "redis+cluster://a,b?db=1", "part" },
		{ "redis+cluster://a,b#x", "part" },
		{ "redis+cluster://u@a,b", "password" },
		{ "redis+cluster://:%@a,b", "escape" },
		{ "unix://", "absolute" },
		{ "unix://a/b", "absolute" },
		{ "unix://u:p@a", "absolute" },
		{ "unix:///a%2", "escape" },
		{ "unix:///a%00b", "escape" },
		{ "unix:///a?db=", "database" },
		{ "unix:///a?db=x", "database" },
		{ "unix:///a?db=1&x=2", "database" },
		{ "unix:///a?x=1", "part" },
		{ "unix:///a?", "part" },
		{ "unix:///a#x", "part" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_refused(&cases[i], RB_ERR_INVALID);
}

#ifdef RBI_WITH_TLS

static void test_the_schemes_of_tls_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		bool secure;
		bool cluster;
	} cases[] = {
		{ "redis://h", false, false },
		{ "redis+cluster://h", false, true },
		{ "rediss://h", true, false },
		{ "REDISS://h", true, false },
		{ "rediss+cluster://h", true, true },
		{ "unix:///a", false, false },
	};
	const char *problem;
	rbi_uri uri;
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		assert_int_equal(rbi_uri_parse(&uri, cases[i].text,
					       &rbi_alloc_default, &problem),
				 RB_OK);
		assert_int_equal(uri.secure, cases[i].secure);
		assert_int_equal(uri.cluster, cases[i].cluster);
		assert_int_equal(uri.nseeds, cases[i].cluster ? 1 : 0);
		rbi_uri_fini(&uri, &rbi_alloc_default);
	}
}

#else

static void test_known_schemes_that_are_not_built_are_unsupported(void **state)
{
	static const bad_case cases[] = {
		{ "rediss://h", "TLS" },
		{ "REDISS://h", "TLS" },
		{ "rediss+cluster://h", "TLS" },
		{ "rediss+cluster://h1:1,h2:2", "TLS" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_refused(&cases[i], RB_ERR_UNSUPPORTED);
}

static void test_a_build_without_tls_says_what_to_install(void **state)
{
	const char *words = rb_uri_problem("rediss://h");
	rb_client *client;

	(void)state;
	assert_non_null(strstr(words, "hiredis 1.0"));
	assert_non_null(strstr(words, "OpenSSL"));
	assert_string_equal(rb_open_problem("rediss://h", NULL), words);
	assert_int_equal(rb_client_open(&client, "rediss://h", NULL),
			 RB_ERR_UNSUPPORTED);
	assert_null(client);
}

#endif

static void test_schemes_that_only_begin_alike_are_not_known(void **state)
{
	static const bad_case cases[] = {
		{ "redissss://h", "neither" },
		{ "rediss", "neither" },
		{ "redis+clusters://h", "neither" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++)
		check_refused(&cases[i], RB_ERR_INVALID);
}

static void test_a_socket_path_may_have_107_bytes(void **state)
{
	char text[200] = "unix://";
	const char *problem = NULL;
	rbi_uri uri;
	size_t begin = strlen(text);

	(void)state;
	memset(text + begin, '/', RBI_URI_PATH_MAX + 1);
	text[begin + RBI_URI_PATH_MAX] = '\0';
	assert_status(rbi_uri_parse(&uri, text, &rbi_alloc_default, &problem),
		      RB_OK);
	assert_int_equal(strlen(uri.path), 107);
	rbi_uri_fini(&uri, &rbi_alloc_default);
	text[begin + RBI_URI_PATH_MAX] = '/';
	assert_status(rbi_uri_parse(&uri, text, &rbi_alloc_default, &problem),
		      RB_ERR_INVALID);
	assert_non_null(strstr(problem, "too long (max 107)"));
}

static void test_a_problem_repeats_no_part_of_the_uri(void **state)
{
	static const char *const texts[] = {
		"redis://zorro:qvzx%@h",
		"redis://zorro:qvzx@h:wxq",
		"redis://zorro:qvzx@",
		"redis://zorro:qvzx@h/wxq",
		"unix://zorro:qvzx@zorro",
		"zorro://qvzx",
		"redis+cluster://zorro:qvzx@h,wxq:wxq",
	};
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(texts); i++) {
		const char *problem = rb_uri_problem(texts[i]);

		assert_non_null(problem);
		assert_null(strstr(problem, "zorro"));
		assert_null(strstr(problem, "qvzx"));
		assert_null(strstr(problem, "wxq"));
	}
}

static void test_the_public_check_agrees(void **state)
{
	(void)state;
	assert_null(rb_uri_problem("redis://u:p@h:1/2"));
	assert_null(rb_uri_problem("unix:///a"));
	assert_null(rb_uri_problem("redis+cluster://a:1,b:2"));
	assert_non_null(rb_uri_problem(NULL));
	assert_non_null(rb_uri_problem("redis://h:0"));
	assert_non_null(rb_uri_problem("redis+cluster://a,"));
}

static void test_the_text_itself_is_not_changed(void **state)
{
	char text[] = "redis://u%40:p%2f@h:7/3";
	const char *problem = NULL;
	rbi_uri uri;

	(void)state;
	assert_status(rbi_uri_parse(&uri, text, &rbi_alloc_default, &problem),
		      RB_OK);
	assert_string_equal(text, "redis://u%40:p%2f@h:7/3");
	rbi_uri_fini(&uri, &rbi_alloc_default);
}

static void test_without_memory_nothing_is_left(void **state)
{
	size_t at;

	(void)state;
	for (at = 1; at <= 2; at++) {
		const char *problem = NULL;
		rbt_count count;
		rbi_uri uri;

		rbt_count_init(&count);
		count.fail_at = at;
		assert_status(rbi_uri_parse(&uri, "redis+cluster://a,b",
					    &count.allocator, &problem),
			      RB_ERR_NOMEM);
		assert_non_null(problem);
		assert_null(uri.text);
		assert_null(uri.seeds);
		assert_int_equal(count.live_blocks, 0);
		rbi_uri_fini(&uri, &count.allocator);
	}
}

static void test_what_is_refused_leaves_no_memory(void **state)
{
	static const char *const texts[] = { "redis+cluster://a,b:x",
					     "redis://u:p@h:x" };
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(texts); i++) {
		const char *problem = NULL;
		rbt_count count;
		rbi_uri uri;

		rbt_count_init(&count);
		assert_status(rbi_uri_parse(&uri, texts[i], &count.allocator,
					    &problem),
			      RB_ERR_INVALID);
		assert_int_equal(count.live_blocks, 0);
	}
}

/* Remembers what was in the last block when it was freed. */
static char freed[64];

static void *keep_alloc(void *arg, size_t size)
{
	(void)arg;
	assert_true(size <= sizeof(freed));
	return malloc(sizeof(freed));
}

static void *keep_realloc(void *arg, void *ptr, size_t size)
{
	(void)arg;
	return realloc(ptr, size);
}

static void keep_free(void *arg, void *ptr)
{
	(void)arg;
	memcpy(freed, ptr, sizeof("u:secret@h"));
	free(ptr);
}

static void test_the_password_is_wiped_before_it_is_freed(void **state)
{
	static const char zeros[sizeof("u:secret@h")];
	const rb_allocator a = { keep_alloc, keep_realloc, keep_free, NULL };
	const char *problem = NULL;
	rbi_uri uri;

	(void)state;
	memset(freed, 'x', sizeof(freed));
	assert_status(rbi_uri_parse(&uri, "redis://u:secret@h", &a, &problem),
		      RB_OK);
	rbi_uri_fini(&uri, &a);
	assert_memory_equal(freed, zeros, sizeof(zeros));
	memset(freed, 'x', sizeof(freed));
	assert_status(rbi_uri_parse(&uri, "redis://u:secret@:", &a, &problem),
		      RB_ERR_INVALID);
	assert_memory_equal(freed, zeros, sizeof(zeros) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp_uris_are_taken_apart),
		cmocka_unit_test(test_uris_of_clusters_name_several_nodes),
		cmocka_unit_test(test_other_uris_are_no_clusters),
		cmocka_unit_test(test_a_cluster_has_100_seeds_at_most),
		cmocka_unit_test(test_unix_uris_are_taken_apart),
		cmocka_unit_test(test_bad_uris_are_refused_in_words),
#ifdef RBI_WITH_TLS
		cmocka_unit_test(test_the_schemes_of_tls_are_told_apart),
#else
		cmocka_unit_test(
			test_known_schemes_that_are_not_built_are_unsupported),
		cmocka_unit_test(test_a_build_without_tls_says_what_to_install),
#endif
		cmocka_unit_test(
			test_schemes_that_only_begin_alike_are_not_known),
		cmocka_unit_test(test_a_socket_path_may_have_107_bytes),
		cmocka_unit_test(test_a_problem_repeats_no_part_of_the_uri),
		cmocka_unit_test(test_the_public_check_agrees),
		cmocka_unit_test(test_the_text_itself_is_not_changed),
		cmocka_unit_test(test_without_memory_nothing_is_left),
		cmocka_unit_test(test_what_is_refused_leaves_no_memory),
		cmocka_unit_test(test_the_password_is_wiped_before_it_is_freed),
	};

	return cmocka_run_group_tests_name("uri", tests, NULL, NULL);
}
