#include "bench_plot.h"

#include "say.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool bench_plot_possible(void)
{
	const char *path = getenv("PATH");
	char name[4096];

	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");

		snprintf(name, sizeof(name), "%.*s/gnuplot", (int)len, path);
		if (len > 0 && access(name, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* A text of gnuplot's: between single quotes, which are doubled within. */
static void put_quoted(FILE *f, const char *text)
{
	putc('\'', f);
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			putc('\'', f);
		/* A line cannot hold one. */
		putc(*text == '\n' ? ' ' : *text, f);
	}
	putc('\'', f);
}

static void put_settings(FILE *f, const bench_sheet *sheet, const char *path)
{
	char title[400];
	char further[64] = "";

	if (sheet->work->rtt_ms > 0)
		snprintf(further, sizeof(further),
			 ", %" PRIu64 " ms further away", sheet->work->rtt_ms);
	snprintf(title, sizeof(title), "Values of %zu bytes, %s%s",
		 sheet->work->value_size,
		 connection_name(sheet->work->connection), further);
	fputs("set terminal svg size 900,540 noenhanced background 'white'\n"
	      "set encoding utf8\nset output ",
	      f);
	put_quoted(f, path);
	fputs("\nset title ", f);
	put_quoted(f, title);
	fputs("\nset ylabel 'milliseconds'\nset logscale y\nset grid y\n", f);
}

static double ms_of(const bench_row *row)
{
	return (double)bench_series_median(&row->times) / 1e6;
}

/* The rows that have a time, since a logarithm wants one. */
static void put_bars(FILE *f, const bench_report *r)
{
	fputs("set style fill solid 0.7\nset boxwidth 0.6\n"
	      "set xtics rotate by -20\nset key off\n$data << EOD\n",
	      f);
	for (size_t i = 0; i < r->nrows; i++) {
		if (r->rows[i].times.n > 0)
			fprintf(f, "\"%s\" %.6f\n", r->rows[i].method->title,
				ms_of(&r->rows[i]));
	}
	fputs("EOD\nplot $data using 0:2:xtic(1) with boxes\n", f);
}

static bool has_points(const bench_report *r, const bench_method *m)
{
	for (size_t i = 0; i < r->nrows; i++) {
		if (r->rows[i].method == m && r->rows[i].times.n > 0)
			return true;
	}
	return false;
}

static void put_points(FILE *f, const bench_report *r, size_t m)
{
	fprintf(f, "$m%zu << EOD\n", m);
	for (size_t i = 0; i < r->nrows; i++) {
		const bench_row *row = &r->rows[i];

		if (row->method == &bench_methods[m] && row->times.n > 0)
			fprintf(f, "%zu %.6f\n", row->nkeys, ms_of(row));
	}
	fputs("EOD\n", f);
}

static void put_lines(FILE *f, const bench_report *r)
{
	const char *before = "plot ";

	fputs("set logscale x\nset xlabel 'keys'\nset key top left Left reverse\n",
	      f);
	for (size_t m = 0; m < BENCH_METHODS; m++) {
		if (has_points(r, &bench_methods[m]))
			put_points(f, r, m);
	}
	for (size_t m = 0; m < BENCH_METHODS; m++) {
		if (!has_points(r, &bench_methods[m]))
			continue;
		fprintf(f, "%s$m%zu with linespoints title ", before, m);
		put_quoted(f, bench_methods[m].title);
		before = ", ";
	}
	fputs("\n", f);
}

static bool any_points(const bench_report *r)
{
	for (size_t i = 0; i < r->nrows; i++) {
		if (r->rows[i].times.n > 0)
			return true;
	}
	return false;
}

/* gnuplot's own words, if any, are on standard error by then. */
static bool draw(const bench_sheet *sheet, const char *path)
{
	FILE *f = popen("gnuplot", "w");
	int status;

	if (f == NULL)
		return false;
	put_settings(f, sheet, path);
	if (sheet->plan->nsizes > 1)
		put_lines(f, sheet->report);
	else
		put_bars(f, sheet->report);
	fputs("set output\n", f);
	status = pclose(f);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The rights that open() would have given, which mkstemp() does not. */
static void open_to_others(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)fchmod(fd, (mode_t)(0666 & ~mask));
}

/* A file beside the one to be, under a name that nobody has. */
static exits make_draft(const char *path, char *draft, size_t size)
{
	int fd;

	if (snprintf(draft, size, "%s.XXXXXX", path) >= (int)size) {
		say("%s: %s", path, strerror(ENAMETOOLONG));
		return EXITS_LOCAL;
	}
	fd = mkstemp(draft);
	if (fd < 0) {
		say("%s: %s", path, strerror(errno));
		return EXITS_LOCAL;
	}
	open_to_others(fd);
	close(fd);
	return EXITS_FINE;
}

exits bench_plot_check(const char *path)
{
	char draft[4096];
	exits status = make_draft(path, draft, sizeof(draft));

	if (status == EXITS_FINE)
		(void)unlink(draft);
	return status;
}

exits bench_plot_put(const bench_sheet *sheet, const char *path)
{
	char draft[4096];
	struct stat st;

	if (!any_points(sheet->report)) {
		say("%s: nothing to draw", path);
		return EXITS_LOCAL;
	}
	if (make_draft(path, draft, sizeof(draft)) != EXITS_FINE)
		return EXITS_LOCAL;
	errno = 0;
	if (draw(sheet, draft) && stat(draft, &st) == 0 && st.st_size > 0 &&
	    rename(draft, path) == 0)
		return EXITS_FINE;
	say("%s: gnuplot could not draw it%s%s", path, errno ? ": " : "",
	    errno ? strerror(errno) : "");
	(void)unlink(draft);
	return EXITS_LOCAL;
}
