#include "reply_forms.h"

#include "json_text.h"
#include "utf8.h"

#include <stdio.h>

static void put_string(out *o, rb_slice bytes)
{
	if (utf8_is_valid(bytes.data, bytes.len)) {
		json_text_string(o, bytes);
		return;
	}
	out_text(o, "{\"base64\":");
	json_text_base64(o, bytes);
	out_text(o, "}");
}

static void put_tagged(out *o, const char *tag, rb_slice bytes)
{
	out_text(o, "{\"");
	out_text(o, tag);
	out_text(o, "\":");
	put_string(o, bytes);
	out_char(o, '}');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The digits at p, at least one; or NULL. */
static const char *skip_digits(const char *p, const char *end)
{
	const char *begin = p;

	while (p < end && is_digit(*p))
		p++;
	return p == begin ? NULL : p;
}

/* Is it a number as JSON writes them? Servers also say inf and nan. */
static bool is_number(rb_slice text)
{
	const char *p = text.data;
	const char *end = p + text.len;

	p += p < end && *p == '-';
	/* 0 stands alone. */
	if (p + 1 < end && *p == '0' && is_digit(p[1]))
		return false;
	p = skip_digits(p, end);
	if (p != NULL && p < end && *p == '.')
		p = skip_digits(p + 1, end);
	if (p != NULL && p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '-' || *p == '+');
		p = skip_digits(p, end);
	}
	return p == end;
}

static void put_double(out *o, rb_slice text)
{
	if (is_number(text))
		out_write(o, text.data, text.len);
	else
		put_tagged(o, "double", text);
}

static void put_integer(out *o, long long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", n);
	out_text(o, text);
}

static void put_list(out *o, const redisReply *reply)
{
	out_char(o, '[');
	for (size_t i = 0; i < reply->elements; i++) {
		if (i > 0)
			out_char(o, ',');
		reply_json(o, reply->element[i]);
	}
	out_char(o, ']');
}

static void put_map(out *o, const redisReply *reply)
{
	out_text(o, "{\"map\":[");
	for (size_t i = 0; i + 1 < reply->elements; i += 2) {
		out_text(o, i > 0 ? ",[" : "[");
		reply_json(o, reply->element[i]);
		out_char(o, ',');
		reply_json(o, reply->element[i + 1]);
		out_char(o, ']');
	}
	out_text(o, "]}");
}

void reply_json(out *o, const redisReply *reply)
{
	switch (reply->type) {
	case REDIS_REPLY_STRING:
	case REDIS_REPLY_STATUS:
	case REPLY_VERBATIM:
		put_string(o, reply_string(reply));
		break;
	case REDIS_REPLY_ERROR:
		put_tagged(o, "error", reply_string(reply));
		break;
	case REPLY_NUMBER:
		put_tagged(o, "number", reply_string(reply));
		break;
	case REPLY_DOUBLE:
		put_double(o, reply_string(reply));
		break;
	case REDIS_REPLY_INTEGER:
		put_integer(o, reply->integer);
		break;
	case REPLY_BOOL:
		out_text(o, reply->integer != 0 ? "true" : "false");
		break;
	case REDIS_REPLY_NIL:
		out_text(o, "null");
		break;
	case REPLY_MAP:
	case REPLY_ATTRIBUTE:
		put_map(o, reply);
		break;
	default:
		put_list(o, reply);
		break;
	}
}
