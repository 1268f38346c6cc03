#include "report.h"

#include "say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const args_option options[] = {
	{ 'q', "quiet", NULL, "no summary" },
};

struct report {
	const char *what;
	bool quiet;
	report_step sum;
	uint64_t failed;
};

report *report_new(const char *what)
{
	report *r = calloc(1, sizeof(*r));

	if (r == NULL)
		say("out of memory");
	else
		r->what = what;
	return r;
}

void report_free(report *r)
{
	free(r);
}

static exits take(void *to, int key, const char *value)
{
	report *r = to;

	(void)key;
	(void)value;
	r->quiet = true;
	return EXITS_FINE;
}

args_group report_group(report *r)
{
	return (args_group){ "Report", options,
			     sizeof(options) / sizeof(options[0]), take, r };
}

exits report_begin(report *r, char delimiter)
{
	(void)r;
	(void)delimiter;
	return EXITS_FINE;
}

void report_expect(report *r, uint64_t nentries, uint64_t nbytes)
{
	(void)r;
	(void)nentries;
	(void)nbytes;
}

void report_advance(report *r, const report_step *step)
{
	r->sum.answered += step->answered;
	r->sum.missing += step->missing;
	r->sum.bytes += step->bytes;
}

void report_fail(report *r, const report_failure *f)
{
	r->failed++;
	say("%.*s: %s", (int)f->key.len, f->key.data, f->words);
}

uint64_t report_failed(const report *r)
{
	return r->failed;
}

void report_say(report *r, const char *format, ...)
{
	char line[1024];
	va_list args;

	(void)r;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	say("%s", line);
}

exits report_end(report *r, const rb_stats *stats)
{
	if (!r->quiet)
		fprintf(stderr,
			"%" PRIu64 " %s, %" PRIu64 " missing, %" PRIu64
			" failed, %" PRIu64 " commands\n",
			r->sum.answered, r->what, r->sum.missing, r->failed,
			stats->commands);
	return r->failed == 0 ? EXITS_FINE : EXITS_PARTIAL;
}
