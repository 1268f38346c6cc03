/*
 * The bytes of one connection that wait to leave, in order.
 *
 * Small pieces are written into a buffer of its own; a large one is borrowed:
 * it stays in the caller's memory and is only pointed at, so that a value of
 * 500 MB is never copied. What the socket takes is offered as an iovec.
 *
 *	own bytes   [ GET header .. ][ .. more own bytes ]
 *	borrowed                    ^ value, len
 *
 * Invariants: pending = own bytes not yet gone + borrowed bytes not yet gone.
 * A borrow with position p leaves after the own byte p - 1 and before p.
 */
#ifndef RBI_OUTBUF_H
#define RBI_OUTBUF_H

#include "internal.h"

#include <redisbatch/redisbatch.h>
#include <sys/uio.h>

/* From this size on a piece is borrowed rather than copied. */
#define RBI_OUTBUF_BORROW ((size_t)16 * 1024)

typedef struct rbi_borrow {
	size_t position; /* in own bytes, counted from buffer start */
	const char *data;
	size_t len;
} rbi_borrow;

typedef struct rbi_outbuf {
	const rb_allocator *allocator;
	char *bytes; /* own bytes: head .. tail wait */
	size_t head;
	size_t tail;
	size_t cap;
	rbi_borrow *borrows; /* first .. nborrows - 1 wait */
	size_t first;
	size_t nborrows;
	size_t borrow_cap;
	size_t pending;
} rbi_outbuf;

void rbi_outbuf_init(rbi_outbuf *o, const rb_allocator *allocator);
void rbi_outbuf_fini(rbi_outbuf *o);

/* Drops what waits; the memory stays for the next use. */
void rbi_outbuf_clear(rbi_outbuf *o);

/*
 * Makes room for own more own bytes and borrows more borrows, so that the
 * appends below cannot fail. NULL: no memory. Otherwise where to write the own
 * bytes; say how many were written with rbi_outbuf_wrote() before borrowing.
 */
char *rbi_outbuf_reserve(rbi_outbuf *o, size_t own,
			 size_t borrows) RBI_MUST_CHECK;

/* Own bytes up to end have been written. */
void rbi_outbuf_wrote(rbi_outbuf *o, const char *end);

/* Appends len bytes that stay where they are until they have left. */
void rbi_outbuf_borrow(rbi_outbuf *o, const char *data, size_t len);

/* Offers the next bytes in at most max pieces; the number of pieces. */
int rbi_outbuf_offer(const rbi_outbuf *o, struct iovec *iov, int max);

/* n of the offered bytes have left. */
void rbi_outbuf_sent(rbi_outbuf *o, size_t n);

#endif
