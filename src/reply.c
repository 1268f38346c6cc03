#include "reply.h"

#include "escape.h"
#include "json_text.h"
#include "reply_forms.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

rb_slice reply_string(const redisReply *reply)
{
	const rb_slice none = { "", 0 };

	return reply->str == NULL ? none : (rb_slice){ reply->str, reply->len };
}

bool reply_is_list(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ARRAY ||
	       (reply->type >= REPLY_MAP && reply->type <= REPLY_PUSH);
}

const redisReply *reply_error(const redisReply *reply)
{
	const redisReply *found = NULL;

	if (reply->type == REDIS_REPLY_ERROR)
		return reply;
	if (!reply_is_list(reply))
		return NULL;
	for (size_t i = 0; i < reply->elements && found == NULL; i++)
		found = reply_error(reply->element[i]);
	return found;
}

static rb_slice slice_of(const char *text)
{
	return (rb_slice){ text, strlen(text) };
}

/* --------------------------------------------------------------- text -- */

/* "12: " or "FILE:12: "; how many columns that took. */
static size_t put_place(out *o, const reply_place *place)
{
	uint64_t before = out_written(o);
	char line[32];

	if (place->file != NULL) {
		escape_plain(o, slice_of(place->file));
		out_char(o, ':');
	}
	snprintf(line, sizeof(line), "%zu: ", place->line);
	out_text(o, line);
	return (size_t)(out_written(o) - before);
}

/* ---------------------------------------------------------------- tsv -- */

static const char *type_name(const redisReply *reply)
{
	static const char *const names[] = {
		[REDIS_REPLY_STRING] = "string",
		[REDIS_REPLY_ARRAY] = "array",
		[REDIS_REPLY_INTEGER] = "integer",
		[REDIS_REPLY_NIL] = "nil",
		[REDIS_REPLY_STATUS] = "status",
		[REDIS_REPLY_ERROR] = "error",
		[REPLY_DOUBLE] = "double",
		[REPLY_BOOL] = "boolean",
		[REPLY_MAP] = "map",
		[REPLY_SET] = "set",
		[REPLY_ATTRIBUTE] = "map",
		[REPLY_PUSH] = "array",
		[REPLY_NUMBER] = "number",
		[REPLY_VERBATIM] = "string",
	};
	size_t type = (size_t)reply->type;

	if (type >= sizeof(names) / sizeof(names[0]) || names[type] == NULL)
		return "unknown";
	return names[type];
}

static void put_tsv_head(out *o, const reply_place *place, const char *type)
{
	char line[32];

	if (place->file != NULL) {
		escape_tsv(o, slice_of(place->file));
		out_char(o, ':');
	}
	snprintf(line, sizeof(line), "%zu\t", place->line);
	out_text(o, line);
	out_text(o, type);
	out_char(o, '\t');
}

/* As one field, or as many as a list has leaves; *first: none stands yet. */
static void put_fields(out *o, const redisReply *reply, bool *first)
{
	char number[32];

	if (reply_is_list(reply)) {
		for (size_t i = 0; i < reply->elements; i++)
			put_fields(o, reply->element[i], first);
		return;
	}
	if (!*first)
		out_char(o, '\t');
	*first = false;
	if (reply->type == REDIS_REPLY_NIL) {
		out_text(o, "\\N");
	} else if (reply->type == REPLY_BOOL) {
		out_text(o, reply->integer != 0 ? "true" : "false");
	} else if (reply->type == REDIS_REPLY_INTEGER) {
		snprintf(number, sizeof(number), "%lld", reply->integer);
		out_text(o, number);
	} else {
		escape_tsv(o, reply_string(reply));
	}
}

static void put_tsv(out *o, const reply_place *place, const redisReply *reply)
{
	bool first = true;

	put_tsv_head(o, place, type_name(reply));
	put_fields(o, reply, &first);
	out_char(o, '\n');
}

/* --------------------------------------------------------------- json -- */

static void put_json_head(out *o, const reply_place *place)
{
	char line[32];

	out_char(o, '{');
	if (place->file != NULL) {
		out_text(o, "\"file\":");
		if (utf8_is_valid(place->file, strlen(place->file)))
			json_text_string(o, slice_of(place->file));
		else
			out_text(o, "null");
		out_char(o, ',');
	}
	snprintf(line, sizeof(line), "\"line\":%zu,", place->line);
	out_text(o, line);
}

/* A text of ours or of a server, as a string whatever is in it. */
static void put_json_error(out *o, rb_slice words)
{
	redisReply reply = { .type = REDIS_REPLY_STRING };
	union {
		const char *taken;
		char *given;
	} text = { .taken = words.data };

	reply.str = text.given;
	reply.len = words.len;
	out_text(o, "\"error\":");
	reply_json(o, &reply);
}

static void put_json(out *o, const reply_place *place, const redisReply *reply)
{
	put_json_head(o, place);
	if (reply->type == REDIS_REPLY_ERROR) {
		put_json_error(o, reply_string(reply));
	} else {
		out_text(o, "\"reply\":");
		reply_json(o, reply);
	}
	out_text(o, "}\n");
}

/* ---------------------------------------------------------------- raw -- */

/* The leaves, a line each. */
static void put_raw(out *o, const redisReply *reply)
{
	char number[32];

	if (reply_is_list(reply)) {
		for (size_t i = 0; i < reply->elements; i++)
			put_raw(o, reply->element[i]);
		if (reply->elements == 0)
			out_char(o, '\n');
		return;
	}
	if (reply->type == REDIS_REPLY_INTEGER) {
		snprintf(number, sizeof(number), "%lld", reply->integer);
		out_text(o, number);
	} else if (reply->type == REPLY_BOOL) {
		out_text(o, reply->integer != 0 ? "(true)" : "(false)");
	} else {
		out_write(o, reply_string(reply).data, reply_string(reply).len);
	}
	out_char(o, '\n');
}

/* ---------------------------------------------------------------- all -- */

void reply_put(out *o, reply_format format, const reply_place *place,
	       const redisReply *reply)
{
	switch (format) {
	case REPLY_TEXT:
		reply_text(o, reply, put_place(o, place));
		out_char(o, '\n');
		break;
	case REPLY_TSV:
		put_tsv(o, place, reply);
		break;
	case REPLY_JSON:
		put_json(o, place, reply);
		break;
	case REPLY_RAW:
		put_raw(o, reply);
		break;
	}
}

void reply_put_none(out *o, reply_format format, const reply_place *place,
		    rb_outcome outcome, const char *why)
{
	const char *fate = rb_outcome_text(outcome);

	switch (format) {
	case REPLY_TEXT:
		(void)put_place(o, place);
		out_char(o, '(');
		out_text(o, fate);
		out_text(o, ") ");
		escape_plain(o, slice_of(why));
		out_char(o, '\n');
		break;
	case REPLY_TSV:
		put_tsv_head(o, place, fate);
		escape_tsv(o, slice_of(why));
		out_char(o, '\n');
		break;
	case REPLY_JSON:
		put_json_head(o, place);
		put_json_error(o, slice_of(why));
		out_text(o, ",\"outcome\":\"");
		out_text(o, fate);
		out_text(o, "\"}\n");
		break;
	case REPLY_RAW:
		break;
	}
}
