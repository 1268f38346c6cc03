#include "format.h"

#include <string.h>

typedef struct known {
	const char *name;
	format_put_fn *put;
} known;

static const known formats[] = {
	{ "tsv", format_put_tsv },     { "json", format_put_json },
	{ "csv", format_put_csv },     { "raw", format_put_raw },
	{ "table", format_put_table },
};

bool format_init(format *f, const char *name)
{
	*f = (format){ .end = '\n', .missing = "\\N" };
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0) {
			f->put = formats[i].put;
			return true;
		}
	}
	return false;
}

void format_put(format *f, out *o, const format_rows *rows)
{
	f->put(f, o, rows);
}

bool format_wants(const format *f, const format_rows *rows, size_t i)
{
	return rows->statuses[i] == RB_OK &&
	       (!f->no_missing || rows->values[i].data != NULL);
}
