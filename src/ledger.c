#include "ledger.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 1024 };

/* What a report said, for all of its commands that failed. */
typedef struct note {
	size_t holders;
	rb_outcome outcome;
	/* The node, a NUL, the message. */
	const char *message;
	char node[];
} note;

typedef enum fate { OPEN, REFUSED, UNANSWERED, SETTLED } fate;

typedef struct entry {
	fate fate;
	rb_status status;
	/* The server's words, if it was refused. */
	char *words;
	note *note;
	const char *file;
	size_t line;
	size_t len;
	char raw[];
} entry;

/* A ring of the entries first .. first + n - 1. */
struct ledger {
	ledger_tell *tell;
	void *arg;
	entry **entries;
	size_t capacity;
	size_t first;
	size_t n;
};

ledger *ledger_new(ledger_tell *tell, void *arg)
{
	ledger *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->entries = calloc(LEAST, sizeof(entry *));
	l->capacity = LEAST;
	l->tell = tell;
	l->arg = arg;
	if (l->entries == NULL) {
		free(l);
		return NULL;
	}
	return l;
}

/* -------------------------------------------------------------- notes -- */

static note *note_new(const rb_chunk *chunk)
{
	size_t node = strlen(chunk->node) + 1;
	size_t message = strlen(chunk->message) + 1;
	note *made = malloc(sizeof(*made) + node + message);

	if (made == NULL)
		return NULL;
	made->holders = 0;
	made->outcome = chunk->outcome;
	memcpy(made->node, chunk->node, node);
	memcpy(made->node + node, chunk->message, message);
	made->message = made->node + node;
	return made;
}

static void note_drop(note *held)
{
	if (held != NULL && --held->holders == 0)
		free(held);
}

/* ------------------------------------------------------------- entries -- */

static entry **slot_of(const ledger *l, size_t number)
{
	return &l->entries[number & (l->capacity - 1)];
}

static bool grow(ledger *l)
{
	size_t capacity = 2 * l->capacity;
	entry **entries = calloc(capacity, sizeof(entry *));

	if (entries == NULL)
		return false;
	for (size_t i = l->first; i < l->first + l->n; i++)
		entries[i & (capacity - 1)] = *slot_of(l, i);
	free(l->entries);
	l->entries = entries;
	l->capacity = capacity;
	return true;
}

bool ledger_add(ledger *l, const script_item *item)
{
	entry *e;

	if (l->n == l->capacity && !grow(l))
		return false;
	e = malloc(sizeof(*e) + item->raw.len);
	if (e == NULL)
		return false;
	*e = (entry){ .file = item->file,
		      .line = item->line,
		      .len = item->raw.len };
	memcpy(e->raw, item->raw.data, item->raw.len);
	*slot_of(l, l->first + l->n) = e;
	l->n++;
	return true;
}

static void drop_first(ledger *l)
{
	entry **slot = slot_of(l, l->first);

	note_drop((*slot)->note);
	free((*slot)->words);
	free(*slot);
	*slot = NULL;
	l->first++;
	l->n--;
}

void ledger_free(ledger *l)
{
	if (l == NULL)
		return;
	while (l->n > 0)
		drop_first(l);
	free(l->entries);
	free(l);
}

/* NULL: all is settled with this one, or it was never added. */
static entry *find(const ledger *l, size_t number)
{
	if (number < l->first || number - l->first >= l->n)
		return NULL;
	return *slot_of(l, number);
}

void ledger_place(const ledger *l, size_t number, const char **file,
		  size_t *line)
{
	const entry *e = find(l, number);

	*file = e == NULL ? NULL : e->file;
	*line = e == NULL ? 0 : e->line;
}

static void settle(ledger *l, entry *e)
{
	e->fate = SETTLED;
	while (l->n > 0 && (*slot_of(l, l->first))->fate == SETTLED)
		drop_first(l);
}

/* --------------------------------------------------------------- fates -- */

/* Without a report nobody knows what became of what may have been sent. */
static rb_outcome outcome_of(const entry *e)
{
	if (e->fate == REFUSED)
		return RB_ANSWERED;
	if (e->note == NULL)
		return e->status == RB_ERR_SKIPPED ? RB_NOT_SENT : RB_UNKNOWN;
	if (e->note->outcome == RB_NOT_SENT || e->note->outcome == RB_REJECTED)
		return e->note->outcome;
	/* Answered in part: who knows which. */
	return RB_UNKNOWN;
}

static void tell(ledger *l, entry *e, const char *words)
{
	const ledger_failure failure = {
		.raw = { e->raw, e->len },
		.file = e->file,
		.line = e->line,
		.words = e->words != NULL ? e->words :
			 e->note != NULL && e->note->message[0] != '\0' ?
					    e->note->message :
					    words,
		.node = e->note != NULL ? e->note->node : "",
		.outcome = outcome_of(e),
	};

	l->tell(l->arg, &failure);
	settle(l, e);
}

void ledger_answered(ledger *l, size_t number)
{
	entry *e = find(l, number);

	if (e != NULL)
		settle(l, e);
}

void ledger_refused(ledger *l, size_t number, rb_slice words, bool known)
{
	entry *e = find(l, number);

	if (e == NULL)
		return;
	e->fate = REFUSED;
	/* Words that do not fit into memory are not waited for. */
	e->words = strndup(words.data, words.len);
	if (known || e->note != NULL || e->words == NULL)
		tell(l, e, "(out of memory)");
}

void ledger_unanswered(ledger *l, size_t number, rb_status status)
{
	entry *e = find(l, number);

	if (e == NULL)
		return;
	e->fate = UNANSWERED;
	e->status = status;
	if (e->note != NULL)
		tell(l, e, rb_status_text(status));
}

static void attach(ledger *l, size_t number, note *made)
{
	entry *e = find(l, number);

	if (e == NULL || e->fate == SETTLED)
		return;
	note_drop(e->note);
	e->note = made;
	made->holders++;
	if (e->fate != OPEN)
		tell(l, e, rb_status_text(e->status));
}

void ledger_report(ledger *l, const rb_chunk *chunk)
{
	note *made;

	if (chunk->status == RB_OK)
		return;
	made = note_new(chunk);
	if (made == NULL)
		return;
	/* It must not go while it is handed out. */
	made->holders++;
	for (size_t i = 0; i < chunk->count; i++)
		attach(l,
		       chunk->entries != NULL ? chunk->entries[i] :
						chunk->first + i,
		       made);
	note_drop(made);
}

void ledger_end(ledger *l, const char *words)
{
	while (l->n > 0) {
		entry *e = *slot_of(l, l->first);

		if (e->fate == OPEN)
			e->fate = UNANSWERED;
		tell(l, e, words);
	}
}
