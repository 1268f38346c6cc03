/*
 * Ctrl-C, SIGTERM and SIGHUP as a flag, so that a program ends its server and
 * removes its files before it goes.
 */
#ifndef RBT_INTERRUPT_H
#define RBT_INTERRUPT_H

/* From now on these signals set the flag and interrupt waits. SIGPIPE is
 * ignored: a reader that went away must not keep us from cleaning up. */
void rbt_interrupt_catch(void);

/* For child processes, which are ended by their parent: ignore them. */
void rbt_interrupt_ignore(void);

/* The first signal that came, 0: none. */
int rbt_interrupted(void);

/* Forgets what came, so that cleaning up can wait for children too. */
void rbt_interrupt_clear(void);

#endif
