#include "reading.h"

#include "rest.h"
#include "scratch.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is needed while it lasts. */
typedef struct session {
	reading *r;
	reading_take *take;
	void *to;
	block *b;
	pairs *in;
	bool has_header;
	/* Bytes of the last file that were read. */
	uint64_t taken;
	uint64_t told; /* bytes of the file that the report knows of */
	scratch record;
} session;

/* ------------------------------------------------------------ beforehand -- */

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* 0, or why it cannot be read. */
static int probe(const char *path, uint64_t *size)
{
	int fd = is_stdin(path) ? STDIN_FILENO :
				  open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int error = 0;

	*size = 0;
	if (fd < 0 || fstat(fd, &st) != 0)
		error = errno;
	else if (S_ISDIR(st.st_mode))
		error = EISDIR;
	else if (S_ISREG(st.st_mode))
		*size = (uint64_t)st.st_size;
	if (fd > STDIN_FILENO)
		close(fd);
	return error;
}

exits reading_check(const reading *r)
{
	uint64_t sum = 0;
	bool known = true;

	for (size_t i = 0; i < r->npaths; i++) {
		uint64_t size;
		int error = probe(r->paths[i], &size);

		if (error != 0) {
			report_say(r->report, "%s: %s", r->paths[i],
				   strerror(error));
			return EXITS_LOCAL;
		}
		known = known && size > 0;
		sum += size;
	}
	report_expect(r->report, 0, known ? sum : 0);
	return EXITS_FINE;
}

/* --------------------------------------------------------------- records -- */

static exits hand_on(session *s)
{
	exits status = EXITS_FINE;

	if (s->b->n > 0)
		status = s->take(s->to, s->b);
	block_clear(s->b);
	return status;
}

static void tell_taken(session *s)
{
	uint64_t taken = pairs_taken(s->in);
	const report_step step = { .input_bytes = taken - s->told };

	s->told = taken;
	report_advance(s->r->report, &step);
}

static exits no_memory(session *s)
{
	report_say(s->r->report, "out of memory");
	return EXITS_LOCAL;
}

static exits take_pair(session *s, const pair *p)
{
	block_added added = block_add(s->b, p);
	exits status;

	if (added == BLOCK_FULL) {
		tell_taken(s);
		status = hand_on(s);
		if (status != EXITS_FINE)
			return status;
		added = block_add(s->b, p);
	}
	return added == BLOCK_ADDED ? EXITS_FINE : no_memory(s);
}

/* With the newline that ends it. */
static bool whole_record(session *s, const pair *p, rb_slice *record)
{
	scratch_clear(&s->record);
	if (!scratch_add(&s->record, p->record.data, p->record.len) ||
	    !scratch_add(&s->record, "\n", 1))
		return false;
	*record = (rb_slice){ s->record.data, s->record.len };
	return true;
}

/* The --failed file, which is read with the same options, has one too. */
static exits keep_header(session *s, const pair *p)
{
	rb_slice record;

	if (s->has_header)
		return EXITS_FINE;
	s->has_header = true;
	if (!whole_record(s, p, &record))
		return no_memory(s);
	report_keep(s->r->report, record);
	return EXITS_FINE;
}

static exits refuse(session *s, const pair *p)
{
	report_failure f = { .key = p->key,
			     .file = p->file,
			     .line = p->line,
			     .node = "",
			     .words = p->words };

	if (f.key.data == NULL)
		f.key = p->record;
	if (!whole_record(s, p, &f.record))
		return no_memory(s);
	s->r->nbad++;
	report_fail(s->r->report, &f);
	return EXITS_FINE;
}

/* What the library would refuse together with all others of its block. */
static exits take_checked(session *s, pair *p)
{
	if (p->value.len > s->r->max_value)
		snprintf(p->words, sizeof(p->words),
			 "the value has %zu bytes, above --max-value",
			 p->value.len);
	else if (p->key.len > READING_MOST)
		snprintf(p->words, sizeof(p->words),
			 "the key is longer than 512 MiB");
	else
		return take_pair(s, p);
	return refuse(s, p);
}

/* True: there are more. */
static bool take_next(session *s, exits *status)
{
	pair p;

	switch (pairs_next(s->in, &p)) {
	case PAIRS_END:
		return false;
	case PAIRS_PAIR:
		s->r->nrecords++;
		*status = take_checked(s, &p);
		return true;
	case PAIRS_HEADER:
		*status = keep_header(s, &p);
		return true;
	case PAIRS_MISSING:
		s->r->nrecords++;
		s->r->nmissing++;
		return true;
	case PAIRS_BAD:
		s->r->nrecords++;
		*status = refuse(s, &p);
		return true;
	case PAIRS_FAILED:
		break;
	}
	if (signals_caught() != 0)
		return false;
	report_say(s->r->report, "%s:%zu: %s; nothing is read from there on",
		   p.file, p.line, p.words);
	*status = EXITS_LOCAL;
	return false;
}

static exits read_file(session *s, const char *path)
{
	exits status = EXITS_FINE;

	s->told = 0;
	s->in = pairs_open(path, &s->r->options);
	if (s->in == NULL) {
		report_say(s->r->report, "%s: %s", path, strerror(errno));
		return EXITS_LOCAL;
	}
	while (status == EXITS_FINE && signals_caught() == 0) {
		if (!take_next(s, &status))
			break;
	}
	tell_taken(s);
	s->taken = pairs_taken(s->in);
	pairs_close(s->in);
	return status;
}

/* What was not read stands behind what was read and failed. A file that was not
 * begun is named alone: its form may be another one. */
static void keep_rest(session *s, size_t nread)
{
	reading *r = s->r;

	rest_keep(r->report, r->paths[nread - 1], s->taken);
	for (size_t i = nread; i < r->npaths; i++)
		report_say(r->report, "%s was not read", r->paths[i]);
}

exits reading_run(reading *r, reading_take *take, void *to)
{
	session s = { .r = r, .take = take, .to = to, .b = block_new() };
	exits status = s.b != NULL ? EXITS_FINE : no_memory(&s);
	size_t nread = 0;
	exits last;

	while (nread < r->npaths && status == EXITS_FINE &&
	       signals_caught() == 0)
		status = read_file(&s, r->paths[nread++]);
	/* Also when a file could not be read to its end. */
	last = s.b != NULL ? hand_on(&s) : EXITS_FINE;
	if (status == EXITS_FINE)
		status = last;
	if (nread > 0 && signals_caught() != 0)
		keep_rest(&s, nread);
	block_free(s.b);
	scratch_free(&s.record);
	return status;
}
