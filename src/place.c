#include "place.h"

#include "password.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The longest name of DNS, and of what this system takes for a path. */
enum { LONGEST_HOST = 255, LONGEST_PATH = 107 };

static const char no_memory[] = "out of memory";

typedef struct scheme {
	const char *text;
	place_kind kind;
	bool tls;
} scheme;

static const scheme schemes[] = {
	{ "redis://", PLACE_HOST, false },
	{ "rediss://", PLACE_HOST, true },
	{ "redis+cluster://", PLACE_CLUSTER, false },
	{ "rediss+cluster://", PLACE_CLUSTER, true },
	{ "unix://", PLACE_SOCKET, false },
};

enum { NSCHEMES = sizeof(schemes) / sizeof(schemes[0]) };

void place_fini(place *p)
{
	free(p->address);
	password_free(p->user);
	password_free(p->password);
	free(p->db);
	*p = (place){ .address = NULL };
}

/* ------------------------------------------------------------- encoding -- */

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("-._~", c) != NULL;
}

/* `also` is left as it is, too. NULL: out of memory. */
static char *encode(const char *text, char also)
{
	static const char digits[] = "0123456789ABCDEF";
	char *encoded = malloc(3 * strlen(text) + 1);
	char *to = encoded;

	for (; encoded != NULL && *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (is_plain(c) || *text == also) {
			*to++ = *text;
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	if (encoded != NULL)
		*to = '\0';
	return encoded;
}

/* -------------------------------------------------------------- reading -- */

static const scheme *find_scheme(const char *uri)
{
	for (size_t i = 0; i < NSCHEMES; i++) {
		if (strncasecmp(uri, schemes[i].text,
				strlen(schemes[i].text)) == 0)
			return &schemes[i];
	}
	return NULL;
}

/* [user][:password], up to end. */
static bool read_login(place *p, const char *text, const char *end)
{
	const char *colon = memchr(text, ':', (size_t)(end - text));
	const char *name_end = colon != NULL ? colon : end;

	if (name_end > text)
		p->user = strndup(text, (size_t)(name_end - text));
	if (name_end > text && p->user == NULL)
		return false;
	if (colon == NULL || colon + 1 == end)
		return true;
	p->password = strndup(colon + 1, (size_t)(end - colon - 1));
	return p->password != NULL;
}

/* Cuts the database off: "/3" behind a host, "?db=3" behind a path. */
static bool read_db(place *p)
{
	const char *mark = p->kind == PLACE_SOCKET ? "?db=" : "/";
	char *db = strstr(p->address, mark);

	if (db == NULL)
		return true;
	if (db[strlen(mark)] != '\0') {
		p->db = strdup(db + strlen(mark));
		if (p->db == NULL)
			return false;
	}
	*db = '\0';
	return true;
}

/* The last @ of the login, so that one in a password need not be encoded. */
static const char *login_end(const char *text)
{
	const char *end = text + strcspn(text, "/?#");

	while (end > text && *end != '@')
		end--;
	return *end == '@' ? end : NULL;
}

const char *place_read(place *p, const char *uri)
{
	const scheme *s = find_scheme(uri);
	const char *end;

	if (s == NULL)
		return "the URI is none of redis://, unix:// and "
		       "redis+cluster://";
	uri += strlen(s->text);
	p->kind = s->kind;
	p->tls = s->tls;
	end = login_end(uri);
	if (end != NULL) {
		if (!read_login(p, uri, end))
			return no_memory;
		uri = end + 1;
	}
	p->address = strdup(uri);
	return p->address != NULL && read_db(p) ? NULL : no_memory;
}

/* --------------------------------------------------------- from options -- */

/* What would be taken for another part of the URI, or is in no name. */
static bool is_host(const char *host)
{
	for (; *host != '\0'; host++) {
		if ((unsigned char)*host <= ' ' || *host == 0x7f ||
		    strchr("/?#@,[]", *host) != NULL)
			return false;
	}
	return true;
}

/* An address of IPv6 has two colons or more; brackets around it are fine. */
static const char *check_host(const char *host, bool *ipv6)
{
	const char *colon = strchr(host, ':');

	if (*host == '\0')
		return "the host is empty";
	if (strlen(host) > LONGEST_HOST)
		return "the host is longer than 255 bytes";
	if (!is_host(host))
		return "the host has a character that no host has";
	*ipv6 = colon != NULL && strchr(colon + 1, ':') != NULL;
	if (colon != NULL && !*ipv6)
		return "the host has a colon; its port is given by --port";
	return NULL;
}

const char *place_at_host(place *p, const char *host, unsigned port)
{
	char bare[LONGEST_HOST + 1];
	size_t len = strlen(host);
	bool ipv6 = false;
	const char *problem;

	if (len > 2 && len < sizeof(bare) && host[0] == '[' &&
	    host[len - 1] == ']') {
		memcpy(bare, host + 1, len - 2);
		bare[len - 2] = '\0';
		host = bare;
	}
	problem = check_host(host, &ipv6);
	if (problem != NULL)
		return problem;
	p->kind = PLACE_HOST;
	p->address = malloc(strlen(host) + sizeof("[]:65535"));
	if (p->address == NULL)
		return no_memory;
	/* The size was reckoned from it. */
	(void)snprintf(p->address, strlen(host) + sizeof("[]:65535"),
		       ipv6 ? "[%s]:%u" : "%s:%u", host, port);
	return NULL;
}

/* The library wants it absolute. */
const char *place_at_socket(place *p, const char *path)
{
	char absolute[4096];
	size_t len = 0;

	if (*path == '\0')
		return "the path of the socket is empty";
	if (strlen(path) > LONGEST_PATH)
		return "the path of the socket is longer than 107 bytes";
	if (*path != '/') {
		if (getcwd(absolute, sizeof(absolute) - LONGEST_PATH - 2) ==
		    NULL)
			return "the working directory is not known";
		len = strlen(absolute);
		absolute[len++] = '/';
	}
	memcpy(absolute + len, path, strlen(path) + 1);
	p->kind = PLACE_SOCKET;
	p->address = encode(absolute, '/');
	return p->address != NULL ? NULL : no_memory;
}

static bool replace(char **part, const char *raw)
{
	char *encoded;

	if (raw == NULL)
		return true;
	encoded = encode(raw, '\0');
	if (encoded == NULL)
		return false;
	password_free(*part);
	*part = encoded;
	return true;
}

bool place_login(place *p, const char *user, const char *password)
{
	return replace(&p->user, user) && replace(&p->password, password);
}

bool place_choose(place *p, unsigned db)
{
	char text[16];
	char *copy;

	(void)snprintf(text, sizeof(text), "%u", db);
	copy = strdup(text);
	if (copy == NULL)
		return false;
	free(p->db);
	p->db = copy;
	return true;
}

static bool copy_part(char **to, const char *from)
{
	*to = from != NULL ? strdup(from) : NULL;
	return (*to != NULL) == (from != NULL);
}

bool place_beside(const place *p, const char *host, unsigned port, place *out)
{
	*out = (place){ .tls = p->tls };
	if (place_at_host(out, host, port) == NULL &&
	    copy_part(&out->user, p->user) &&
	    copy_part(&out->password, p->password))
		return true;
	place_fini(out);
	return false;
}

/* -------------------------------------------------------------- writing -- */

static size_t part_size(const char *part)
{
	/* With what stands before or behind it. */
	return part != NULL ? strlen(part) + sizeof("?db=") : 0;
}

static const char *scheme_of(const place *p)
{
	for (size_t i = 0; i < NSCHEMES; i++) {
		if (schemes[i].kind == p->kind && schemes[i].tls == p->tls)
			return schemes[i].text;
	}
	return schemes[0].text;
}

char *place_uri(const place *p)
{
	const char *start = scheme_of(p);
	bool login = p->user != NULL || p->password != NULL;
	const char *mark = p->kind == PLACE_SOCKET ? "?db=" : "/";
	size_t size = strlen(start) + part_size(p->address) +
		      part_size(p->user) + part_size(p->password) +
		      part_size(p->db);
	char *uri = malloc(size);

	if (uri == NULL)
		return NULL;
	(void)snprintf(uri, size, "%s%s%s%s%s%s%s%s", start,
		       p->user != NULL ? p->user : "",
		       p->password != NULL ? ":" : "",
		       p->password != NULL ? p->password : "", login ? "@" : "",
		       p->address, p->db != NULL ? mark : "",
		       p->db != NULL ? p->db : "");
	return uri;
}
