#include "format.h"

#include "json_text.h"
#include "utf8.h"

static void put_member(out *o, const char *name, rb_slice s)
{
	bool plain = utf8_is_valid(s.data, s.len);

	out_char(o, '"');
	out_text(o, name);
	out_text(o, plain ? "\":" : "_base64\":");
	if (plain)
		json_text_string(o, s);
	else
		json_text_base64(o, s);
}

void format_put_json(format *f, out *o, const format_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (!format_wants(f, rows, i))
			continue;
		out_char(o, '{');
		put_member(o, "key", rows->keys[i]);
		out_char(o, ',');
		if (rows->values[i].data == NULL)
			out_text(o, "\"value\":null");
		else
			put_member(o, "value", rows->values[i]);
		out_text(o, "}\n");
	}
}
