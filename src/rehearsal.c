#include "rehearsal.h"

#include "forecast.h"
#include "out.h"
#include "say.h"
#include "signals.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct rehearsal {
	forecast f;
	/* Where the largest record stood. */
	const char *file;
	size_t line;
} rehearsal;

/* A run sends block by block, and so ends a chunk where a block does. */
static exits take_block(void *to, const block *b)
{
	rehearsal *h = to;

	for (size_t i = 0; i < b->n; i++) {
		if (!forecast_add(&h->f, b->keylens[i], b->valuelens[i]))
			continue;
		h->file = b->origins[i].file;
		h->line = b->origins[i].line;
	}
	forecast_end(&h->f);
	return EXITS_FINE;
}

__attribute__((format(printf, 2, 3))) static void put(out *o,
						      const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	out_text(o, line);
}

static void put_numbers(out *o, const reading *r, const rehearsal *h)
{
	const forecast *f = &h->f;

	put(o, "records         %" PRIu64 "\n", r->nrecords);
	put(o, "bad             %" PRIu64 "\n", r->nbad);
	put(o, "without a value %" PRIu64 "\n", r->nmissing);
	put(o, "pairs to send   %" PRIu64 "\n", f->records);
	put(o, "chunks          %" PRIu64 "\n", f->chunks);
	put(o, "commands        %" PRIu64 "\n", f->commands);
	put(o, "bytes to send   %" PRIu64 "\n", f->bytes);
	put(o, "largest chunk   %zu\n", f->largest_chunk);
	put(o, "largest record  %zu", f->largest_record);
	if (h->line > 0)
		put(o, " (%s:%zu)", h->file, h->line);
	out_char(o, '\n');
}

static exits print(const reading *r, const rehearsal *h)
{
	out *o = out_open(NULL);
	int error;

	if (o == NULL) {
		say("out of memory");
		return EXITS_LOCAL;
	}
	put_numbers(o, r, h);
	error = out_flush(o);
	out_free(o);
	if (error == 0)
		return EXITS_FINE;
	if (error == EPIPE)
		return (exits)((int)EXITS_SIGNAL + SIGPIPE);
	say("cannot write standard output: %s", strerror(error));
	return EXITS_LOCAL;
}

exits rehearsal_run(reading *r, const rb_options *o, bool is_cluster)
{
	const rb_stats nothing = { .struct_size = sizeof(nothing) };
	rehearsal h = { .f = forecast_begin(o) };
	exits status;
	exits ended;

	status = reading_run(r, take_block, &h);
	if (status == EXITS_FINE)
		status = print(r, &h);
	if (is_cluster && !report_is_quiet(r->report))
		report_say(r->report, "a cluster gets a command for each slot, "
				      "so more than that");
	else if (o->expire_ms != 0 && h.f.tail_args == 2 &&
		 !report_is_quiet(r->report))
		report_say(r->report, "a server that knows MSETEX gets fewer "
				      "commands and bytes");
	report_hush(r->report);
	ended = report_end(r->report, &nothing);
	if (signals_caught() != 0)
		return (exits)((int)EXITS_SIGNAL + signals_caught());
	return status != EXITS_FINE ? status : ended;
}
