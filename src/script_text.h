/*
 * A line of text taken apart into the words of a command, quoted as redis-cli
 * has it:
 *
 *	SET key "two words\n" 'it''s' \x
 *
 * Blanks separate words. Between double quotes \n \r \t \b \a and \xHH stand for
 * one byte, and a backslash before any other byte for that byte; between single
 * quotes only \' does. Outside of quotes a backslash is a backslash. A closing
 * quote must be followed by a blank or the end of the line. All other bytes,
 * NUL among them, are themselves.
 */
#ifndef REDISBATCH_SRC_SCRIPT_TEXT_H
#define REDISBATCH_SRC_SCRIPT_TEXT_H

#include "scratch.h"
#include "words.h"

/* Is there no command in the line: only blanks, or a # first? */
bool script_text_is_empty(rb_slice line);

/* The words, as they stand in bytes. NULL, or why the line is none: a static
 * text. A line without words has none of them. */
const char *script_text_split(rb_slice line, scratch *bytes, words *w);

#endif
