/*
 * A chunk as the bytes of its commands, at the end of what waits to leave.
 */
#ifndef RBI_REQUEST_H
#define RBI_REQUEST_H

#include "outbuf.h"
#include "plan.h"

/*
 * Appends the commands of cut, which take exactly cut->request_bytes. Large
 * arguments are borrowed from the caller. RB_ERR_NOMEM: nothing was appended.
 */
rb_status rbi_request_append(rbi_outbuf *out,
			     const rbi_cut *cut) RBI_MUST_CHECK;

#endif
