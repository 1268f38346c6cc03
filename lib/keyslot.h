/*
 * The slot of a key in a cluster: 14 bits of its checksum. Of a key with a
 * hash tag, which is what stands between the first { and the first } behind
 * it unless that is nothing, only the tag counts: keys of one tag share a slot.
 */
#ifndef RBI_KEYSLOT_H
#define RBI_KEYSLOT_H

#include "internal.h"

#define RBI_SLOTS 16384

/* 0 .. RBI_SLOTS - 1. key may be NULL when len is 0. */
uint16_t rbi_keyslot(const char *key, size_t len);

/* Whether a part of the key alone decides. */
bool rbi_keyslot_has_tag(const char *key, size_t len);

#endif
