/*
 * Strings of JSON, with their quotes.
 */
#ifndef REDISBATCH_SRC_JSON_TEXT_H
#define REDISBATCH_SRC_JSON_TEXT_H

#include "out.h"

#include <redisbatch/redisbatch.h>

/* The bytes must be UTF-8 (utf8.h). */
void json_text_string(out *o, rb_slice s);

/* For bytes that are not. */
void json_text_base64(out *o, rb_slice s);

#endif
