/*
 * Deadlines that are to pass.
 *
 * Waiting for one costs its time, so it is short; but where the machine stands
 * still for as long, it has passed before what was to happen in front of it.
 * That is no failure, and says nothing either: the test is gone through again
 * with a deadline that is ten times as long.
 *
 *	unsigned ms = 0;
 *
 *	do {
 *		o.timeout_ms = rbt_more_patience(&ms);
 *		...
 *	} while (what was to come before it did not come);
 *
 * What must not happen is asserted each time.
 */
#ifndef RBT_PATIENCE_H
#define RBT_PATIENCE_H

/* *ms is 0 at first. Ends the test when the longest was not enough. */
unsigned rbt_more_patience(unsigned *ms);

#endif
