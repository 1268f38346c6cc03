#include "again.h"

#include "alloc.h"

void rbi_again_init(rbi_again *a, const rb_allocator *allocator)
{
	a->allocator = allocator;
	a->items = NULL;
	a->count = a->cap = 0;
}

void rbi_again_fini(rbi_again *a)
{
	rbi_free(a->allocator, a->items);
	a->items = NULL;
	a->count = a->cap = 0;
}

bool rbi_again_reserve(rbi_again *a, size_t n)
{
	size_t cap = rbi_max(rbi_add_sat(a->count, n), 2 * a->cap);
	rbi_waiting *items;

	if (a->cap - a->count >= n)
		return true;
	items = rbi_alloc_array(a->allocator, a->items, cap, sizeof(*items));
	if (items == NULL)
		return false;
	a->items = items;
	a->cap = cap;
	return true;
}

void rbi_again_add(rbi_again *a, const rbi_parcel *parcel, const rbi_fate *fate)
{
	size_t i = a->count++;

	/* They nearly always come in order. */
	for (; i > 0 && a->items[i - 1].parcel.position > parcel->position; i--)
		a->items[i] = a->items[i - 1];
	a->items[i].parcel = *parcel;
	a->items[i].fate = *fate;
}

bool rbi_again_keep(rbi_again *a, const rbi_parcel *parcel,
		    const rbi_fate *fate)
{
	if (!rbi_again_reserve(a, 1))
		return false;
	rbi_again_add(a, parcel, fate);
	return true;
}

rbi_waiting rbi_again_take(rbi_again *a, size_t i)
{
	rbi_waiting taken = a->items[i];

	a->count--;
	memmove(&a->items[i], &a->items[i + 1],
		(a->count - i) * sizeof(*a->items));
	return taken;
}
