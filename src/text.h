/*
 * Records of a file or of standard input, as lines or ended by NUL. Every byte
 * of a record is literal; an empty record counts; the last one may lack its
 * delimiter, and a delimiter at the end makes no further record. A byte order
 * mark at the very beginning of lines is dropped.
 */
#ifndef REDISBATCH_SRC_TEXT_H
#define REDISBATCH_SRC_TEXT_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

typedef struct text text;

typedef enum text_got {
	TEXT_RECORD = 1,
	TEXT_END = 0,
	/* The file could not be read, errno of it; or a signal ended the run,
	 * EINTR. */
	TEXT_FAILED = -1,
	/* A record is longer than 512 MiB. */
	TEXT_TOO_LONG = -2
} text_got;

/* NULL, with errno, when the file cannot be opened. "-" is standard input. The
 * path is borrowed. */
text *text_open(const char *path, char delimiter);
void text_close(text *t);

/* The next record, without its delimiter; valid until the next call. */
text_got text_next(text *t, rb_slice *record);

/* The number of the record that text_next() gave last, from 1. */
size_t text_line(const text *t);

/* For messages: the path, "standard input" for "-". */
const char *text_name(const text *t);

/* How many bytes were taken so far, and how many there are: 0 if not known,
 * as with a pipe. */
uint64_t text_taken(const text *t);
uint64_t text_size(const text *t);

#endif
