/*
 * Connection URIs, of any bytes up to the first NUL; byte 0 is the size of the
 * buffer for the node's name.
 *
 * What parses names either hosts and ports or a path, all of it within the
 * URI's own memory; what is refused has a text that says why, and
 * rb_uri_problem() agrees.
 */
#include "alloc.h"
#include "dial.h"
#include "fuzz.h"
#include "uri.h"

#define DB_MAX 1000000

/* A part lies in the memory of the URI, with its NUL. */
static void check_part(const rbi_uri *uri, const char *part)
{
	const char *end = uri->text + uri->text_size;

	if (part == NULL)
		return;
	must(part >= uri->text && part < end);
	must(memchr(part, '\0', (size_t)(end - part)) != NULL);
}

static void check_seeds(const rbi_uri *uri)
{
	size_t i;

	must(uri->cluster == (uri->seeds != NULL));
	must(uri->cluster == (uri->nseeds > 0));
	must(uri->nseeds <= RBI_URI_SEEDS_MAX);
	for (i = 0; i < uri->nseeds; i++) {
		check_part(uri, uri->seeds[i].host);
		must(uri->seeds[i].host[0] != '\0');
		must(uri->seeds[i].port >= 1 && uri->seeds[i].port <= 65535);
	}
	if (!uri->cluster)
		return;
	must(uri->host == uri->seeds[0].host);
	must(uri->port == uri->seeds[0].port);
}

static void check_parts(const rbi_uri *uri)
{
	must(uri->text != NULL && uri->text_size > 0);
	check_part(uri, uri->host);
	check_part(uri, uri->path);
	check_part(uri, uri->user);
	check_part(uri, uri->password);
	must((uri->host == NULL) != (uri->path == NULL));
	if (uri->host != NULL) {
		must(uri->host[0] != '\0');
		must(uri->port >= 1 && uri->port <= 65535);
	} else {
		must(uri->path[0] == '/');
		must(strlen(uri->path) <= RBI_URI_PATH_MAX);
	}
	check_seeds(uri);
	must(uri->db <= DB_MAX);
	must(uri->user == NULL || uri->user[0] != '\0');
	must(uri->password == NULL || uri->password[0] != '\0');
	must(uri->user == NULL || uri->password != NULL);
}

/* In a block of exactly that size it is the beginning of the whole name. */
static void check_node(const rbi_uri *uri, size_t size)
{
	char name[8192];
	char *buf = malloc(size > 0 ? size : 1);

	must(buf != NULL);
	rbi_dial_node(uri, name, sizeof(name));
	must(strstr(name, uri->host != NULL ? uri->host : uri->path) != NULL);
	rbi_dial_node(uri, buf, size);
	if (size > 0) {
		must(memchr(buf, '\0', size) != NULL);
		must(strncmp(buf, name, size - 1) == 0);
		must(strlen(buf) == size - 1 || strcmp(buf, name) == 0);
	}
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *problem = NULL;
	input in = { data, size };
	size_t room = take_byte(&in);
	rb_status status;
	rbi_uri uri;
	char *text;

	if (in.size > 4000)
		return 0;
	text = malloc(in.size + 1);
	must(text != NULL);
	if (in.size > 0)
		memcpy(text, in.data, in.size);
	text[in.size] = '\0';

	status = rbi_uri_parse(&uri, text, &rbi_alloc_default, &problem);
	if (status == RB_OK) {
		must(rb_uri_problem(text) == NULL);
		check_parts(&uri);
		check_node(&uri, room);
		rbi_uri_fini(&uri, &rbi_alloc_default);
	} else {
		must(status == RB_ERR_INVALID || status == RB_ERR_UNSUPPORTED);
		must(problem != NULL && problem[0] != '\0');
		must(rb_uri_problem(text) == problem);
		must(uri.text == NULL);
	}
	free(text);
	return 0;
}
