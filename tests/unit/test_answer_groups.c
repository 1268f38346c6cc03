/*
 * Answers to chunks that are cut by slots, to ASKING, and to the commands of a
 * clustered batch: whole, byte by byte, and split at each position.
 */
#include "alloc.h"
#include "answer.h"
#include "replies.h"
#include "unit.h"

#include <stdio.h>

#define MOST 8

typedef struct row {
	const char *name;
	/* What is asked: a kind of batch; a letter for the slot of each entry,
	 * or the names of the commands. */
	char kind;
	const char *slots;
	/* a: alone, k: asking, t: a transaction, c: clustered, 1: with a
	 * command for groups of one, r: only reads */
	const char *flags;
	const char *bytes;
	/* What is made of it. The entries: =value, - nil, D applied, U unmet,
	 * "!words" an error, "~words" one in doubt, ? as the chunk, a reply as
	 * it is printed. */
	rbi_progress progress;
	rb_status status;
	rb_outcome outcome;
	rbi_route route;
	size_t refused;
	const char *redirect; /* NULL: none */
	const char *entries;
	const char *message; /* a part of it */
} row;

#define DONE RBI_PROGRESS_DONE
#define BROKEN RBI_PROGRESS_BROKEN
#define GOOD DONE, RB_OK, RB_ANSWERED, RBI_ROUTE_ANSWER, 0, NULL
#define OFF BROKEN, RB_OK, RB_ANSWERED, RBI_ROUTE_ANSWER, 0, NULL
#define PARTIAL DONE, RB_ERR_PARTIAL
#define FAILED DONE, RB_ERR_SERVER
#define FAIL_ RBI_ROUTE_FAIL
#define NONE_ RBI_ROUTE_ANSWER

#define OK "+OK\r\n"
#define Q "+QUEUED\r\n"
#define A "$1\r\nA\r\n"
#define B "$1\r\nB\r\n"
#define NIL "$-1\r\n"
#define MOVED "-MOVED 7 h:1\r\n"
#define ASK "-ASK 7 i:2\r\n"
#define TRY "-TRYAGAIN later\r\n"
#define UP "-upstream failure\r\n"
#define BUSY "-BUSY a script\r\n"
#define NOKEY "-NOPERM access a key\r\n"
#define OTHER "-WRONGTYPE x\r\n"

static const row rows[] = {
	/* ------------------------------------------------ values, by groups -- */
	{ "mget", 'v', "aab", "r", "*2\r\n" A NIL "*1\r\n" B, GOOD, "=A - =B",
	  "" },
	{ "mget of one slot", 'v', "aaa", "r", "*3\r\n" A NIL B, GOOD,
	  "=A - =B", "" },
	{ "mget and get", 'v', "abbc", "r1", A "*2\r\n" A NIL NIL, GOOD,
	  "=A =A - -", "" },
	{ "get: null of RESP3", 'v', "ab", "r1", "_\r\n" A, GOOD, "- =A", "" },
	{ "get: empty", 'v', "a", "r1", "$0\r\n\r\n", GOOD, "=", "" },
	{ "get: another type is nil", 'v', "abc", "r1", OTHER A OTHER, GOOD,
	  "- =A -", "" },
	{ "get: another type is nil in a cluster too", 'v', "ab", "r1c",
	  OTHER A, GOOD, "- =A", "" },
	{ "get: too long", 'v', "ab", "r1",
	  "$30\r\n012345678901234567890123456789\r\n" A, PARTIAL, RB_ANSWERED,
	  NONE_, 0, NULL, "!the value is longer than max_value_bytes =A",
	  "longer than max_value_bytes" },
	{ "mget alone", 'v', "aaa", "ra", "*1\r\n" A "*1\r\n" NIL "*1\r\n" B,
	  GOOD, "=A - =B", "" },
	{ "get alone", 'v', "aaa", "ra1", A NIL B, GOOD, "=A - =B", "" },
	{ "alone without slots", 'v', "...", "ra1", A NIL B, GOOD, "=A - =B",
	  "" },
	{ "mget: no slots, no get", 'v', ".", "r1", "*1\r\n" A, GOOD, "=A",
	  "" },
	{ "mget: an error first", 'v', "aabc", "r1", "-ERR a\r\n" A B, PARTIAL,
	  RB_ANSWERED, FAIL_, 0, NULL, "!ERR a !ERR a =A =B", "ERR a" },
	{ "mget: an error amidst", 'v', "abbc", "r1", A "-ERR a\r\n" B, PARTIAL,
	  RB_ANSWERED, FAIL_, 0, NULL, "=A !ERR a !ERR a =B", "ERR a" },
	{ "mget: an error last", 'v', "abcc", "r1", A B "-ERR a\r\n", PARTIAL,
	  RB_ANSWERED, FAIL_, 0, NULL, "=A =B !ERR a !ERR a", "ERR a" },
	{ "mget: the first error is told", 'v', "abc", "r1",
	  A "-ERR b\r\n-ERR c\r\n", PARTIAL, RB_ANSWERED, FAIL_, 0, NULL,
	  "=A !ERR b !ERR c", "ERR b" },
	{ "mget: an error without text", 'v', "ab", "r1", "-\r\n" A, PARTIAL,
	  RB_ANSWERED, FAIL_, 0, NULL, "!an error without text =A",
	  "an error without text" },
	{ "mget: errors", 'v', "aab", "r1", "-ERR a\r\n-ERR b\r\n", FAILED,
	  RB_REJECTED, FAIL_, 0, NULL, "!ERR a !ERR a !ERR b", "ERR a" },
	{ "mget: one error", 'v', "aa", "r1", "-ERR a\r\n", FAILED, RB_REJECTED,
	  FAIL_, 0, NULL, "!ERR a !ERR a", "ERR a" },
	{ "mget: errors inside", 'v', "aab", "r", "*2\r\n" UP A "*1\r\n" UP,
	  PARTIAL, RB_ANSWERED, NONE_, 0, NULL,
	  "!upstream failure =A !upstream failure", "upstream failure" },
	{ "mget: all not now", 'v', "aab", "r1", BUSY BUSY, FAILED, RB_REJECTED,
	  RBI_ROUTE_LATER, 0, NULL,
	  "!BUSY a script !BUSY a script "
	  "!BUSY a script",
	  "BUSY a script" },
	{ "mget: some not now", 'v', "aab", "r1", BUSY A, PARTIAL, RB_ANSWERED,
	  NONE_, 0, NULL, "!BUSY a script !BUSY a script =A", "BUSY" },
	{ "mget: one too many", 'v', "aab", "r", "*3\r\n" A A A, OFF, "? ? ?",
	  "MGET of 2 was answered by 3" },
	{ "mget: one too many in the last", 'v', "aab", "r",
	  "*2\r\n" A A "*2\r\n" A A, OFF, "=A =A ?",
	  "MGET of 1 was answered by 2" },
	{ "mget: a value", 'v', "aab", "r1", A, OFF, "? ? ?",
	  "MGET was answered by a string instead of an array" },
	{ "get: an array", 'v', "abb", "r1", "*1\r\n" A, OFF, "? ? ?",
	  "GET was answered by an array instead of a value" },
	{ "get: an integer", 'v', "ab", "r1", A ":1\r\n", OFF, "=A ?",
	  "GET was answered by an integer" },
	{ "get: a nil array", 'v', "a", "r1", "*-1\r\n", OFF, "?",
	  "instead of a value" },
	{ "mget: queued", 'v', "aab", "r1", Q Q, DONE, RB_ERR_PROTOCOL,
	  RB_UNKNOWN, RBI_ROUTE_STOP, 0, NULL, "? ? ?", "inside MULTI" },

	/* --------------------------------------------------------- in a cluster */
	{ "mget: moved amidst", 'v', "abbc", "r1c", A MOVED B, PARTIAL,
	  RB_ANSWERED, NONE_, 1, "MOVED 7 h:1",
	  "=A !MOVED 7 h:1 !MOVED 7 h:1 =B", "MOVED 7 h:1" },
	{ "mget: moved and ask", 'v', "abc", "r1c", ASK MOVED B, PARTIAL,
	  RB_ANSWERED, NONE_, 2, "ASK 7 i:2", "!ASK 7 i:2 !MOVED 7 h:1 =B",
	  "ASK 7 i:2" },
	{ "mget: all moved", 'v', "aab", "r1c", MOVED MOVED, FAILED,
	  RB_REJECTED, NONE_, 2, "MOVED 7 h:1",
	  "!MOVED 7 h:1 !MOVED 7 h:1 !MOVED 7 h:1", "MOVED" },
	{ "mget: all not now", 'v', "aab", "r1c", BUSY TRY, FAILED, RB_REJECTED,
	  NONE_, 2, NULL, "!BUSY a script !BUSY a script !TRYAGAIN later",
	  "BUSY" },
	{ "mget: of all kinds", 'v', "abcdefgh", "r1c",
	  TRY "-CROSSSLOT x\r\n-CLUSTERDOWN x\r\n" NOKEY
	      "-OOM x\r\n-max request size exceeded\r\n" UP "-ERR x\r\n",
	  FAILED, RB_REJECTED, FAIL_, 7, NULL,
	  "!TRYAGAIN later !CROSSSLOT x !CLUSTERDOWN x !NOPERM access a key "
	  "!OOM x !max request size exceeded !upstream failure !ERR x",
	  "TRYAGAIN" },
	{ "mget: nobody is known", 'v', "abc", "r1c", A "-NOAUTH x\r\n" MOVED,
	  PARTIAL, RB_ANSWERED, RBI_ROUTE_STOP, 1, "MOVED 7 h:1",
	  "=A !NOAUTH x !MOVED 7 h:1", "NOAUTH x" },
	{ "mget: the end", 'v', "ab", "r1c", A "-ERR Protocol error: x\r\n",
	  PARTIAL, RB_ANSWERED, RBI_ROUTE_CLOSE, 0, NULL,
	  "=A !ERR Protocol error: x", "Protocol" },
	{ "hmget in a cluster: moved", 'v', "...", "rc", MOVED, FAILED,
	  RB_REJECTED, RBI_ROUTE_REDIRECT, 1, "MOVED 7 h:1", "? ? ?", "MOVED" },
	{ "hmget in a cluster: an error", 'v', "..", "rc", OTHER, FAILED,
	  RB_REJECTED, FAIL_, 0, NULL, "? ?", "WRONGTYPE" },
	{ "mget elsewhere: moved", 'v', "aab", "r1", MOVED A, PARTIAL,
	  RB_ANSWERED, FAIL_, 0, NULL, "!MOVED 7 h:1 !MOVED 7 h:1 =A",
	  "MOVED" },

	/* --------------------------------------------------------------- asking */
	{ "asking", 'v', "aab", "r1k", OK "*2\r\n" A NIL OK B, GOOD, "=A - =B",
	  "" },
	{ "asking alone", 'v', "aa", "r1ka", OK A OK B, GOOD, "=A =B", "" },
	{ "asking without slots", 'v', "..", "rk", OK "*2\r\n" A B, GOOD,
	  "=A =B", "" },
	{ "asking: a refusal", 'v', "abc", "r1kc", OK A OK MOVED OK B, PARTIAL,
	  RB_ANSWERED, NONE_, 1, "MOVED 7 h:1", "=A !MOVED 7 h:1 =B", "MOVED" },
	{ "asking is refused, its command is not", 'v', "ab", "r1kc",
	  "-ERR no asking\r\n" A OK B, GOOD, "=A =B", "" },
	{ "asking is refused, so its command is", 'v', "abc", "r1kc",
	  "-ERR no asking\r\n" MOVED OK B OK MOVED, PARTIAL, RB_ANSWERED, FAIL_,
	  1, "MOVED 7 h:1", "!ERR no asking =B !MOVED 7 h:1", "ERR no asking" },
	{ "asking is refused, its command for another reason", 'v', "ab",
	  "r1kc", "-ERR no asking\r\n" BUSY OK B, PARTIAL, RB_ANSWERED, NONE_,
	  1, NULL, "!BUSY a script =B", "BUSY" },
	{ "asking: nobody is known", 'v', "ab", "r1kc",
	  "-NOAUTH x\r\n-NOAUTH y\r\n-NOAUTH x\r\n-NOAUTH y\r\n", FAILED,
	  RB_REJECTED, RBI_ROUTE_STOP, 0, NULL, "!NOAUTH y !NOAUTH y",
	  "NOAUTH" },
	{ "asking: a number", 'v', "ab", "r1k", OK A ":1\r\n", OFF, "=A ?",
	  "ASKING was answered by an integer instead of OK" },
	{ "asking: another word", 'v', "ab", "r1k", "+KO\r\n", OFF, "? ?",
	  "ASKING was answered by" },
	{ "asking: no OK to it", 'v', "ab", "r1k", A, OFF, "? ?",
	  "ASKING was answered by" },
	{ "asking: an OK too many", 'v', "ab", "r1k", OK OK, OFF, "? ?",
	  "GET was answered by" },

	/* --------------------------------------------------------------- writes */
	{ "mset", 'o', "aab", "", OK OK, GOOD, "D D D", "" },
	{ "mset and set, asking", 'o', "abb", "1k", OK OK OK OK, GOOD, "D D D",
	  "" },
	{ "mset: an error first", 'o', "aabc", "", "-ERR a\r\n" OK OK, PARTIAL,
	  RB_PARTLY, FAIL_, 0, NULL, "!ERR a !ERR a D D", "ERR a" },
	{ "mset: an error amidst", 'o', "abbc", "", OK "-ERR a\r\n" OK, PARTIAL,
	  RB_PARTLY, FAIL_, 0, NULL, "D !ERR a !ERR a D", "ERR a" },
	{ "mset: an error last", 'o', "abcc", "", OK OK "-ERR a\r\n", PARTIAL,
	  RB_PARTLY, FAIL_, 0, NULL, "D D !ERR a !ERR a", "ERR a" },
	{ "mset: errors", 'o', "aab", "", "-ERR a\r\n-ERR b\r\n", FAILED,
	  RB_REJECTED, FAIL_, 0, NULL, "!ERR a !ERR a !ERR b", "ERR a" },
	{ "mset: a proxy, of one", 'o', "aab", "c", UP OK, PARTIAL, RB_PARTLY,
	  FAIL_, 0, NULL, "~upstream failure ~upstream failure D",
	  "upstream failure" },
	{ "mset: a proxy", 'o', "aab", "c", UP UP, FAILED, RB_UNKNOWN, FAIL_, 0,
	  NULL, "~upstream failure ~upstream failure ~upstream failure",
	  "upstream failure" },
	{ "mset: a proxy, and moved", 'o', "ab", "c", UP MOVED, FAILED,
	  RB_UNKNOWN, FAIL_, 1, "MOVED 7 h:1", "~upstream failure !MOVED 7 h:1",
	  "upstream failure" },
	{ "mset: in part", 'o', "aab", "c", "-finished with 1 error(s)\r\n" OK,
	  PARTIAL, RB_PARTLY, FAIL_, 0, NULL,
	  "~finished with 1 error(s) ~finished with 1 error(s) D", "finished" },
	{ "mset: moved", 'o', "aab", "c", OK MOVED, PARTIAL, RB_PARTLY, NONE_,
	  1, "MOVED 7 h:1", "D D !MOVED 7 h:1", "MOVED" },
	{ "mset: all moved", 'o', "aab", "c", MOVED MOVED, FAILED, RB_REJECTED,
	  NONE_, 2, "MOVED 7 h:1", "!MOVED 7 h:1 !MOVED 7 h:1 !MOVED 7 h:1",
	  "MOVED" },
	{ "mset: memory", 'o', "ab", "c", OK "-OOM x\r\n", PARTIAL, RB_PARTLY,
	  NONE_, 1, NULL, "D !OOM x", "OOM" },
	{ "mset: read only", 'o', "ab", "c", OK "-READONLY x\r\n", PARTIAL,
	  RB_PARTLY, RBI_ROUTE_STOP, 0, NULL, "D !READONLY x", "READONLY" },
	{ "mset: a number", 'o', "ab", "", OK ":1\r\n", OFF, "D ?",
	  "instead of OK" },
	{ "mset: queued", 'o', "ab", "", Q Q, DONE, RB_ERR_PROTOCOL, RB_UNKNOWN,
	  RBI_ROUTE_STOP, 0, NULL, "? ?", "inside MULTI" },
	{ "mset in one, in a cluster", 'o', "...", "c", MOVED, FAILED,
	  RB_REJECTED, RBI_ROUTE_REDIRECT, 1, "MOVED 7 h:1", "? ? ?", "MOVED" },
	{ "mset in one, in a cluster: a proxy", 'o', "...", "c", UP, FAILED,
	  RB_UNKNOWN, FAIL_, 0, NULL, "? ? ?", "upstream" },

	/* -------------------------------------------------------------- numbers */
	{ "unlink", 'i', "aab", "", ":2\r\n:1\r\n", GOOD, "D D D", "" },
	{ "unlink: an error", 'i', "aab", "c", ":2\r\n" MOVED, PARTIAL,
	  RB_PARTLY, NONE_, 1, "MOVED 7 h:1", "D D !MOVED 7 h:1", "MOVED" },
	{ "exists: an error", 'i', "aab", "rc", ":2\r\n" MOVED, PARTIAL,
	  RB_ANSWERED, NONE_, 1, "MOVED 7 h:1", "D D !MOVED 7 h:1", "MOVED" },
	{ "exists: errors", 'i', "ab", "rc", MOVED ASK, FAILED, RB_REJECTED,
	  NONE_, 2, "MOVED 7 h:1", "!MOVED 7 h:1 !ASK 7 i:2", "MOVED" },
	{ "unlink: ok", 'i', "ab", "", ":1\r\n" OK, OFF, "D ?",
	  "instead of an integer" },

	/* ---------------------------------------------------- a command for each */
	{ "set", 's', "aab", "ck", OK OK OK NIL OK OK, DONE, RB_OK, RB_PARTLY,
	  NONE_, 0, NULL, "D U D", "" },
	{ "set: moved", 's', "aab", "c", OK MOVED NIL, PARTIAL, RB_PARTLY,
	  NONE_, 1, "MOVED 7 h:1", "D !MOVED 7 h:1 U", "MOVED" },
	{ "set: all moved", 's', "aab", "c", MOVED MOVED ASK, FAILED,
	  RB_REJECTED, NONE_, 3, "MOVED 7 h:1",
	  "!MOVED 7 h:1 !MOVED 7 h:1 !ASK 7 i:2", "MOVED" },
	{ "set: moved and unmet", 's', "ab", "c", MOVED NIL, PARTIAL,
	  RB_REJECTED, NONE_, 1, "MOVED 7 h:1", "!MOVED 7 h:1 U", "MOVED" },
	{ "set: all not now", 's', "ab", "c", BUSY BUSY, FAILED, RB_REJECTED,
	  NONE_, 2, NULL, "!BUSY a script !BUSY a script", "BUSY" },
	{ "set: all not now, elsewhere", 's', "ab", "", BUSY BUSY, FAILED,
	  RB_REJECTED, RBI_ROUTE_LATER, 0, NULL,
	  "!BUSY a script !BUSY a script", "BUSY" },
	{ "set: try again, elsewhere", 's', "ab", "", TRY TRY, FAILED,
	  RB_REJECTED, RBI_ROUTE_AGAIN, 0, NULL,
	  "!TRYAGAIN later !TRYAGAIN later", "TRYAGAIN" },
	{ "set: memory", 's', "ab", "c", OK "-OOM x\r\n", PARTIAL, RB_PARTLY,
	  NONE_, 1, NULL, "D !OOM x", "OOM" },
	{ "set: memory, elsewhere", 's', "ab", "", OK "-OOM x\r\n", PARTIAL,
	  RB_PARTLY, RBI_ROUTE_STOP, 0, NULL, "D !OOM x", "OOM" },
	{ "sizes: moved", 'z', "ab", "rc", ":7\r\n" MOVED, PARTIAL, RB_PARTLY,
	  NONE_, 1, "MOVED 7 h:1", "D !MOVED 7 h:1", "MOVED" },

	/* ----------------------------------------------------- commands of a kind */
	{ "any", 'c', "GET SET", "ck", OK A OK ":1\r\n", GOOD, "\"A\" :1", "" },
	{ "any: moved", 'c', "GET SET GET", "c", A MOVED ASK, PARTIAL,
	  RB_PARTLY, NONE_, 2, "MOVED 7 h:1", "\"A\" -MOVED 7 h:1 -ASK 7 i:2",
	  "MOVED" },
	{ "any: all moved", 'c', "GET SET", "c", MOVED MOVED, FAILED,
	  RB_REJECTED, NONE_, 2, "MOVED 7 h:1", "-MOVED 7 h:1 -MOVED 7 h:1",
	  "MOVED" },
	{ "any: not now", 'c', "GET SET", "c", BUSY ":1\r\n", PARTIAL,
	  RB_PARTLY, NONE_, 1, NULL, "-BUSY a script :1", "BUSY" },
	{ "any: memory", 'c', "GET SET", "c", A "-OOM x\r\n", PARTIAL,
	  RB_PARTLY, NONE_, 1, NULL, "\"A\" -OOM x", "OOM" },
	{ "any: a proxy", 'c', "GET SET", "c", A UP, PARTIAL, RB_PARTLY, NONE_,
	  0, NULL, "\"A\" -upstream failure", "upstream" },
	{ "any: an error", 'c', "GET SET", "c", A OTHER, PARTIAL, RB_PARTLY,
	  NONE_, 0, NULL, "\"A\" -WRONGTYPE x", "WRONGTYPE" },
	{ "any: moved inside is no refusal", 'c', "EVAL GET", "c",
	  "*1\r\n" MOVED A, GOOD, "[-MOVED 7 h:1] \"A\"", "" },
	{ "any: asking is refused, and moved inside", 'c', "EVAL GET", "ck",
	  "-ERR no asking\r\n*1\r\n" MOVED OK A, GOOD, "[-MOVED 7 h:1] \"A\"",
	  "" },
	{ "any: moved, elsewhere", 'c', "GET SET", "", A MOVED, PARTIAL,
	  RB_PARTLY, NONE_, 0, NULL, "\"A\" -MOVED 7 h:1", "MOVED" },
	{ "any: asking before MULTI only", 'c', "GET MULTI SET EXEC GET", "ck",
	  OK A OK OK Q "*1\r\n" OK OK B, GOOD, "\"A\" +OK +QUEUED [+OK] \"B\"",
	  "" },
	{ "any: asking is refused, and a transaction", 'c',
	  "MULTI SET EXEC GET", "ck",
	  "-ERR no asking\r\n" OK MOVED "-EXECABORT x\r\n" OK B, PARTIAL,
	  RB_PARTLY, NONE_, 0, NULL, "+OK -ERR no asking -EXECABORT x \"B\"",
	  "ERR no asking" },

	/* ---------------------------------------------------------- transactions */
	{ "tx: asking", 'o', "aa", "tk", OK OK Q "*1\r\n" OK, GOOD, "D D", "" },
	{ "tx: without asking", 'o', "aa", "t", OK Q "*1\r\n" OK, GOOD, "D D",
	  "" },
	{ "tx: alone", 'o', "aa", "tka1", OK OK Q Q "*2\r\n" OK OK, GOOD, "D D",
	  "" },
	{ "tx: numbers alone", 'i', "aa", "ta", OK Q Q "*2\r\n:1\r\n:1\r\n",
	  GOOD, "D D", "" },
	{ "tx: an error inside", 'o', "aa", "t", OK Q "*1\r\n-ERR a\r\n",
	  FAILED, RB_REJECTED, FAIL_, 0, NULL, "!ERR a !ERR a", "ERR a" },
	{ "tx: an error inside of one alone", 'o', "aa", "ta",
	  OK Q Q "*2\r\n-ERR a\r\n" OK, PARTIAL, RB_PARTLY, FAIL_, 0, NULL,
	  "!ERR a D", "ERR a" },
	{ "tx: too few alone", 'o', "aa", "ta", OK Q Q "*1\r\n" OK, OFF, "? ?",
	  "an array of its answers" },
	{ "tx: moved when queued", 'o', "aa", "tc", OK MOVED "-EXECABORT x\r\n",
	  FAILED, RB_REJECTED, RBI_ROUTE_REDIRECT, 1, "MOVED 7 h:1", "? ?",
	  "EXECABORT x (MOVED 7 h:1)" },
	{ "tx: ask when queued", 'o', "..", "tc", OK ASK "-EXECABORT x\r\n",
	  FAILED, RB_REJECTED, RBI_ROUTE_REDIRECT, 1, "ASK 7 i:2", "? ?",
	  "EXECABORT x (ASK 7 i:2)" },
	{ "tx: two moved when queued", 'o', "aa", "tac",
	  OK MOVED ASK "-EXECABORT x\r\n", FAILED, RB_REJECTED,
	  RBI_ROUTE_REDIRECT, 2, "MOVED 7 h:1", "? ?",
	  "EXECABORT x (MOVED 7 h:1)" },
	{ "tx: moved when executed", 'o', "aa", "tc", OK Q MOVED, FAILED,
	  RB_REJECTED, RBI_ROUTE_REDIRECT, 1, "MOVED 7 h:1", "? ?",
	  "MOVED 7 h:1" },
	{ "tx: try again", 'o', "aa", "tkc", OK OK TRY "-EXECABORT x\r\n",
	  FAILED, RB_REJECTED, RBI_ROUTE_ALONE, 1, NULL, "? ?",
	  "EXECABORT x (TRYAGAIN later)" },
	{ "tx: any, all moved", 'c', "GET SET", "tc",
	  OK MOVED MOVED "-EXECABORT x\r\n", FAILED, RB_REJECTED,
	  RBI_ROUTE_REDIRECT, 2, "MOVED 7 h:1", "!MOVED 7 h:1 !MOVED 7 h:1",
	  "EXECABORT x (MOVED 7 h:1)" },
	{ "tx: any, the first refusal counts", 'c', "GET SET SET", "tc",
	  OK ASK MOVED "-LOADING x\r\n-EXECABORT x\r\n", FAILED, RB_REJECTED,
	  RBI_ROUTE_REDIRECT, 3, "ASK 7 i:2",
	  "!ASK 7 i:2 !MOVED 7 h:1 !LOADING x", "EXECABORT x (ASK 7 i:2)" },
	{ "tx: any, one is wrong", 'c', "GET SET", "tc",
	  OK "-ERR a\r\n" MOVED "-EXECABORT x\r\n", FAILED, RB_REJECTED, FAIL_,
	  1, "MOVED 7 h:1", "!ERR a !MOVED 7 h:1", "EXECABORT x (ERR a)" },
	{ "tx: any, moved and unknown", 'c', "GET SET", "tc",
	  OK MOVED "-NOAUTH x\r\n-EXECABORT x\r\n", FAILED, RB_REJECTED,
	  RBI_ROUTE_STOP, 1, "MOVED 7 h:1", "!MOVED 7 h:1 !NOAUTH x",
	  "EXECABORT x (MOVED 7 h:1)" },
	{ "tx: asking is refused", 'o', "aa", "tkc",
	  "-ERR no asking\r\n" OK MOVED "-EXECABORT x\r\n", FAILED, RB_REJECTED,
	  FAIL_, 0, NULL, "? ?", "EXECABORT x (ERR no asking)" },
	{ "tx: asking is refused for nothing", 'o', "aa", "tkc",
	  "-ERR no asking\r\n" OK Q "*1\r\n" OK, GOOD, "D D", "" },
	{ "tx: MULTI is not run", 'o', "aa", "tc",
	  "-LOADING x\r\n" OK "-ERR EXEC without MULTI\r\n", FAILED, RB_UNKNOWN,
	  RBI_ROUTE_STOP, 0, NULL, "? ?", "MULTI was refused: LOADING x" },
	{ "tx: moved, elsewhere", 'o', "aa", "t", OK MOVED "-EXECABORT x\r\n",
	  FAILED, RB_REJECTED, FAIL_, 0, NULL, "? ?",
	  "EXECABORT x (MOVED 7 h:1)" },
};

/* ----------------------------------------------------------------- a run -- */

typedef struct run {
	rbi_batch batch;
	uint16_t slots[MOST];
	rb_command commands[MOST];
	const char *argv[MOST];
	size_t argvlen[MOST];
	rb_result *res;
	rbi_reader reader;
	rbi_answer answer;
	rbi_progress progress;
	char *bytes;
	size_t read; /* bytes it took to come to an end */
} run;

static bool has(const row *w, char flag)
{
	return strchr(w->flags, flag) != NULL;
}

static void set_shape(rbi_batch *b, char kind)
{
	b->form = kind == 's' || kind == 'z' ? RBI_FORM_EACH :
		  kind == 'c'		     ? RBI_FORM_COMMANDS :
					       RBI_FORM_GATHER;
	b->shape = kind == 'v' ? RBI_SHAPE_VALUES :
		   kind == 'o' ? RBI_SHAPE_OK :
		   kind == 'i' ? RBI_SHAPE_INTEGER :
		   kind == 's' ? RBI_SHAPE_SET :
		   kind == 'z' ? RBI_SHAPE_SIZES :
				 RBI_SHAPE_REPLIES;
}

static void set_commands(run *r, const row *w)
{
	const char *at = w->slots;

	while (*at != '\0') {
		size_t len = strcspn(at, " ");
		size_t i = r->batch.n++;

		assert_true(i < MOST);
		r->argv[i] = at;
		r->argvlen[i] = len;
		r->commands[i].argc = 1;
		r->commands[i].argv = &r->argv[i];
		r->commands[i].argvlen = &r->argvlen[i];
		at += at[len] == ' ' ? len + 1 : len;
	}
	r->batch.commands = r->commands;
}

static void set_slots(run *r, const row *w)
{
	size_t i;

	r->batch.n = strlen(w->slots);
	assert_true(r->batch.n <= MOST);
	if (w->slots[0] == '.')
		return;
	for (i = 0; i < r->batch.n; i++)
		r->slots[i] = (uint16_t)w->slots[i];
	r->batch.slots = r->slots;
}

static rbi_cut cut_of(run *r, const row *w)
{
	rbi_batch *b = &r->batch;
	rbi_cut cut = { .batch = b };

	set_shape(b, w->kind);
	b->command = (rb_slice){ w->kind == 'v' ? "MGET" : "NAME", 4 };
	if (has(w, '1'))
		b->single = (rb_slice){ "GET", 3 };
	b->transaction = has(w, 't');
	b->clustered = has(w, 'c');
	b->reads = has(w, 'r');
	if (w->kind == 'c')
		set_commands(r, w);
	else
		set_slots(r, w);
	cut.count = b->n;
	cut.alone = has(w, 'a');
	cut.asking = has(w, 'k');
	return cut;
}

/* How many bytes have arrived once no more than at will do: in steps, or in
 * two parts. */
static size_t next_at(size_t at, size_t step, bool halves, size_t len)
{
	if (halves)
		return at < step ? step : len;
	return at + step < len ? at + step : len;
}

/* Lets the bytes arrive step by step, or in two parts, split at step. */
static void run_row(run *r, const row *w, size_t step, bool halves)
{
	size_t len = strlen(w->bytes);
	size_t at = next_at(0, step, halves, len);
	rbi_cut cut;

	memset(r, 0, sizeof(*r));
	r->bytes = exact_copy(w->bytes, len);
	cut = cut_of(r, w);
	r->res = rbi_result_new(&rbi_alloc_default, cut.count, 1, "node");
	assert_non_null(r->res);
	rbi_reader_init(&r->reader, 25);
	rbi_answer_init(&r->answer, &cut, r->res->entries, r->res);
	rbi_reader_window(&r->reader, r->bytes, r->bytes + at);
	for (;;) {
		r->progress = rbi_answer_read(&r->answer, &r->reader, r->res);
		if (r->progress != RBI_PROGRESS_MORE || at == len)
			break;
		at = next_at(at, step, halves, len);
		rbi_reader_window(&r->reader, r->reader.pos, r->bytes + at);
	}
	r->read = at;
}

static void end_run(run *r)
{
	rb_result_free(r->res);
	free(r->bytes);
}

static void say_entry(char *out, size_t size, const rbi_entry *e)
{
	char *reply;

	switch (rbi_entry_state(e)) {
	case RBI_STATE_DONE:
		snprintf(out, size, "D");
		return;
	case RBI_STATE_UNMET:
		snprintf(out, size, "U");
		return;
	case RBI_STATE_UNSET:
		snprintf(out, size, "?");
		return;
	case RBI_STATE_REPLY:
	case RBI_STATE_REPLY_ERROR:
		reply = rbt_reply_print(e->data);
		snprintf(out, size, "%s", reply);
		free(reply);
		return;
	case RBI_STATE_ERROR:
	case RBI_STATE_SHAPE:
	case RBI_STATE_LONG:
		snprintf(out, size, "!%s", (const char *)e->data);
		return;
	case RBI_STATE_DOUBT:
		snprintf(out, size, "~%s", (const char *)e->data);
		return;
	case RBI_STATE_VALUE:
		snprintf(out, size, "=%s", (const char *)e->data);
		return;
	case RBI_STATE_NIL:
		snprintf(out, size, "-");
		return;
	}
}

static void check_entries(const run *r, const row *w)
{
	char entries[512] = "";
	char one[200];
	size_t at = 0;
	size_t i;

	for (i = 0; i < r->batch.n; i++) {
		say_entry(one, sizeof(one), &r->res->entries[i]);
		at += (size_t)snprintf(entries + at, sizeof(entries) - at,
				       "%s%s", i > 0 ? " " : "", one);
	}
	if (strcmp(entries, w->entries) != 0)
		fail_msg("%s: entries are %s", w->name, entries);
}

static void check_redirect(const run *r, const row *w)
{
	const char *got = r->answer.redirect;

	if ((got == NULL) != (w->redirect == NULL) ||
	    (got != NULL && strcmp(got, w->redirect) != 0))
		fail_msg("%s: the redirect is %s", w->name,
			 got != NULL ? got : "none");
}

static void check_run(const run *r, const row *w)
{
	const rbi_answer *a = &r->answer;

	if (r->progress != w->progress)
		fail_msg("%s: progress %d", w->name, (int)r->progress);
	check_entries(r, w);
	if (strstr(a->message, w->message) == NULL ||
	    (w->message[0] == '\0' && a->message[0] != '\0'))
		fail_msg("%s: it says %s", w->name, a->message);
	if (w->progress != DONE)
		return;
	if (a->status != w->status || a->outcome != w->outcome)
		fail_msg("%s: it is \"%s\", %s", w->name,
			 rb_status_text(a->status),
			 rb_outcome_text(a->outcome));
	if (a->route != w->route || a->refused != w->refused)
		fail_msg("%s: route %d, %zu refused", w->name, (int)a->route,
			 a->refused);
	check_redirect(r, w);
	/* Exactly its bytes were taken. */
	if (r->reader.pos != r->bytes + strlen(w->bytes))
		fail_msg("%s: bytes are left", w->name);
}

static void test_every_answer_is_read_however_it_arrives(void **state)
{
	size_t i;
	size_t step;
	int halves;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		for (step = strlen(rows[i].bytes); step > 0; step--) {
			for (halves = 0; halves < 2; halves++) {
				run r;

				run_row(&r, &rows[i], step, halves != 0);
				check_run(&r, &rows[i]);
				end_run(&r);
			}
		}
	}
}

static void test_an_answer_is_done_at_its_last_byte_and_not_before(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(rows); i++) {
		run r;

		if (rows[i].progress != DONE)
			continue;
		run_row(&r, &rows[i], 1, false);
		if (r.read != strlen(rows[i].bytes))
			fail_msg("%s: %zu bytes", rows[i].name, r.read);
		end_run(&r);
	}
}

/* -------------------------------------------------------------- numbers -- */

static void test_the_numbers_of_groups_add_up_and_do_not_wrap(void **state)
{
#define HUGE "9223372036854775807"
	static const struct {
		const char *bytes;
		int64_t want;
	} cases[] = {
		{ ":2\r\n:1\r\n:0\r\n", 3 },
		{ ":2\r\n-ERR a\r\n:40\r\n", 42 },
		{ ":5\r\n:-7\r\n:1\r\n", -1 },
		{ ":" HUGE "\r\n:1\r\n:0\r\n", INT64_MAX },
		{ ":1\r\n:" HUGE "\r\n:" HUGE "\r\n", INT64_MAX },
		{ ":-" HUGE "\r\n:-2\r\n:0\r\n", INT64_MIN },
	};
#undef HUGE
	size_t i;

	(void)state;
	for (i = 0; i < N_OF(cases); i++) {
		const row w = { .kind = 'i',
				.slots = "aabc",
				.flags = "",
				.bytes = cases[i].bytes };
		run r;

		run_row(&r, &w, 1, false);
		assert_int_equal(r.progress, RBI_PROGRESS_DONE);
		assert_true(r.answer.number == cases[i].want);
		end_run(&r);
	}
}

/* ------------------------------------------------------------------ bytes -- */

/* What is pointed to must not be reclaimed before the chunk is over. */
static void test_words_that_are_pointed_to_are_kept(void **state)
{
	static const row refused = {
		.kind = 'c', .slots = "GET GET", .flags = "c", .bytes = MOVED
	};
	static const row asked = { .kind = 'v',
				   .slots = "ab",
				   .flags = "r1k",
				   .bytes = "-ERR no asking\r\n" };
	run r;

	(void)state;
	run_row(&r, &refused, 1000, false);
	assert_int_equal(r.progress, RBI_PROGRESS_MORE);
	assert_ptr_equal(r.answer.keep, r.bytes + strlen(refused.bytes));
	end_run(&r);
	run_row(&r, &asked, 1000, false);
	assert_int_equal(r.progress, RBI_PROGRESS_MORE);
	assert_ptr_equal(r.answer.keep, r.bytes + strlen(asked.bytes));
	end_run(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer_is_read_however_it_arrives),
		cmocka_unit_test(
			test_an_answer_is_done_at_its_last_byte_and_not_before),
		cmocka_unit_test(
			test_the_numbers_of_groups_add_up_and_do_not_wrap),
		cmocka_unit_test(test_words_that_are_pointed_to_are_kept),
	};

	return cmocka_run_group_tests_name("answer: groups", tests, NULL, NULL);
}
