#include "patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FIRST_MS = 300, LAST_MS = 30000 };

unsigned rbt_more_patience(unsigned *ms)
{
	if (*ms >= LAST_MS)
		fail_msg("it did not come within %u ms", *ms);
	*ms = *ms == 0 ? FIRST_MS : *ms * 10;
	return *ms;
}
