#include "bench_prefix.h"

#include "bench_keys.h"
#include "say.h"
#include "scan.h"

#include <stdlib.h>

enum { SHOWN = 200 };

static exits refuse(const char *prefix, rb_slice key)
{
	say("the server has keys that begin with '%s' already, such as '%.*s': "
	    "remove them, or choose another --prefix",
	    prefix, (int)(key.len > SHOWN ? SHOWN : key.len), key.data);
	return EXITS_USAGE;
}

static exits look(scan *s, const char *prefix)
{
	rb_slice key;
	int got = scan_next(s, &key);
	exits status = scan_status(s);

	if (got > 0)
		return refuse(prefix, key);
	/* A signal has no status of the scan's. */
	if (got < 0 && status == EXITS_FINE)
		return EXITS_SERVER;
	return status;
}

exits bench_prefix_check(connection *c, rb_client *client, const char *prefix)
{
	char *pattern = bench_keys_pattern(prefix);
	const scan_order order = { pattern, 1000 };
	rb_options o;
	scan *s = NULL;
	exits status;

	if (pattern == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	rb_options_init(&o);
	status = scan_open(c, client, &o, &order, &s);
	if (status == EXITS_FINE)
		status = look(s, prefix);
	scan_free(s);
	free(pattern);
	return status;
}
