#include "format.h"

#include <string.h>

/* Blanks at the ends are part of a field (RFC 4180), but not every reader knows
 * that of a field without quotes. */
static bool needs_quotes(rb_slice field)
{
	if (field.len == 0 || field.data[0] == ' ' ||
	    field.data[field.len - 1] == ' ')
		return true;
	for (size_t i = 0; i < field.len; i++) {
		char c = field.data[i];

		if (c == '"' || c == ',' || c == '\r' || c == '\n')
			return true;
	}
	return false;
}

static void put_quoted(out *o, rb_slice field)
{
	const char *end = field.data + field.len;
	const char *at = field.data;

	out_char(o, '"');
	while (at < end) {
		const char *quote = memchr(at, '"', (size_t)(end - at));

		if (quote == NULL)
			quote = end;
		out_write(o, at, (size_t)(quote - at));
		if (quote < end)
			out_text(o, "\"\"");
		at = quote + 1;
	}
	out_char(o, '"');
}

static void put_field(out *o, rb_slice field)
{
	if (needs_quotes(field))
		put_quoted(o, field);
	else
		out_write(o, field.data, field.len);
}

void format_put_csv(format *f, out *o, const format_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (!format_wants(f, rows, i))
			continue;
		put_field(o, rows->keys[i]);
		out_char(o, ',');
		if (rows->values[i].data != NULL)
			put_field(o, rows->values[i]);
		out_text(o, "\r\n");
	}
}
