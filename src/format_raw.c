#include "format.h"

void format_put_raw(format *f, out *o, const format_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const rb_slice *value = &rows->values[i];

		if (!format_wants(f, rows, i))
			continue;
		if (value->data == NULL)
			out_text(o, f->missing);
		else
			out_write(o, value->data, value->len);
		out_char(o, f->end);
	}
}
