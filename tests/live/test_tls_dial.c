/*
 * The library's own connections over TLS: what is verified, what is said when
 * it does not hold, and that everything else is as without.
 */
#include "tls.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <redisbatch/redisbatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* It wants those above it. */
#include <cmocka.h>

#define assert_status(got, want) assert_int_equal((got), (want))

typedef struct scene {
	rbt_tls tls;
	rb_client *rb;
	rb_options o;
	char uri[128];
} scene;

static void open_scene(scene *s, const char *cert, bool client_certs)
{
	memset(s, 0, sizeof(*s));
	if (!rbt_tls_start(&s->tls, cert, client_certs))
		fail_msg("%s", rbt_server_why());
	rb_options_init(&s->o);
	s->o.tls_ca_file = s->tls.certs.ca;
}

static rb_status connect_to(scene *s, const char *host, int port)
{
	snprintf(s->uri, sizeof(s->uri), "rediss://%s:%d", host, port);
	rb_client_free(s->rb);
	assert_status(rb_client_open(&s->rb, s->uri, &s->o), RB_OK);
	return rb_client_connect(s->rb);
}

static void want_refused(scene *s, const char *host, const char *words)
{
	assert_status(connect_to(s, host, s->tls.port), RB_ERR_CONNECT);
	if (strstr(rb_client_error(s->rb), words) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", rb_client_error(s->rb), words);
}

static void close_scene(scene *s)
{
	rb_client_free(s->rb);
	rbt_tls_stop(&s->tls);
}

static void test_the_right_name_and_address_are_taken(void **state)
{
	scene s;

	(void)state;
	open_scene(&s, NULL, false);
	assert_status(connect_to(&s, "127.0.0.1", s.tls.port), RB_OK);
	assert_status(connect_to(&s, "localhost", s.tls.port), RB_OK);
	s.o.tls_server_name = "localhost";
	assert_status(connect_to(&s, "127.0.0.1", s.tls.port), RB_OK);
	close_scene(&s);
}

static void test_who_is_not_who_was_asked_for_is_refused(void **state)
{
	scene s;

	(void)state;
	open_scene(&s, NULL, false);
	s.o.tls_server_name = "example.org";
	want_refused(&s, "127.0.0.1", "ostname mismatch");
	s.o.tls_server_name = "127.0.0.2";
	want_refused(&s, "127.0.0.1", "IP address mismatch");
	s.o.flags |= RB_TLS_INSECURE;
	assert_status(connect_to(&s, "127.0.0.1", s.tls.port), RB_OK);
	close_scene(&s);
}

static void test_who_is_not_trusted_is_refused(void **state)
{
	scene s;

	(void)state;
	open_scene(&s, NULL, false);
	s.o.tls_ca_file = s.tls.certs.other_ca;
	want_refused(&s, "127.0.0.1", "certificate");
	s.o.tls_ca_file = NULL;
	want_refused(&s, "127.0.0.1", "certificate");
	close_scene(&s);
}

/* The certificates are made with the server, which takes another one then. */
static void show(const scene *s, const char *cert)
{
	redisContext *admin =
		redisConnect("127.0.0.1", rbt_server_port(s->tls.server));
	redisReply *reply;

	assert_non_null(admin);
	reply = redisCommand(admin, "CONFIG SET tls-cert-file %s", cert);
	assert_non_null(reply);
	assert_string_equal(reply->str, "OK");
	freeReplyObject(reply);
	redisFree(admin);
}

static void test_certificates_that_do_not_hold_are_refused(void **state)
{
	scene s;

	(void)state;
	open_scene(&s, NULL, false);
	show(&s, s.tls.certs.expired);
	want_refused(&s, "127.0.0.1", "certificate has expired");
	show(&s, s.tls.certs.wrong_name);
	want_refused(&s, "127.0.0.1", "mismatch");
	show(&s, s.tls.certs.server);
	assert_status(connect_to(&s, "127.0.0.1", s.tls.port), RB_OK);
	close_scene(&s);
}

/* What is listened at, and never answered. */
static void test_a_silent_peer_costs_the_deadline_alone(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	scene s = { .rb = NULL };

	(void)state;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	rb_options_init(&s.o);
	s.o.connect_timeout_ms = 100;
	assert_status(connect_to(&s, "127.0.0.1", ntohs(at.sin_port)),
		      RB_ERR_CONNECT);
	assert_non_null(strstr(rb_client_error(s.rb), "TLS handshake"));
	rb_client_cancel(s.rb);
	assert_status(rb_client_connect(s.rb), RB_ERR_CANCELLED);
	rb_client_free(s.rb);
	close(fd);
}

static void test_a_plain_server_is_told(void **state)
{
	scene s;

	(void)state;
	open_scene(&s, NULL, false);
	s.o.connect_timeout_ms = 300;
	assert_status(
		connect_to(&s, "127.0.0.1", rbt_server_port(s.tls.server)),
		RB_ERR_CONNECT);
	assert_non_null(strstr(rb_client_error(s.rb), "TLS"));
	close_scene(&s);
}

static void test_a_client_shows_its_certificate(void **state)
{
	scene s;

	(void)state;
	open_scene(&s, NULL, true);
	s.o.tls_cert_file = s.tls.certs.client;
	s.o.tls_key_file = s.tls.certs.client_key;
	assert_status(connect_to(&s, "127.0.0.1", s.tls.port), RB_OK);
	close_scene(&s);
}

static void want_problem(const rb_options *o, const char *uri,
			 const char *words)
{
	const char *problem = rb_open_problem(uri, o);
	rb_client *rb;

	assert_non_null(problem);
	if (strstr(problem, words) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", problem, words);
	assert_status(rb_client_open(&rb, uri, o), RB_ERR_INVALID);
}

static void test_an_option_that_cannot_be_is_named(void **state)
{
	rb_options o;

	(void)state;
	rb_options_init(&o);
	assert_null(rb_open_problem("rediss://h", &o));
	o.tls_ca_file = "/nowhere/ca.pem";
	want_problem(&o, "rediss://h", "tls_ca_file");
	want_problem(&o, "redis://h", "rediss://");
	want_problem(&o, "unix:///s", "rediss://");
	rb_options_init(&o);
	o.tls_key_file = "/nowhere/key.pem";
	want_problem(&o, "rediss://h", "tls_key_file");
	o.tls_cert_file = "/nowhere/cert.pem";
	want_problem(&o, "rediss://h", "tls_cert_file");
	rb_options_init(&o);
	o.tls_server_name = "";
	want_problem(&o, "rediss://h", "tls_server_name");
}

/* The values of a and b; NULL: there is none. */
static void want_values(const scene *s, const char *a, const char *b)
{
	const char *keys[] = { "a", "b" };
	const char *const want[] = { a, b };
	rb_result *res = NULL;
	rb_slice got;

	assert_status(rb_mget_chunked(s->rb, keys, NULL, 2, NULL, &res), RB_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_status(rb_result_status(res, i), RB_OK);
		got = rb_result_value(res, i);
		if (want[i] == NULL)
			assert_null(got.data);
		else
			assert_string_equal(got.data, want[i]);
	}
	rb_result_free(res);
}

/* The server that comes back has nothing. */
static void test_pairs_are_written_and_read_and_a_loss_is_mended(void **state)
{
	const char *keys[] = { "a", "b" };
	const char *values[] = { "1", "2" };
	rb_result *res = NULL;
	scene s;

	(void)state;
	open_scene(&s, NULL, false);
	assert_status(connect_to(&s, "127.0.0.1", s.tls.port), RB_OK);
	assert_status(
		rb_mset_chunked(s.rb, keys, NULL, values, NULL, 2, NULL, &res),
		RB_OK);
	rb_result_free(res);
	want_values(&s, "1", "2");
	rbt_server_kill(s.tls.server);
	assert_true(rbt_server_restart(s.tls.server));
	want_values(&s, NULL, NULL);
	close_scene(&s);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_the_right_name_and_address_are_taken),
		TEST(test_who_is_not_who_was_asked_for_is_refused),
		TEST(test_who_is_not_trusted_is_refused),
		TEST(test_certificates_that_do_not_hold_are_refused),
		TEST(test_a_silent_peer_costs_the_deadline_alone),
		TEST(test_a_plain_server_is_told),
		TEST(test_a_client_shows_its_certificate),
		TEST(test_an_option_that_cannot_be_is_named),
		TEST(test_pairs_are_written_and_read_and_a_loss_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
