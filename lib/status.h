/*
 * The words for the public numbers.
 */
#ifndef RBI_STATUS_H
#define RBI_STATUS_H

#include <redisbatch/redisbatch.h>

#endif
