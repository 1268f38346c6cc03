#include "pairs_formats.h"

#include "unbase64.h"

#include <jansson.h>
#include <string.h>

static bool is_blank(rb_slice line)
{
	for (size_t i = 0; i < line.len; i++) {
		if (strchr(" \t\r", line.data[i]) == NULL ||
		    line.data[i] == '\0')
			return false;
	}
	return true;
}

/* The two members that may hold the same thing. */
typedef struct either {
	const char *name;
	const char *encoded_name;
	const json_t *plain;
	const json_t *encoded;
} either;

static bool know_members(json_t *object, either *key, either *value, pair *out)
{
	const char *name;
	json_t *member;
	bool known = true;

	json_object_foreach(object, name, member)
	{
		if (strcmp(name, key->name) == 0)
			key->plain = member;
		else if (strcmp(name, key->encoded_name) == 0)
			key->encoded = member;
		else if (strcmp(name, value->name) == 0)
			value->plain = member;
		else if (strcmp(name, value->encoded_name) == 0)
			value->encoded = member;
		else if (known) {
			pairs_bad(out, "unknown member \"%s\"", name);
			known = false;
		}
	}
	return known;
}

static parsed take_text(const either *e, scratch *s, size_t *len, pair *out)
{
	const json_t *text = e->plain != NULL ? e->plain : e->encoded;
	const char *name = e->plain != NULL ? e->name : e->encoded_name;
	size_t start = s->len;

	if (text == NULL)
		return pairs_bad(out, "there is no \"%s\"", e->name);
	if (e->plain != NULL && e->encoded != NULL)
		return pairs_bad(out, "both \"%s\" and \"%s\"", e->name,
				 e->encoded_name);
	if (!json_is_string(text))
		return pairs_bad(out, "\"%s\" is no string", name);
	*len = json_string_length(text);
	if (!scratch_reserve(s, *len + 1))
		return PARSED_NOMEM;
	if (e->plain != NULL)
		memcpy(s->data + start, json_string_value(text), *len);
	else if (!unbase64(json_string_value(text), *len, s->data + start, len))
		return pairs_bad(out, "\"%s\" is no base64", name);
	s->len = start + *len;
	return PARSED_PAIR;
}

static parsed take_object(json_t *object, scratch *s, pair *out)
{
	either key = { "key", "key_base64", NULL, NULL };
	either value = { "value", "value_base64", NULL, NULL };
	size_t key_len = 0;
	size_t value_len = 0;
	parsed got;

	if (!json_is_object(object))
		return pairs_bad(out, "this is no object");
	if (!know_members(object, &key, &value, out))
		return PARSED_BAD;
	got = take_text(&key, s, &key_len, out);
	if (got != PARSED_PAIR)
		return got;
	if (json_is_null(value.plain) && value.encoded == NULL) {
		out->key = (rb_slice){ s->data, key_len };
		return PARSED_MISSING;
	}
	got = take_text(&value, s, &value_len, out);
	if (got == PARSED_NOMEM)
		return got;
	/* Only now, since the buffer may have moved. */
	out->key = (rb_slice){ s->data, key_len };
	if (got == PARSED_PAIR)
		out->value = (rb_slice){ s->data + key_len, value_len };
	return got;
}

parsed pairs_json(rb_slice line, scratch *s, pair *out)
{
	json_error_t error;
	json_t *object;
	parsed got;

	if (is_blank(line))
		return PARSED_NOTHING;
	object = json_loadb(line.data, line.len,
			    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL |
				    JSON_DECODE_ANY,
			    &error);
	if (object == NULL &&
	    json_error_code(&error) == json_error_out_of_memory)
		return PARSED_NOMEM;
	if (object == NULL)
		return pairs_bad(out, "no JSON: %s", error.text);
	got = take_object(object, s, out);
	json_decref(object);
	return got;
}
