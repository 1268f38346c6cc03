/*
 * What stands around the answers of a transaction: OK to MULTI, QUEUED to each
 * command, and the beginning of EXEC's array.
 */
#ifndef RBI_EXEC_H
#define RBI_EXEC_H

#include "verdict.h"

/* Takes a token while the stage is one of these three. */
rbi_progress rbi_exec_read(rbi_answer *a, rbi_reader *r, rb_result *res,
			   rbi_token_kind kind, const rbi_token *t);

#endif
