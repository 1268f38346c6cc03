/*
 * Which server redisbatch connects to, as whom, and what it says when it
 * cannot.
 */
#include "bystander.h"
#include "cluster.h"
#include "port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGS(...) ((const char *const[]){ "exists", __VA_ARGS__, NULL })
#define ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* What would be another part of a URI, and bytes that are no ASCII. */
#define HARD "@:/?#% p\xc3\xa4ss\xe2\x82\xac&+\"'\\"

/* It was connected, and the key is there: it was the right database. */
static void want_found(const char *const *env, const char *const *args)
{
	rbt_spawned s;

	rbt_bystander_run(env, &s, args);
	if (s.status != 0 || strcmp(s.out, "1\n") != 0)
		fail_msg("%s %s: %d: %s%s", args[1], args[2], s.status, s.out,
			 s.err);
	rbt_spawned_free(&s);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* It ends with the status; standard error has the words, and not "secret". */
static void want_said(const char *const *env, const char *const *args,
		      int status, const char *words)
{
	rbt_spawned s;

	rbt_bystander_run(env, &s, args);
	if (s.status != status || strstr(s.err, words) == NULL)
		fail_msg("%s %s: %d: %s", args[1], args[2], s.status, s.err);
	assert_int_equal(s.outlen, 0);
	assert_null(strstr(s.err, "secret"));
	/* The hint at --help is a line of its own. */
	assert_int_equal(count_lines(s.err),
			 1 + (strstr(s.err, "--help") != NULL));
	rbt_spawned_free(&s);
}

static void test_each_way_to_name_a_server_works(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char uri[512];

	want_found(NULL, ARGS("-p", b->port, "zero"));
	want_found(NULL, ARGS("-h", "localhost", "-p", b->port, "zero"));
	want_found(NULL, ARGS("--host=127.0.0.1", "--port", b->port, "zero"));
	want_found(NULL, ARGS("-s", b->socket, "zero"));
	want_found(NULL, ARGS("--socket", b->socket, "--db=3", "three"));
	want_found(NULL, ARGS("-p", b->port, "-n", "3", "three"));
	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%s/3", b->port);
	want_found(NULL, ARGS("-u", uri, "three"));
	want_found(NULL, ARGS("--uri", uri, "-n", "0", "zero"));
	snprintf(uri, sizeof(uri), "unix://%s?db=3", b->socket);
	want_found(NULL, ARGS("-u", uri, "three"));
	snprintf(uri, sizeof(uri), "REDIS_URL=redis://127.0.0.1:%s/3", b->port);
	want_found(ENV(uri), ARGS("three"));
}

/* The one that must not be asked is at a port where nobody is. */
static void test_the_order_of_the_ways_is_as_documented(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	static const char dead[] = "redis://127.0.0.1:1";
	char uri[128];
	char url[160];

	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%s", b->port);
	snprintf(url, sizeof(url), "REDIS_URL=%s", uri);
	want_found(ENV("REDIS_URL=redis://127.0.0.1:1"),
		   ARGS("-h", "127.0.0.1", "-p", "1", "-s", "/nowhere", "-u",
			uri, "zero"));
	want_found(ENV("REDIS_URL=redis://127.0.0.1:1"),
		   ARGS("-p", "1", "-s", b->socket, "zero"));
	want_found(ENV("REDIS_URL=redis://127.0.0.1:1"),
		   ARGS("-p", b->port, "zero"));
	want_found(ENV(url), ARGS("zero"));
	want_said(ENV(url), ARGS("-u", dead, "zero"), 3, "127.0.0.1:1:");
	want_said(ENV(url), ARGS("-p", "1", "zero"), 3, "127.0.0.1:1:");
	want_said(ENV(url), ARGS("-s", "/nowhere", "zero"), 3, "/nowhere:");
	/* A host alone is at the usual port, whatever the URL says. */
	want_said(ENV(url),
		  ARGS("-h", "127.0.0.2", "--connect-timeout=1s", "zero"), 3,
		  "127.0.0.2:6379");
	/* An empty variable is none. */
	want_found(ENV("REDIS_URL="), ARGS("-p", b->port, "zero"));
}

static void test_a_database_option_wins_over_that_of_the_url(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char url[128];

	snprintf(url, sizeof(url), "REDIS_URL=redis://127.0.0.1:%s/0", b->port);
	want_found(ENV(url), ARGS("-n", "3", "three"));
}

static void write_file(const rbt_bystander *b, const char *text, size_t len,
		       unsigned mode, char *path, size_t size)
{
	FILE *f;

	snprintf(path, size, "%s/password", rbt_server_dir(b->server));
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_a_password_is_taken_from_each_place(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char path[512];
	char uri[256];
	rbt_spawned s;

	rbt_bystander_do(b, "ACL SETUSER default resetpass >%s", HARD);
	want_found(ENV("REDISCLI_AUTH=" HARD), ARGS("-s", b->socket, "zero"));
	write_file(b, HARD "\nsecond line", sizeof(HARD) + 11, 0600, path,
		   sizeof(path));
	want_found(NULL,
		   ARGS("-p", b->port, "--pass-file", path, "-n3", "three"));
	write_file(b, HARD "\r\n", sizeof(HARD) + 1, 0600, path, sizeof(path));
	want_found(NULL, ARGS("-p", b->port, "--pass-file", path, "zero"));
	write_file(b, HARD, sizeof(HARD) - 1, 0600, path, sizeof(path));
	want_found(NULL, ARGS("-p", b->port, "--pass-file", path, "zero"));
	snprintf(uri, sizeof(uri),
		 "redis://:%%40%%3A%%2F%%3F%%23%%25%%20p%%C3%%A4ss%%E2%%82%%AC"
		 "&+\"'\\@127.0.0.1:%s",
		 b->port);
	want_found(NULL, ARGS("-u", uri, "zero"));
	rbt_bystander_run(NULL, &s, ARGS("-p", b->port, "-a", HARD, "zero"));
	assert_string_equal(s.out, "1\n");
	assert_non_null(strstr(s.err, "warning"));
	rbt_spawned_free(&s);
}

static void test_the_order_of_the_passwords_is_as_documented(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char path[512];
	char good[128];
	char bad[128];

	rbt_bystander_do(b, "ACL SETUSER default resetpass >right");
	write_file(b, "right\n", 6, 0600, path, sizeof(path));
	snprintf(good, sizeof(good), "redis://:right@127.0.0.1:%s", b->port);
	snprintf(bad, sizeof(bad), "redis://:secret@127.0.0.1:%s", b->port);
	want_found(ENV("REDISCLI_AUTH=secret"),
		   ARGS("-u", bad, "--pass-file", path, "zero"));
	want_found(ENV("REDISCLI_AUTH=secret"), ARGS("-u", good, "zero"));
	want_said(ENV("REDISCLI_AUTH=right"), ARGS("-u", bad, "zero"), 3,
		  "WRONGPASS");
	want_said(ENV("REDISCLI_AUTH="), ARGS("-p", b->port, "zero"), 3,
		  "a password is needed");
}

static void test_a_user_logs_in_with_a_password(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char uri[128];

	rbt_bystander_do(b, "ACL SETUSER ann on >%s ~* +@all", HARD);
	rbt_bystander_do(b, "ACL SETUSER default resetpass >nobody");
	want_found(ENV("REDISCLI_AUTH=" HARD),
		   ARGS("--user", "ann", "-p", b->port, "zero"));
	snprintf(uri, sizeof(uri), "redis://ann@127.0.0.1:%s", b->port);
	want_found(ENV("REDISCLI_AUTH=" HARD), ARGS("-u", uri, "zero"));
	want_said(ENV("REDISCLI_AUTH=secret"),
		  ARGS("--user=ann", "-p", b->port, "zero"), 3, "WRONGPASS");
	want_said(NULL, ARGS("--user=ann", "-p", b->port, "zero"), 2,
		  "a user needs a password");
	want_said(NULL, ARGS("-u", uri, "zero"), 2, "a user needs a password");
}

static void test_a_file_that_others_may_read_is_warned_of(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	char path[512];
	rbt_spawned s;

	rbt_bystander_do(b, "ACL SETUSER default resetpass >secret");
	write_file(b, "secret\n", 7, 0640, path, sizeof(path));
	rbt_bystander_run(NULL, &s,
			  ARGS("-p", b->port, "--pass-file", path, "zero"));
	assert_int_equal(s.status, 0);
	assert_non_null(strstr(s.err, "can be read by others"));
	assert_non_null(strstr(s.err, path));
	assert_null(strstr(s.err, "secret"));
	rbt_spawned_free(&s);
}

static void test_a_password_file_that_is_no_good_is_said(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	static char big[16385];
	char path[512];

	want_said(NULL, ARGS("--pass-file", "/nowhere/x", "zero"), 4,
		  "/nowhere/x: No such file");
	want_said(NULL, ARGS("--pass-file", "/", "zero"), 4, "directory");
	write_file(b, "\nsecret", 7, 0600, path, sizeof(path));
	want_said(NULL, ARGS("--pass-file", path, "zero"), 2,
		  "there is no password");
	write_file(b, "sec\0ret\n", 8, 0600, path, sizeof(path));
	want_said(NULL, ARGS("--pass-file", path, "zero"), 2, "NUL");
	memset(big, 'a', sizeof(big));
	write_file(b, big, sizeof(big), 0600, path, sizeof(path));
	want_said(NULL, ARGS("--pass-file", path, "zero"), 2, "too long");
	want_said(NULL, ARGS("--pass-file", path, "--askpass", "zero"), 2,
		  "only one");
}

/* As long as may be: the server has it whole, or it would not let us in. */
static void test_the_longest_password_is_not_cut(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);
	static char big[16384 + 1];
	char path[512];

	memset(big, '%', sizeof(big) - 1);
	rbt_bystander_do(b, "ACL SETUSER default resetpass >%s", big);
	write_file(b, big, sizeof(big) - 1, 0600, path, sizeof(path));
	want_found(NULL, ARGS("-p", b->port, "--pass-file", path, "zero"));
}

static void test_what_cannot_be_a_place_is_wrong_usage(void **state)
{
	static const struct {
		const char *args[4];
		const char *words;
	} cases[] = {
		{ { "exists", "-h", "" }, "--host: the host is empty" },
		{ { "exists", "-h", "a:1" }, "--port" },
		{ { "exists", "-h", "a/b" }, "--host" },
		{ { "exists", "-s", "" }, "--socket" },
		{ { "exists", "-n", "-1" }, "--db" },
		{ { "exists", "-n", "1000001" }, "1000000" },
		{ { "exists", "-p", "0" }, "--port" },
		{ { "exists", "-u", "http://secret@h" }, "--uri" },
		{ { "exists", "-u", "redis://:secret@h:x" },
		  "--uri: the port" },
		{ { "exists", "-u", "redis://:secret@h/x" }, "database" },
		{ { "exists", "-u", "redis://:secret%@h" }, "escape" },
		{ { "exists", "-u", "redis://h?secret=1" }, "not known" },
		{ { "exists", "-cs", "/nowhere" }, "--cluster" },
		{ { "exists", "--pass=" }, "--pass is empty" },
		{ { "exists", "--user=" }, "--user is empty" },
		{ { "exists", "--askpass=secret" }, "no argument" },
		{ { "exists", "--past=secret" }, "unknown option --past" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		want_said(NULL, cases[i].args, 2, cases[i].words);
}

#ifdef RBI_WITH_TLS

static void test_what_tls_cannot_do_is_told(void **state)
{
	static const struct {
		const char *const args[4];
		const char *words;
	} cases[] = {
		{ { "exists", "--tls", "--socket=/s" }, "host and a port" },
		{ { "exists", "--cacert=/nowhere/ca" }, "tls_ca_file" },
		{ { "exists", "--cert=/nowhere/c" }, "tls_cert_file" },
		{ { "exists", "--key=/nowhere/k" }, "tls_key_file" },
		{ { "exists", "--cacert=/nowhere/ca", "-uredis://h" },
		  "tls_ca_file" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		want_said(NULL, cases[i].args, 2, cases[i].words);
}

static void test_what_does_not_speak_tls_is_no_server(void **state)
{
	rbt_spawned s;

	(void)state;
	want_said(NULL, ARGS("zero", "--tls", "-h127.0.0.1", "-p1"), 3,
		  "cannot connect: 127.0.0.1:1");
	rbt_bystander_run(NULL, &s,
			  ARGS("--insecure", "-h127.0.0.1", "-p1", "zero"));
	assert_int_equal(s.status, 3);
	assert_non_null(strstr(s.err, "WARNING: --insecure"));
	rbt_spawned_free(&s);
}

#else

static void test_tls_is_refused_and_not_done_without(void **state)
{
	static const char *const options[] = {
		"--tls",   "--cacert=f", "--cert=f",
		"--key=f", "--sni=h",	 "-urediss://:secret@127.0.0.1",
	};
	rbt_spawned s;

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		want_said(NULL, ARGS(options[i], "zero"), 2,
			  "TLS, which this build does not have");
	want_said(ENV("REDIS_URL=rediss://:secret@h"), ARGS("zero"), 2,
		  "REDIS_URL asks for TLS");
	rbt_bystander_run(NULL, &s, ARGS("--insecure", "zero"));
	assert_int_equal(s.status, 2);
	assert_non_null(strstr(s.err, "WARNING: --insecure"));
	rbt_spawned_free(&s);
}

#endif

static void test_a_failed_connection_names_the_place(void **state)
{
	char port[16];
	char place[64];

	(void)state;
	snprintf(port, sizeof(port), "%d", rbt_port_any());
	snprintf(place, sizeof(place), "cannot connect: 127.0.0.1:%s: ", port);
	want_said(ENV("REDISCLI_AUTH=secret"), ARGS("-p", port, "k"), 3, place);
	want_said(NULL, ARGS("-h", "::1", "-p", "1", "k"), 3, "[::1]:1: ");
	want_said(NULL, ARGS("-s", "/nowhere/at all", "k"), 3,
		  "/nowhere/at all: No such file");
	/* Too long for a name, so that no name server is asked. */
	want_said(NULL,
		  ARGS("-h",
		       "a123456789a123456789a123456789a123456789a123456789"
		       "a123456789a123456789.invalid",
		       "k"),
		  3, ".invalid:6379");
}

/* A port that takes connections and says nothing on them. */
static int listen_mute(char *port, size_t size)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(port, size, "%d", ntohs(a.sin_port));
	return fd;
}

static void test_a_server_that_says_nothing_is_given_up(void **state)
{
	char port[16];
	char place[64];
	int fd = listen_mute(port, sizeof(port));

	(void)state;
	snprintf(place, sizeof(place), "cannot connect: 127.0.0.1:%s: ", port);
	want_said(ENV("REDISCLI_AUTH=secret"),
		  ARGS("-p", port, "--connect-timeout=0.2", "k"), 3, place);
	close(fd);
}

static void test_a_database_that_is_not_there_is_said(void **state)
{
	rbt_bystander *b = rbt_bystander_use(state);

	want_said(NULL, ARGS("-p", b->port, "-n", "99", "zero"), 3,
		  "out of range");
}

static void test_a_cluster_is_reached_by_one_node(void **state)
{
	rbt_cluster_options o = { .primaries = 2,
				  .user = "ann",
				  .password = HARD };
	rbt_cluster *c;
	char port[16];
	char uri[64];
	rbt_spawned s;

	(void)rbt_bystander_use(state);
	c = rbt_cluster_start(&o);
	if (c == NULL)
		fail_msg("%s", rbt_cluster_why_not());
	snprintf(port, sizeof(port), "%d", rbt_cluster_port(c, 0));
	snprintf(uri, sizeof(uri), "redis://ann@127.0.0.1:%s", port);
	/* Of keys a to d, two slots are served by the other node. */
	rbt_bystander_run(
		ENV("REDISCLI_AUTH=" HARD), &s,
		ARGS("-qc", "-p", port, "--user", "ann", "a", "b", "c", "d"));
	assert_string_equal(s.err, "");
	assert_string_equal(s.out, "0\n");
	rbt_spawned_free(&s);
	rbt_bystander_run(ENV("REDISCLI_AUTH=" HARD), &s,
			  ARGS("--cluster", "-qu", uri, "a", "b", "c", "d"));
	assert_string_equal(s.err, "");
	assert_string_equal(s.out, "0\n");
	rbt_spawned_free(&s);
	rbt_cluster_stop(c);
}

#define CASE(test) cmocka_unit_test_setup(test, rbt_bystander_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_each_way_to_name_a_server_works),
		CASE(test_the_order_of_the_ways_is_as_documented),
		CASE(test_a_database_option_wins_over_that_of_the_url),
		CASE(test_a_password_is_taken_from_each_place),
		CASE(test_the_order_of_the_passwords_is_as_documented),
		CASE(test_a_user_logs_in_with_a_password),
		CASE(test_a_file_that_others_may_read_is_warned_of),
		CASE(test_a_password_file_that_is_no_good_is_said),
		CASE(test_the_longest_password_is_not_cut),
		CASE(test_what_cannot_be_a_place_is_wrong_usage),
#ifdef RBI_WITH_TLS
		CASE(test_what_tls_cannot_do_is_told),
		CASE(test_what_does_not_speak_tls_is_no_server),
#else
		CASE(test_tls_is_refused_and_not_done_without),
#endif
		CASE(test_a_failed_connection_names_the_place),
		CASE(test_a_server_that_says_nothing_is_given_up),
		CASE(test_a_database_that_is_not_there_is_said),
		CASE(test_a_cluster_is_reached_by_one_node),
	};

	return cmocka_run_group_tests(tests, rbt_bystander_open,
				      rbt_bystander_close);
}
