/*
 * One reply in one form, without its line: what reply.c puts together.
 */
#ifndef REDISBATCH_SRC_REPLY_FORMS_H
#define REDISBATCH_SRC_REPLY_FORMS_H

#include "reply.h"

/* Further lines are indented by so many columns; the last one has no newline. */
void reply_text(out *o, const redisReply *reply, size_t indent);

/*
 * As JSON. What JSON has no word for is an object of one member: "error" for an
 * error inside of a reply, "base64" for bytes that are no UTF-8, "map" for a
 * map, which is a list of pairs, "double" for inf, -inf and nan, "number" for a
 * big number.
 */
void reply_json(out *o, const redisReply *reply);

#endif
