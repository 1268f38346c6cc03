#include "places.h"

#include "cluster_view.h"
#include "keyslot.h"

#include <string.h>

bool rbt_places_init(rbt_places *places, rbt_cluster *c)
{
	static rbt_view view;

	memset(places, 0, sizeof(*places));
	rbt_cluster_uri(c, 0, places->uri, sizeof(places->uri));
	places->n = rbt_cluster_size(c);
	for (size_t i = 0; i < places->n; i++)
		rbt_target_tcp(&places->targets[i], rbt_cluster_port(c, i));
	if (!rbt_cluster_view(c, 0, &view))
		return false;
	memcpy(places->owner, view.owner, sizeof(places->owner));
	return true;
}

size_t rbt_places_of(const rbt_places *places, const char *key, size_t len)
{
	return places->owner[rbi_keyslot(key, len)];
}
