#include "uri.h"

#include "alloc.h"

#include <string.h>

#define DEFAULT_PORT 6379

/* What is left of the copy while it is taken apart, and what is wrong. */
typedef struct parser {
	rbi_uri *uri;
	const rb_allocator *allocator;
	char *rest;
	rb_status status;
	const char *problem;
} parser;

static bool refuse(parser *p, const char *problem)
{
	p->status = RB_ERR_INVALID;
	p->problem = problem;
	return false;
}

static bool lack_memory(parser *p)
{
	p->status = RB_ERR_NOMEM;
	p->problem = "out of memory";
	return false;
}

/* ------------------------------------------------------------- decoding -- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Decodes %XX in place; it never grows. False: half an escape, or a NUL. */
static bool decode(char *text)
{
	char *out = text;
	int high;
	int low;

	for (; *text != '\0'; text++) {
		if (*text != '%') {
			*out++ = *text;
			continue;
		}
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		*out++ = (char)(high * 16 + low);
		text += 2;
	}
	*out = '\0';
	return true;
}

/* A decimal number of digits alone, at most max. */
static bool read_number(const char *text, unsigned max, unsigned *out)
{
	unsigned n = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (unsigned)(*text - '0');
		if (n > max)
			return false;
	}
	*out = n;
	return true;
}

/* ---------------------------------------------------------------- parts -- */

/* [[user]:password@] */
static bool read_credentials(parser *p)
{
	char *end = p->rest + strcspn(p->rest, "/?#");
	char *at = NULL;
	char *colon;
	char *c;

	/* The last @, so that one in a password need not be escaped. */
	for (c = p->rest; c < end; c++) {
		if (*c == '@')
			at = c;
	}
	if (at == NULL)
		return true;
	*at = '\0';
	colon = strchr(p->rest, ':');
	if (colon == NULL)
		return refuse(p, "the URI has a user name but no password");
	*colon = '\0';
	if (!decode(p->rest) || !decode(colon + 1))
		return refuse(p, "a percent escape of the URI is wrong");
	if (*p->rest != '\0')
		p->uri->user = p->rest;
	if (colon[1] != '\0')
		p->uri->password = colon + 1;
	else if (p->uri->user != NULL)
		return refuse(p, "the URI has a user name but no password");
	p->rest = at + 1;
	return true;
}

static bool read_db(parser *p, const char *text)
{
	if (!read_number(text, 1000000, &p->uri->db))
		return refuse(p, "the database of the URI is no number");
	return true;
}

static bool read_port(parser *p, const char *text, unsigned *port)
{
	if (!read_number(text, 65535, port) || *port == 0)
		return refuse(p, "the port of the URI is not 1 to 65535");
	return true;
}

/* host, or [an IPv6 address]; *behind is what follows it. */
static bool read_host(parser *p, char *text, const char **host, char **behind)
{
	char *close;

	*host = text;
	if (*text != '[') {
		*behind = text + strcspn(text, ":");
		return true;
	}
	close = strchr(text, ']');
	if (close == NULL || (close[1] != '\0' && close[1] != ':'))
		return refuse(p, "the address of the URI lacks its bracket");
	*close = '\0';
	*host = text + 1;
	*behind = close + 1;
	return true;
}

/* host[:port] */
static bool read_address(parser *p, char *text, rbi_seed *out)
{
	char *behind;

	out->port = DEFAULT_PORT;
	if (!read_host(p, text, &out->host, &behind))
		return false;
	if (*behind == ':') {
		*behind = '\0';
		if (!read_port(p, behind + 1, &out->port))
			return false;
	}
	if (*out->host == '\0')
		return refuse(p, "the URI has no host");
	return true;
}

/* host[:port][,host[:port]]... */
static bool read_seeds(parser *p)
{
	rbi_uri *uri = p->uri;
	char *text = p->rest;
	size_t n = 1;
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		n += text[i] == ',';
	if (n > RBI_URI_SEEDS_MAX)
		return refuse(p, "the URI has more than 100 hosts");
	uri->seeds = rbi_alloc_array(p->allocator, NULL, n, sizeof(rbi_seed));
	if (uri->seeds == NULL)
		return lack_memory(p);
	while (uri->nseeds < n) {
		char *end = text + strcspn(text, ",");

		*end = '\0';
		if (!read_address(p, text, &uri->seeds[uri->nseeds++]))
			return false;
		text = end + 1;
	}
	return true;
}

static bool read_tcp(parser *p)
{
	char *db = strchr(p->rest, '/');
	rbi_seed one;

	if (strpbrk(p->rest, "?#") != NULL)
		return refuse(p, "the URI has a part that is not known");
	if (db != NULL) {
		*db++ = '\0';
		if (*db != '\0' && !read_db(p, db))
			return false;
	}
	if (p->uri->cluster) {
		if (!read_seeds(p))
			return false;
		one = p->uri->seeds[0];
	} else if (!read_address(p, p->rest, &one)) {
		return false;
	}
	p->uri->host = one.host;
	p->uri->port = one.port;
	return true;
}

static bool read_unix(parser *p)
{
	char *query = strpbrk(p->rest, "?#");

	if (query != NULL) {
		if (strncmp(query, "?db=", 4) != 0)
			return refuse(p,
				      "the URI has a part that is not known");
		*query = '\0';
		if (!read_db(p, query + 4))
			return false;
	}
	if (!decode(p->rest))
		return refuse(p, "a percent escape of the URI is wrong");
	if (*p->rest != '/')
		return refuse(p, "the socket path of the URI is not absolute");
	if (strlen(p->rest) > RBI_URI_PATH_MAX)
		return refuse(p, "the socket path of the URI is too long "
				 "(max 107)");
	p->uri->path = p->rest;
	return true;
}

/* --------------------------------------------------------------- scheme -- */

/* Skips the scheme, in any case; false: it is another. */
static bool skip_scheme(const char **text, const char *scheme)
{
	const char *p = *text;

	for (; *scheme != '\0'; scheme++, p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;

		if (c != *scheme)
			return false;
	}
	*text = p;
	return true;
}

/* TLS, where the build has it. */
static bool secure(parser *p)
{
	p->uri->secure = true;
#ifdef RBI_WITH_TLS
	return true;
#else
	p->status = RB_ERR_UNSUPPORTED;
	p->problem = RBI_NO_TLS;
	return false;
#endif
}

/* The scheme, which says what the rest looks like. */
static bool read_scheme(parser *p, const char **text, bool *tcp)
{
	*tcp = !skip_scheme(text, "unix://");
	if (!*tcp)
		return true;
	p->uri->cluster = skip_scheme(text, "redis+cluster://");
	if (p->uri->cluster || skip_scheme(text, "redis://"))
		return true;
	p->uri->cluster = skip_scheme(text, "rediss+cluster://");
	if (p->uri->cluster || skip_scheme(text, "rediss://"))
		return secure(p);
	return refuse(p, "the URI is neither redis:// nor rediss:// nor "
			 "unix:// nor redis+cluster://");
}

static bool read_all(parser *p, const char *text)
{
	bool tcp;

	if (!read_scheme(p, &text, &tcp))
		return false;
	p->uri->port = DEFAULT_PORT;
	p->uri->text_size = strlen(text) + 1;
	p->uri->text =
		rbi_alloc_copy(p->allocator, text, p->uri->text_size - 1);
	if (p->uri->text == NULL)
		return lack_memory(p);
	p->rest = p->uri->text;
	if (!read_credentials(p))
		return false;
	return tcp ? read_tcp(p) : read_unix(p);
}

rb_status rbi_uri_parse(rbi_uri *uri, const char *text, const rb_allocator *a,
			const char **problem)
{
	parser p = { .uri = uri, .allocator = a, .status = RB_OK };

	memset(uri, 0, sizeof(*uri));
	if (text == NULL) {
		*problem = "uri is NULL";
		return RB_ERR_INVALID;
	}
	if (read_all(&p, text))
		return RB_OK;
	rbi_uri_fini(uri, a);
	*problem = p.problem;
	return p.status;
}

void rbi_uri_fini(rbi_uri *uri, const rb_allocator *a)
{
	if (uri->text != NULL)
		rbi_alloc_wipe(uri->text, uri->text_size);
	rbi_free(a, uri->text);
	rbi_free(a, uri->seeds);
	memset(uri, 0, sizeof(*uri));
}
