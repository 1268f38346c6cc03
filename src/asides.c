#include "asides.h"

static void put_first(asides *a)
{
	a->put(a->arg, &a->kept[a->first]);
	a->first = (a->first + 1) % ASIDES_KEPT;
	a->n--;
}

void asides_add(asides *a, const aside *bad)
{
	if (a->n == ASIDES_KEPT)
		put_first(a);
	a->kept[(a->first + a->n) % ASIDES_KEPT] = *bad;
	a->n++;
}

void asides_pass(asides *a, size_t number)
{
	while (a->n > 0 && a->kept[a->first].before <= number)
		put_first(a);
}
