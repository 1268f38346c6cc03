/*
 * A row is the key, two blanks and the value. The column of the keys is as wide
 * as the widest so far, but takes no more than two fifths of the terminal; it
 * never shrinks from chunk to chunk.
 */
#include "format.h"

#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum { GAP = 2, DOTS = 3, LEAST_WIDTH = 20 };

/* One character as it is shown, and how many columns that takes. */
typedef struct glyph {
	char text[8];
	size_t len;
	size_t columns;
} glyph;

static void escape(glyph *g, unsigned char byte)
{
	static const char letters[] = "abtnvfr";

	if (byte >= '\a' && byte <= '\r')
		snprintf(g->text, sizeof(g->text), "\\%c",
			 letters[byte - '\a']);
	else if (byte == '\\')
		snprintf(g->text, sizeof(g->text), "\\\\");
	else
		snprintf(g->text, sizeof(g->text), "\\x%02x", byte);
	g->len = g->columns = strlen(g->text);
}

/* Takes the character at the front of s; what is no text, byte by byte. */
static void take_glyph(rb_slice *s, glyph *g)
{
	uint32_t c = 0;
	size_t n = utf8_next(s->data, s->len, &c);
	int columns = n == 0 ? -1 : utf8_columns(c);

	if (columns < 0 || c == '\\') {
		n = 1;
		escape(g, (unsigned char)s->data[0]);
	} else {
		memcpy(g->text, s->data, n);
		g->len = n;
		g->columns = (size_t)columns;
	}
	s->data += n;
	s->len -= n;
}

/* How many columns s takes; no more are counted than are asked for. */
static size_t columns_of(rb_slice s, size_t most)
{
	size_t columns = 0;
	glyph g;

	while (s.len > 0 && columns <= most) {
		take_glyph(&s, &g);
		columns += g.columns;
	}
	return columns;
}

/* Writes s into so many columns, cut with dots if need be; how many it took. */
static size_t put_cut(out *o, rb_slice s, size_t width)
{
	bool fits = columns_of(s, width) <= width;
	size_t room = fits ? width : width - DOTS;
	size_t columns = 0;
	glyph g;

	while (s.len > 0) {
		take_glyph(&s, &g);
		if (columns + g.columns > room)
			break;
		out_write(o, g.text, g.len);
		columns += g.columns;
	}
	if (fits)
		return columns;
	out_text(o, "...");
	return columns + DOTS;
}

static bool is_spelled(rb_slice s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.data, word, s.len) == 0;
}

static bool is_marker(rb_slice s)
{
	return is_spelled(s, "(missing)") || is_spelled(s, "(empty)");
}

static size_t cell_columns(rb_slice s, size_t most)
{
	if (s.len == 0)
		return strlen("(empty)");
	/* \x28 for the parenthesis. */
	return columns_of(s, most) + (is_marker(s) ? 3 : 0);
}

static size_t put_cell(out *o, rb_slice s, size_t width)
{
	if (s.len == 0) {
		s = (rb_slice){ "(empty)", 7 };
	} else if (is_marker(s)) {
		out_text(o, "\\x28");
		s.data++;
		s.len--;
		return 4 + put_cut(o, s, width - 4);
	}
	return put_cut(o, s, width);
}

static size_t most_of_keys(const format *f)
{
	return f->width == 0 ? SIZE_MAX / 2 : f->width * 2 / 5;
}

static void widen(format *f, const format_rows *rows)
{
	size_t most = most_of_keys(f);

	for (size_t i = 0; i < rows->n; i++) {
		size_t columns;

		if (!format_wants(f, rows, i))
			continue;
		columns = cell_columns(rows->keys[i], most);
		if (columns > most)
			columns = most;
		if (columns > f->key_width)
			f->key_width = columns;
	}
}

void format_put_table(format *f, out *o, const format_rows *rows)
{
	size_t width = SIZE_MAX / 2;

	if (f->width != 0 && f->width < LEAST_WIDTH)
		f->width = LEAST_WIDTH;
	widen(f, rows);
	if (f->width != 0)
		width = f->width - f->key_width - GAP;
	for (size_t i = 0; i < rows->n; i++) {
		size_t columns;

		if (!format_wants(f, rows, i))
			continue;
		columns = put_cell(o, rows->keys[i],
				   f->width == 0 ? width : most_of_keys(f));
		for (; columns < f->key_width + GAP; columns++)
			out_char(o, ' ');
		if (rows->values[i].data == NULL)
			out_text(o, "(missing)");
		else
			put_cell(o, rows->values[i], width);
		out_char(o, '\n');
	}
}
