#include "backoff.h"

void rbi_backoff_init(rbi_backoff *b, uint64_t seed)
{
	/* An xorshift never leaves 0. */
	b->random = seed * 0x9e3779b97f4a7c15u | 1;
	b->tries = 0;
}

static uint64_t draw(rbi_backoff *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

uint64_t rbi_backoff_next(rbi_backoff *b)
{
	uint64_t longest = RBI_BACKOFF_FIRST_US;
	unsigned i;

	for (i = 0; i < b->tries && longest < RBI_BACKOFF_LONGEST_US; i++)
		longest *= 2;
	if (longest > RBI_BACKOFF_LONGEST_US)
		longest = RBI_BACKOFF_LONGEST_US;
	b->tries++;
	return longest / 2 + draw(b) % (longest / 2 + 1);
}
