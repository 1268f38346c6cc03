/*
 * How far a run is, on one line: a bar that a terminal redraws, or a plain line
 * from time to time. Pure: it is told the time and the counts, and makes text.
 */
#ifndef REDISBATCH_SRC_METER_H
#define REDISBATCH_SRC_METER_H

#include <stddef.h>
#include <stdint.h>

typedef struct meter {
	/* What the entries are: "keys". */
	const char *what;
	uint64_t elapsed_us;
	/* Done so far: answered and failed. */
	uint64_t done;
	uint64_t failed;
	uint64_t bytes;
	/* How many entries there are, and how much of the input was taken of
	 * how much there is. 0: not known. */
	uint64_t expected;
	uint64_t input_taken;
	uint64_t input_size;
} meter;

/* What part is done, in thousandths; -1 if nobody knows. */
int meter_permille(const meter *m);

/* How long it will take yet at this pace; 0 if nobody knows. */
uint64_t meter_left_us(const meter *m);

/* The line, cut to columns (at most size - 1 bytes), without a newline. */
void meter_bar(const meter *m, size_t columns, char *out, size_t size);
void meter_plain(const meter *m, char *out, size_t size);

/* "1.5 MB", "12.3 s", "2m05s": three digits are enough for people. */
void meter_put_bytes(uint64_t bytes, char *out, size_t size);
void meter_put_time(uint64_t us, char *out, size_t size);

/* a / b a second, 0 when no time has passed. */
uint64_t meter_rate(uint64_t n, uint64_t us);

#endif
