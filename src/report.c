#include "report.h"

#include "listing.h"
#include "meter.h"
#include "out.h"
#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
	KEY_PROGRESS = 256,
	KEY_FAILED,
	KEY_PRICE,
	/* How many failures are listed on standard error. */
	LISTED = 20,
	LINE = 512,
	SHOWN_KEY = 64,
	BAR_EVERY_US = 100000,
	PLAIN_EVERY_US = 10000000
};

static const args_option options[] = {
	{ KEY_PROGRESS, "progress", "HOW",
	  "auto, bar, plain (a line every 10 s) or none (auto: a bar if "
	  "standard error is a terminal)" },
	{ KEY_FAILED, "failed", "FILE",
	  "write what failed to FILE, so that it can be fed back in" },
	{ KEY_PRICE, "price", "PRICE",
	  "what a million commands cost; the summary tells the sum" },
	{ 'q', "quiet", NULL, "no progress and no summary" },
};

typedef enum progress { AUTO, BAR, PLAIN, NONE } progress;

struct report {
	progress progress;
	bool quiet;
	/* Below 0: none was given. */
	double price;
	const char *failed_path;
	out *failed;
	char delimiter;

	uint64_t start_us;
	uint64_t drawn_us;
	/* How many columns of the bar stand on the terminal. */
	size_t shown;
	bool tells_missing;
	uint64_t missing;
	meter meter;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

report *report_new(const char *what)
{
	report *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		say("out of memory");
		return NULL;
	}
	r->price = -1;
	r->meter.what = what;
	return r;
}

void report_free(report *r)
{
	if (r == NULL)
		return;
	out_free(r->failed);
	free(r);
}

/* ------------------------------------------------------------ options -- */

static exits take_progress(report *r, const char *value)
{
	static const char *const names[] = { "auto", "bar", "plain", "none" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) == 0) {
			r->progress = (progress)i;
			return EXITS_FINE;
		}
	}
	return args_bad("progress", value, "auto, bar, plain or none");
}

static exits take_price(report *r, const char *value)
{
	char *end;
	double price = strtod(value, &end);

	/* Written so that what is not a number fails as well. */
	if (end == value || *end != '\0' || !(price >= 0 && price < 1e9))
		return args_bad("price", value, "a number, as 0.20");
	r->price = price;
	return EXITS_FINE;
}

static exits take(void *to, int key, const char *value)
{
	report *r = to;

	switch (key) {
	case KEY_PROGRESS:
		return take_progress(r, value);
	case KEY_PRICE:
		return take_price(r, value);
	case KEY_FAILED:
		r->failed_path = value;
		return EXITS_FINE;
	default:
		r->quiet = true;
		return EXITS_FINE;
	}
}

args_group report_group(report *r)
{
	return (args_group){ "Report", options,
			     sizeof(options) / sizeof(options[0]), take, r };
}

/* ----------------------------------------------------------- progress -- */

static progress choose_progress(const report *r)
{
	if (r->quiet && r->progress == AUTO)
		return NONE;
	if (r->progress != AUTO)
		return r->progress;
	return isatty(STDERR_FILENO) == 1 ? BAR : NONE;
}

exits report_begin(report *r, char delimiter)
{
	r->delimiter = delimiter;
	r->progress = choose_progress(r);
	r->start_us = now_us();
	r->drawn_us = r->start_us;
	if (r->failed_path == NULL)
		return EXITS_FINE;
	r->failed = out_open(r->failed_path);
	if (r->failed != NULL)
		return EXITS_FINE;
	say("cannot write %s: %s", r->failed_path, strerror(errno));
	return EXITS_LOCAL;
}

void report_tells_missing(report *r)
{
	r->tells_missing = true;
}

void report_expect(report *r, uint64_t nentries, uint64_t nbytes)
{
	r->meter.expected = nentries;
	r->meter.input_size = nbytes;
}

static size_t columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
		return 79;
	/* In the last column some terminals begin a new line. */
	return size.ws_col - 1u;
}

/* Over the bar that stands there, with blanks where it was longer: no terminal
 * needs to know more than a carriage return. */
static void draw_bar(report *r)
{
	char line[LINE];
	size_t len;

	meter_bar(&r->meter, columns(), line, sizeof(line));
	len = strlen(line);
	fprintf(stderr, "\r%s%*s", line,
		len < r->shown ? (int)(r->shown - len) : 0, "");
	fflush(stderr);
	r->shown = len;
}

static void clear_bar(report *r)
{
	if (r->shown > 0)
		fprintf(stderr, "\r%*s\r", (int)r->shown, "");
	r->shown = 0;
}

static void draw(report *r)
{
	char line[LINE];

	if (r->progress == BAR) {
		draw_bar(r);
	} else {
		meter_plain(&r->meter, line, sizeof(line));
		say("%s", line);
	}
}

static void look_at_clock(report *r)
{
	uint64_t every = r->progress == BAR ? BAR_EVERY_US : PLAIN_EVERY_US;
	uint64_t now;

	if (r->progress == NONE)
		return;
	now = now_us();
	r->meter.elapsed_us = now - r->start_us;
	if (now - r->drawn_us < every)
		return;
	r->drawn_us = now;
	draw(r);
}

void report_advance(report *r, const report_step *step)
{
	r->meter.done += step->answered;
	r->meter.bytes += step->bytes;
	r->meter.input_taken += step->input_bytes;
	r->missing += step->missing;
	look_at_clock(r);
}

bool report_is_quiet(const report *r)
{
	return r->quiet;
}

void report_hush(report *r)
{
	r->quiet = true;
}

void report_say(report *r, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	clear_bar(r);
	say("%s", line);
}

/* ----------------------------------------------------------- failures -- */

static void keep_failure(report *r, const report_failure *f)
{
	if (r->failed == NULL)
		return;
	if (f->record.data != NULL) {
		out_write(r->failed, f->record.data, f->record.len);
	} else {
		out_write(r->failed, f->key.data, f->key.len);
		out_char(r->failed, r->delimiter);
	}
}

/* "FILE:LINE: ", "line LINE: " or "". */
static void put_place(const report_failure *f, char *text, size_t size)
{
	text[0] = '\0';
	if (f->line == 0)
		return;
	if (f->file != NULL)
		snprintf(text, size, "%s:%zu: ", f->file, f->line);
	else
		snprintf(text, size, "line %zu: ", f->line);
}

static void list_failure(report *r, const report_failure *f)
{
	bool sent = f->node != NULL && f->node[0] != '\0';
	char place[256];
	char key[SHOWN_KEY];

	put_place(f, place, sizeof(place));
	listing_put(f->key, key, sizeof(key));
	report_say(r, "%s%s%s%s%s%s%s", place, key, f->key.len > 0 ? ": " : "",
		   sent ? f->node : "", sent ? ": " : "", f->words,
		   f->unknown ? " (it may have been done all the same)" : "");
}

void report_fail(report *r, const report_failure *failure)
{
	keep_failure(r, failure);
	if (r->meter.failed < LISTED)
		list_failure(r, failure);
	r->meter.failed++;
	r->meter.done++;
	look_at_clock(r);
}

void report_keep(report *r, rb_slice bytes)
{
	if (r->failed != NULL)
		out_write(r->failed, bytes.data, bytes.len);
}

bool report_keeps(const report *r)
{
	return r->failed != NULL;
}

uint64_t report_failed(const report *r)
{
	return r->meter.failed;
}

/* ------------------------------------------------------------ summary -- */

static void say_not_listed(report *r)
{
	uint64_t more = r->meter.failed - LISTED;

	if (r->meter.failed <= LISTED)
		return;
	if (r->failed_path != NULL)
		report_say(r, "%" PRIu64 " more failed: see %s", more,
			   r->failed_path);
	else
		report_say(r,
			   "%" PRIu64 " more failed; --failed FILE keeps "
			   "them all",
			   more);
}

static void put_cost(const report *r, const rb_stats *stats, char *text,
		     size_t size)
{
	text[0] = '\0';
	if (r->price >= 0)
		snprintf(text, size, " (cost %.6f)",
			 (double)stats->commands * r->price / 1e6);
}

static void put_fates(const report *r, char *text, size_t size)
{
	uint64_t answered = r->meter.done - r->meter.failed;

	if (r->tells_missing)
		snprintf(text, size, "%" PRIu64 " found, %" PRIu64 " missing",
			 answered - r->missing, r->missing);
	else
		snprintf(text, size, "%" PRIu64 " answered", answered);
}

static void say_summary(report *r, const rb_stats *stats)
{
	const meter *m = &r->meter;
	char fates[64];
	char cost[64];
	char sent[32];
	char got[32];
	char time[32];

	put_fates(r, fates, sizeof(fates));
	put_cost(r, stats, cost, sizeof(cost));
	meter_put_bytes(stats->request_bytes, sent, sizeof(sent));
	meter_put_bytes(stats->reply_bytes, got, sizeof(got));
	meter_put_time(m->elapsed_us, time, sizeof(time));
	say("%" PRIu64 " %s: %s, %" PRIu64 " failed; %" PRIu64
	    " commands%s, %s sent, %s received, %s, %" PRIu64 " %s/s",
	    m->done, m->what, fates, m->failed, stats->commands, cost, sent,
	    got, time, meter_rate(m->done - m->failed, m->elapsed_us), m->what);
}

static exits complete_failed(report *r)
{
	int error = r->failed == NULL ? 0 : out_commit(r->failed);

	if (error == 0)
		return EXITS_FINE;
	say("cannot write %s: %s", r->failed_path, strerror(error));
	return EXITS_LOCAL;
}

exits report_end(report *r, const rb_stats *stats)
{
	r->meter.elapsed_us = now_us() - r->start_us;
	clear_bar(r);
	say_not_listed(r);
	if (!r->quiet)
		say_summary(r, stats);
	if (complete_failed(r) != EXITS_FINE)
		return EXITS_LOCAL;
	return r->meter.failed == 0 ? EXITS_FINE : EXITS_PARTIAL;
}
