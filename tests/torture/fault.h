/*
 * The system calls of a client, of which the n-th goes wrong, and a clock that
 * nobody has to wait for.
 *
 * Where a real connection would be dead after the error, it is made so: an end
 * of the socket is shut, and the peer hears of it. A fault that is "unseen" is
 * one that every program must be ready for at any moment: a signal, no room
 * yet, one byte at a time, a poll that says nothing or too much. The call must
 * go on as if it had not been there.
 *
 * One table at a time, since system calls have no argument to tell them apart.
 */
#ifndef TORTURE_FAULT_H
#define TORTURE_FAULT_H

#include "clock.h"
#include "transport.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum fault_call {
	FAULT_SEND,
	FAULT_RECV,
	FAULT_POLL,
	FAULT_CALLS
} fault_call;

typedef enum fault_way {
	FAULT_ERROR,  /* it fails with the number as its errno */
	FAULT_SHORT,  /* it moves one byte */
	FAULT_CUT,    /* it moves half of what it could, the last that moves */
	FAULT_ANSWER, /* it does nothing and answers the number */
} fault_way;

typedef struct fault {
	const char *name;
	fault_call call;
	fault_way way;
	int number;
	bool unseen;
} fault;

extern const fault fault_list[];
extern const size_t fault_count;

/* The one that cuts a command in two and loses the answers to it. */
const fault *fault_cut_send(void);

typedef struct fault_line {
	/* NULL: none. The at-th of its calls (from 1) goes wrong, and every
	 * second one after it if on. */
	const fault *fault;
	size_t at;
	bool on;

	bool hit;
	/* It hid that the connection had ended or had something to read. */
	bool lied;
	size_t calls[FAULT_CALLS];
	size_t received; /* bytes */
	size_t looks;	 /* polls in a row that did not wait */

	/* Turned by a microsecond at each look, and by what poll has waited in
	 * vain; and by an hour when so many
	 * bytes were received and there is nothing to send. 0: never. */
	uint64_t now_us;
	size_t late_after;

	rbi_sys sys;
	rbi_clock clock;
} fault_line;

/* Nothing goes wrong. This line is the one in use from now on. */
void fault_line_init(fault_line *line);

#endif
