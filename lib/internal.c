#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

void rbi_print(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	if (size == 0)
		return;
	va_start(args, format);
	n = vsnprintf(buf, size, format, args);
	va_end(args);
	if (n < 0)
		buf[0] = '\0';
}
