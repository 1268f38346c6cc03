#include "say.h"

#include <stdarg.h>
#include <stdio.h>

static const char *command = "";

void say_command(const char *name)
{
	command = name;
}

static const char *separator(void)
{
	return command[0] == '\0' ? "" : " ";
}

/* As printf(), with what could move a cursor written as \xHH. UTF-8 stays. */
static void put_escaped(const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c == 0x7f)
			fprintf(stderr, "\\x%02x", c);
		else
			putc(c, stderr);
	}
}

static void put_line(const char *format, va_list args)
{
	char line[2048];

	/* What is longer is cut; a line that long helps nobody. */
	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "redisbatch%s%s: ", separator(), command);
	put_escaped(line);
	putc('\n', stderr);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(format, args);
	va_end(args);
}

exits say_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(format, args);
	va_end(args);
	fprintf(stderr, "Try 'redisbatch%s%s --help' for more information.\n",
		separator(), command);
	return EXITS_USAGE;
}
