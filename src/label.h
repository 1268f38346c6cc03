/*
 * A command as a message names it: its words with blanks between, the first of
 * them only where it is long. Passwords are not in it.
 */
#ifndef REDISBATCH_SRC_LABEL_H
#define REDISBATCH_SRC_LABEL_H

#include <redisbatch/redisbatch.h>
#include <stdbool.h>

enum { LABEL_SIZE = 96 };

/* Writes it to label, unescaped; what was written. */
rb_slice label_make(const rb_command *command, char label[LABEL_SIZE]);

/* The word is name, in whatever case. */
bool label_is(const rb_command *command, size_t word, const char *name);

#endif
