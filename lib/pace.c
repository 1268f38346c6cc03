#include "pace.h"

void rbi_pace_spend(rbi_pace *p, uint64_t commands, uint64_t now_us)
{
	if (p->rate == 0)
		return;
	if (p->next_us < now_us)
		p->next_us = now_us;
	p->next_us += commands * 1000000 / p->rate;
}
