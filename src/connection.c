#include "connection.h"

#include "number.h"
#include "password.h"
#include "place.h"
#include "say.h"
#include "signals.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEY_USER = 256,
	KEY_ASKPASS,
	KEY_PASS_FILE,
	KEY_TLS,
	KEY_CACERT,
	KEY_CERT,
	KEY_KEY,
	KEY_SNI,
	KEY_INSECURE
};

static const args_option options[] = {
	{ 'u', "uri", "URI",
	  "redis://[USER:PASSWORD@]HOST[:PORT][/DB], unix://PATH[?db=DB] or "
	  "redis+cluster://HOST:PORT,... ($REDIS_URL)" },
	{ 'h', "host", "HOST", "the server's host (127.0.0.1)" },
	{ 'p', "port", "PORT", "the server's port (6379)" },
	{ 's', "socket", "PATH", "a unix socket instead" },
	{ 'n', "db", "NUMBER", "the database (0)" },
	{ 'c', "cluster", NULL, "the server is a node of a cluster" },
	{ KEY_USER, "user", "NAME", "the user of a password (default)" },
	{ KEY_ASKPASS, "askpass", NULL, "ask for the password" },
	{ KEY_PASS_FILE, "pass-file", "FILE",
	  "the password is the first line of FILE" },
	{ 'a', "pass", "PASSWORD",
	  "not safe, others may see it; better $REDISCLI_AUTH" },
	{ KEY_TLS, "tls", NULL, "TLS, as with rediss://" },
	{ KEY_CACERT, "cacert", "FILE", "whom to trust, for TLS" },
	{ KEY_CERT, "cert", "FILE", "the client's certificate, for TLS" },
	{ KEY_KEY, "key", "FILE", "the key of --cert" },
	{ KEY_SNI, "sni", "NAME", "the server's name, for TLS" },
	{ KEY_INSECURE, "insecure", NULL,
	  "trust any certificate: others may read and change everything" },
};

struct connection {
	/* Copies, since they were wiped from the command line. */
	char *uri;
	char *password;
	/* Borrowed. */
	const char *host;
	const char *socket;
	const char *user;
	const char *pass_file;
	const char *cacert;
	const char *cert;
	const char *key;
	const char *sni;
	/* The option that asked for it, NULL: none. */
	const char *tls;
	unsigned port; /* 0: not given */
	unsigned db;
	bool has_db;
	bool cluster;
	bool askpass;
	bool insecure;
	/* The options and the environment were made into a place. */
	bool settled;
	place place;
};

connection *connection_new(void)
{
	connection *c = calloc(1, sizeof(*c));

	if (c == NULL)
		say("out of memory");
	return c;
}

void connection_free(connection *c)
{
	if (c == NULL)
		return;
	password_free(c->uri);
	password_free(c->password);
	place_fini(&c->place);
	free(c);
}

/* ---------------------------------------------------------- the options -- */

static exits take_port(connection *c, const char *value)
{
	uint64_t n;

	if (!number_count(value, 1, 65535, &n))
		return args_bad("port", value, "a number from 1 to 65535");
	c->port = (unsigned)n;
	return EXITS_FINE;
}

static exits take_db(connection *c, const char *value)
{
	uint64_t n;

	if (!number_count(value, 0, 1000000, &n))
		return args_bad("db", value, "a number from 0 to 1000000");
	c->db = (unsigned)n;
	c->has_db = true;
	return EXITS_FINE;
}

/* The value is in argv, which a program may write to. */
static exits take_secret(char **to, const char *value,
			 char *take(char *argument))
{
	password_free(*to);
	*to = take((char *)value);
	return *to != NULL ? EXITS_FINE : EXITS_LOCAL;
}

static exits take_password(connection *c, const char *value)
{
	if (*value == '\0')
		return say_usage("--pass is empty");
	say("warning: a password on the command line can be seen by others; "
	    "--askpass, --pass-file and $REDISCLI_AUTH are safe");
	return take_secret(&c->password, value, password_from_argument);
}

/* An option of TLS without --tls means it as well: nobody who gives one wants
 * to go on in clear text. */
static exits take_tls(connection *c, int key, const char *value)
{
	if (key == KEY_CACERT)
		c->cacert = value;
	else if (key == KEY_CERT)
		c->cert = value;
	else if (key == KEY_KEY)
		c->key = value;
	else if (key == KEY_SNI)
		c->sni = value;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].key == key)
			c->tls = options[i].name;
	}
	c->insecure = c->insecure || key == KEY_INSECURE;
	return EXITS_FINE;
}

static exits take_flag(connection *c, int key, const char *value)
{
	if (key == 'c')
		c->cluster = true;
	else if (key == KEY_ASKPASS)
		c->askpass = true;
	else
		return take_tls(c, key, value);
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	connection *c = to;
	const char **text;

	switch (key) {
	case 'u':
		return take_secret(&c->uri, value, password_from_uri);
	case 'a':
		return take_password(c, value);
	case 'p':
		return take_port(c, value);
	case 'n':
		return take_db(c, value);
	case 'h':
		text = &c->host;
		break;
	case 's':
		text = &c->socket;
		break;
	case KEY_USER:
		text = &c->user;
		break;
	case KEY_PASS_FILE:
		text = &c->pass_file;
		break;
	default:
		return take_flag(c, key, value);
	}
	*text = value;
	return EXITS_FINE;
}

args_group connection_group(connection *c)
{
	return (args_group){ "Connection", options,
			     sizeof(options) / sizeof(options[0]), take, c };
}

/* ------------------------------------------------------------ the place -- */

/* A variable that is empty counts as not set. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

/* NULL, or what is wrong; *from names where it came from. */
static const char *find_place(const connection *c, place *p, const char **from)
{
	const char *url = variable("REDIS_URL");

	*p = (place){ .address = NULL };
	*from = "--uri";
	if (c->uri != NULL)
		return place_read(p, c->uri);
	*from = "--socket";
	if (c->socket != NULL)
		return place_at_socket(p, c->socket);
	*from = "REDIS_URL";
	if (c->host == NULL && c->port == 0 && url != NULL)
		return place_read(p, url);
	*from = "--host";
	return place_at_host(p, c->host != NULL ? c->host : "127.0.0.1",
			     c->port != 0 ? c->port : 6379);
}

static exits check_place(connection *c, const char *from)
{
	char *uri = place_uri(&c->place);
	const char *problem;

	if (uri == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	problem = rb_uri_problem(uri);
	password_free(uri);
	return problem == NULL ? EXITS_FINE :
				 say_usage("%s: %s", from, problem);
}

static exits refuse_tls(const connection *c, const char *from)
{
	say("%s%s asks for TLS, which this build does not have: give it a "
	    "tunnel (stunnel, ssh -L) that speaks TLS, and connect to that",
	    c->tls != NULL ? "--" : "", c->tls != NULL ? c->tls : from);
	return EXITS_USAGE;
}

static exits make_tls(connection *c, const char *from)
{
	if (c->tls == NULL && !c->place.tls)
		return EXITS_FINE;
	if (c->insecure)
		say("WARNING: --insecure takes any certificate: whoever is in "
		    "between can read and change everything, passwords too");
	if (rb_uri_problem("rediss://h") != NULL)
		return refuse_tls(c, from);
	if (c->place.kind == PLACE_SOCKET)
		return say_usage("%s%s asks for TLS, which needs a host and a "
				 "port",
				 c->tls != NULL ? "--" : "",
				 c->tls != NULL ? c->tls : from);
	c->place.tls = true;
	return EXITS_FINE;
}

static exits make_cluster(connection *c)
{
	if (c->cluster && c->place.kind == PLACE_SOCKET)
		return say_usage("--cluster needs a host and a port: the nodes "
				 "of a cluster have no unix sockets");
	if (c->cluster)
		c->place.kind = PLACE_CLUSTER;
	return EXITS_FINE;
}

/* ------------------------------------------------------------- the login -- */

static exits read_password(connection *c)
{
	if ((c->password != NULL) + (c->pass_file != NULL) + c->askpass > 1)
		return say_usage("only one of --askpass, --pass-file and "
				 "--pass can be given");
	if (c->pass_file != NULL)
		return password_from_file(c->pass_file, &c->password);
	if (c->askpass)
		return password_from_terminal("Password: ", &c->password);
	return EXITS_FINE;
}

static exits add_login(connection *c)
{
	const char *password = c->password;
	bool added;

	if (password == NULL && c->place.password == NULL)
		password = variable("REDISCLI_AUTH");
	if (password != NULL && strlen(password) > PASSWORD_MOST)
		return say_usage("the password is longer than %d bytes",
				 PASSWORD_MOST);
	if (c->user != NULL && *c->user == '\0')
		return say_usage("--user is empty");
	added = place_login(&c->place, c->user, password);
	password_free(c->password);
	c->password = NULL;
	if (added && c->has_db)
		added = place_choose(&c->place, c->db);
	if (!added) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	if (c->place.user != NULL && c->place.password == NULL)
		return say_usage("a user needs a password: --askpass, "
				 "--pass-file or $REDISCLI_AUTH");
	return EXITS_FINE;
}

static exits settle(connection *c)
{
	const char *from;
	const char *problem;
	exits status;

	if (c->settled)
		return EXITS_FINE;
	place_fini(&c->place);
	problem = find_place(c, &c->place, &from);
	if (problem != NULL)
		return say_usage("%s: %s", from, problem);
	status = make_tls(c, from);
	if (status == EXITS_FINE)
		status = make_cluster(c);
	if (status == EXITS_FINE)
		status = read_password(c);
	if (status == EXITS_FINE)
		status = add_login(c);
	if (status == EXITS_FINE)
		status = check_place(c, from);
	c->settled = status == EXITS_FINE;
	return status;
}

/* -------------------------------------------------------------- clients -- */

static exits refuse_client(rb_status status, const char *problem)
{
	if (status == RB_ERR_INVALID && problem != NULL)
		return say_usage("%s", problem);
	say("%s",
	    status == RB_ERR_NOMEM ? "out of memory" : rb_status_text(status));
	return EXITS_LOCAL;
}

static void set_tls(const connection *c, rb_options *o)
{
	o->tls_ca_file = c->cacert;
	o->tls_cert_file = c->cert;
	o->tls_key_file = c->key;
	o->tls_server_name = c->sni;
	if (c->insecure)
		o->flags |= RB_TLS_INSECURE;
}

static exits make_client(const connection *c, const place *p,
			 const rb_options *o, rb_client **out)
{
	const char *problem = NULL;
	rb_status status = RB_ERR_NOMEM;
	char *uri = place_uri(p);
	rb_options plain = *o;

	*out = NULL;
	plain.flags &= ~(uint32_t)RB_TRANSACTION;
	if (p->tls)
		set_tls(c, &plain);
	if (uri != NULL)
		status = rb_client_open(out, uri, &plain);
	if (status == RB_ERR_INVALID)
		problem = rb_open_problem(uri, &plain);
	password_free(uri);
	return status == RB_OK ? EXITS_FINE : refuse_client(status, problem);
}

enum { ASKING_MS = 5000 };

/*
 * Without a password nothing is asked of the server when it is connected to, and
 * one that wants a password would refuse each entry of a long run by itself. So
 * it is asked here. Whatever else it says is not our business. A client whose
 * chunks are transactions would make one of it, so there it is left out.
 */
static bool wants_password(const place *p, const rb_options *o,
			   rb_client *client)
{
	const char *ping[] = { "PING" };
	const rb_command command = { 1, ping, NULL };
	rb_result *res = NULL;
	rb_options plain;
	bool wants;

	if (p->password != NULL || p->kind == PLACE_CLUSTER ||
	    (o->flags & RB_TRANSACTION) != 0)
		return false;
	rb_options_init(&plain);
	plain.timeout_ms = ASKING_MS;
	wants = rb_pipeline_chunked(client, &command, 1, &plain, &res) !=
			RB_OK &&
		res != NULL &&
		strncmp(rb_result_message(res, 0), "NOAUTH", 6) == 0;
	rb_result_free(res);
	return wants;
}

/* The client is watched, and is freed if it does not come to a connection. */
static exits connect_client(const place *p, const rb_options *o,
			    rb_client **client)
{
	bool connected = rb_client_connect(*client) == RB_OK;
	bool refused = connected && wants_password(p, o, *client);
	exits status = EXITS_SERVER;

	if (connected && !refused && signals_caught() == 0)
		return EXITS_FINE;
	if (signals_caught() != 0)
		status = (exits)(EXITS_SIGNAL + signals_caught());
	else if (refused)
		say("cannot connect: %s: NOAUTH, a password is needed: "
		    "--askpass, --pass-file or $REDISCLI_AUTH",
		    p->address);
	else
		say("cannot connect: %s", rb_client_error(*client));
	signals_unwatch(*client);
	rb_client_free(*client);
	*client = NULL;
	return status;
}

exits connection_open(connection *c, const rb_options *o, rb_client **out)
{
	exits status = settle(c);

	*out = NULL;
	if (status == EXITS_FINE)
		status = make_client(c, &c->place, o, out);
	if (status != EXITS_FINE)
		return status;
	signals_watch(*out);
	return connect_client(&c->place, o, out);
}

exits connection_open_node(const connection *c, const char *host, unsigned port,
			   const rb_options *o, rb_client **out)
{
	place node = { .address = NULL };
	const place *p;
	exits status;

	*out = NULL;
	if (host != NULL && !place_beside(&c->place, host, port, &node)) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	p = host != NULL ? &node : &c->place;
	status = make_client(c, p, o, out);
	if (status == EXITS_FINE) {
		signals_watch_also(*out);
		status = connect_client(p, o, out);
		signals_unwatch(*out);
	}
	place_fini(&node);
	return status;
}

bool connection_is_cluster(const connection *c)
{
	const char *from;
	bool is;
	place p;

	if (c->settled)
		return c->place.kind == PLACE_CLUSTER;
	is = find_place(c, &p, &from) == NULL &&
	     (c->cluster || p.kind == PLACE_CLUSTER);
	place_fini(&p);
	return is;
}

const char *connection_name(const connection *c)
{
	return c->place.address != NULL ? c->place.address : "the server";
}
