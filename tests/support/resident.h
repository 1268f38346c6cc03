/*
 * How much memory this process holds, as the kernel counts it.
 */
#ifndef RBT_RESIDENT_H
#define RBT_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes resident now (VmRSS); 0: the system does not tell. */
size_t rbt_memory_resident(void);

/* The most bytes that were resident since the start or since the last reset
 * (VmHWM); 0: the system does not tell. */
size_t rbt_memory_peak(void);

/* By how much the peak is above what was resident before, if at all: the kernel
 * counts both with some slack. */
size_t rbt_memory_growth(size_t before);

/* Makes the peak what is resident now. False: the system cannot. */
bool rbt_memory_reset_peak(void);

/* Gives freed memory back to the system where the allocator can, so that what
 * comes next is not served from it unseen. */
void rbt_memory_trim(void);

#endif
