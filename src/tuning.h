/*
 * The options of the library under their own names: bounds, window, deadline.
 */
#ifndef REDISBATCH_SRC_TUNING_H
#define REDISBATCH_SRC_TUNING_H

#include "args.h"

#include <redisbatch/redisbatch.h>

/* Sets o to the defaults of the library; the group's options change them. */
void tuning_init(rb_options *o);
args_group tuning_group(rb_options *o);

#endif
