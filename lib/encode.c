#include "encode.h"

char *rbi_encode_number(char *p, char type, size_t n)
{
	char *end = p + 1 + rbi_encode_digits(n);
	char *digit = end;

	*p = type;
	do {
		*--digit = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	end[0] = '\r';
	end[1] = '\n';
	return end + 2;
}

char *rbi_encode_header(char *p, size_t argc)
{
	return rbi_encode_number(p, '*', argc);
}
