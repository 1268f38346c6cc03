#include "reply_forms.h"

#include "escape.h"

#include <inttypes.h>
#include <stdio.h>

static void put_integer(out *o, const redisReply *reply)
{
	char text[40];

	snprintf(text, sizeof(text), "(integer) %lld", reply->integer);
	out_text(o, text);
}

static void put_labelled(out *o, const char *label, const redisReply *reply)
{
	out_text(o, label);
	escape_plain(o, reply_string(reply));
}

static void put_indent(out *o, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		out_char(o, ' ');
}

static int width_of(size_t n)
{
	int width = 1;

	for (; n >= 10; n /= 10)
		width++;
	return width;
}

/* The number of an element, aligned with that of the last one; what follows it
 * is indented by the columns it takes more. */
static size_t put_number(out *o, size_t i, size_t n, char mark)
{
	char text[48];
	int width = snprintf(text, sizeof(text), "%*zu%c ", width_of(n), i + 1,
			     mark);

	out_text(o, text);
	return (size_t)width;
}

static void put_list(out *o, const redisReply *reply, size_t indent, char mark)
{
	for (size_t i = 0; i < reply->elements; i++) {
		size_t width;

		if (i > 0) {
			out_char(o, '\n');
			put_indent(o, indent);
		}
		width = put_number(o, i, reply->elements, mark);
		reply_text(o, reply->element[i], indent + width);
	}
}

/* A list as a value begins on a line of its own, or nobody could see where its
 * elements stand. */
static void put_pair(out *o, const redisReply *key, const redisReply *value,
		     size_t indent)
{
	reply_text(o, key, indent);
	out_text(o, " =>");
	if (reply_is_list(value) && value->elements > 0) {
		out_char(o, '\n');
		put_indent(o, indent);
	} else {
		out_char(o, ' ');
	}
	reply_text(o, value, indent);
}

static void put_map(out *o, const redisReply *reply, size_t indent)
{
	size_t npairs = reply->elements / 2;

	for (size_t i = 0; i < npairs; i++) {
		size_t width;

		if (i > 0) {
			out_char(o, '\n');
			put_indent(o, indent);
		}
		width = put_number(o, i, npairs, '#');
		put_pair(o, reply->element[2 * i], reply->element[2 * i + 1],
			 indent + width);
	}
}

static void put_elements(out *o, const redisReply *reply, size_t indent)
{
	const char *name = reply->type == REPLY_MAP ? "(empty hash)" :
			   reply->type == REPLY_SET ? "(empty set)" :
						      "(empty array)";

	if (reply->elements == 0)
		out_text(o, name);
	else if (reply->type == REPLY_MAP || reply->type == REPLY_ATTRIBUTE)
		put_map(o, reply, indent);
	else
		put_list(o, reply, indent,
			 reply->type == REPLY_SET ? '~' : ')');
}

void reply_text(out *o, const redisReply *reply, size_t indent)
{
	switch (reply->type) {
	case REDIS_REPLY_STRING:
	case REPLY_VERBATIM:
		escape_quoted(o, reply_string(reply));
		break;
	case REDIS_REPLY_STATUS:
		escape_plain(o, reply_string(reply));
		break;
	case REDIS_REPLY_ERROR:
		put_labelled(o, "(error) ", reply);
		break;
	case REDIS_REPLY_INTEGER:
		put_integer(o, reply);
		break;
	case REPLY_DOUBLE:
		put_labelled(o, "(double) ", reply);
		break;
	case REPLY_NUMBER:
		put_labelled(o, "(number) ", reply);
		break;
	case REPLY_BOOL:
		out_text(o, reply->integer != 0 ? "(true)" : "(false)");
		break;
	case REDIS_REPLY_NIL:
		out_text(o, "(nil)");
		break;
	default:
		put_elements(o, reply, indent);
		break;
	}
}
