#include "recorded.h"

/* clang-format off */

/* A part that answers no entry; that answers the next one, the next n, entry
 * i; a string of so many bytes. */
#define RAW(text) { (text), sizeof(text) - 1, NULL, RBT_NEXT, 0, 0 }
#define ONE(text, want) { (text), sizeof(text) - 1, (want), RBT_NEXT, 1, 0 }
#define MANY(n, text, want) \
	{ (text), sizeof(text) - 1, (want), RBT_NEXT, (n), 0 }
#define AT(i, text, want) { (text), sizeof(text) - 1, (want), (i), 1, 0 }
#define FILL(size) { NULL, 0, NULL, RBT_NEXT, 1, (size) }
#define NIL ONE("$-1\r\n", "nil")

#define PUSH ">3\r\n+message\r\n+channel\r\n$7\r\n*1\r\n$-1\r\n"
#define INVALIDATE ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nkey\r\n"
#define POPULARITY "|1\r\n+key-popularity\r\n%1\r\n$1\r\na\r\n,0.1923\r\n"
#define QUEUED2 "+OK\r\n+QUEUED\r\n+QUEUED\r\n"

const rbt_recorded rbt_recordings[] = {
	/* ------------------------------------------------------- values -- */
	{ "MGET", RBT_DO_MGET, 6, 3, RB_OK, {
		RAW("*3\r\n"), ONE("$5\r\nfirst\r\n", "\"first\""),
		ONE("$-1\r\n", "nil"), ONE("$0\r\n\r\n", "\"\""),
		RAW("*3\r\n"), ONE("$1\r\n1\r\n", "\"1\""),
		ONE("$2\r\n-1\r\n", "\"-1\""), ONE("$-1\r\n", "nil") } },
	{ "MGET of RESP3", RBT_DO_MGET, 5, 2, RB_OK, {
		RAW("*2\r\n"), ONE("$1\r\n1\r\n", "\"1\""), ONE("_\r\n", "nil"),
		RAW("*2\r\n"), ONE("_\r\n", "nil"), ONE("$1\r\n_\r\n", "\"_\""),
		RAW("*1\r\n"), ONE("_\r\n", "nil") } },
	{ "one key in one chunk each", RBT_DO_MGET, 4, 1, RB_OK, {
		RAW("*1\r\n"), ONE("$1\r\na\r\n", "\"a\""),
		RAW("*1\r\n"), ONE("$-1\r\n", "nil"),
		RAW("*1\r\n"), ONE("$-1\r\n", "nil"),
		RAW("*1\r\n"), ONE("$2\r\nbb\r\n", "\"bb\"") } },
	{ "nothing but nil", RBT_DO_MGET, 8, 8, RB_OK, {
		RAW("*8\r\n"), NIL, NIL, NIL, NIL, NIL, NIL, NIL, NIL } },
	{ "empty strings", RBT_DO_MGET, 4, 2, RB_OK, {
		RAW("*2\r\n"), ONE("$0\r\n\r\n", "\"\""),
		ONE("$0\r\n\r\n", "\"\""),
		RAW("*2\r\n"), ONE("$0\r\n\r\n", "\"\""),
		ONE("$0\r\n\r\n", "\"\"") } },
	{ "values that look like answers", RBT_DO_MGET, 5, 5, RB_OK, {
		RAW("*5\r\n"),
		ONE("$10\r\n$-1\r\n$-1\r\n\r\n", "\"$-1\\x0d\\x0a$-1\\x0d\\x0a\""),
		ONE("$4\r\n\r\n\r\n\r\n", "\"\\x0d\\x0a\\x0d\\x0a\""),
		ONE("$1\r\n\r\r\n", "\"\\x0d\""),
		ONE("$1\r\n\n\r\n", "\"\\x0a\""),
		ONE("$8\r\n-ERR no\r\r\n", "\"-ERR no\\x0d\"") } },
	{ "values with NULs", RBT_DO_MGET, 3, 3, RB_OK, {
		RAW("*3\r\n"), ONE("$1\r\n\0\r\n", "\"\\x00\""),
		ONE("$3\r\na\0b\r\n", "\"a\\x00b\""),
		ONE("$4\r\n\xff\xfe\0\x80\r\n", "\"\\xff\\xfe\\x00\\x80\"") } },
	{ "pushes around chunks", RBT_DO_MGET, 4, 2, RB_OK, {
		RAW(INVALIDATE), RAW(PUSH), RAW("*2\r\n"),
		ONE("$1\r\na\r\n", "\"a\""), ONE("$-1\r\n", "nil"),
		RAW(PUSH), RAW(">0\r\n"), RAW("*2\r\n"),
		ONE("_\r\n", "nil"), ONE("$1\r\nb\r\n", "\"b\""),
		RAW(INVALIDATE) } },
	{ "attributes", RBT_DO_MGET, 3, 3, RB_OK, {
		RAW(POPULARITY), RAW("*3\r\n"), ONE("$1\r\na\r\n", "\"a\""),
		RAW("|1\r\n+ttl\r\n:3600\r\n"), ONE("_\r\n", "nil"),
		RAW("|2\r\n+a\r\n*2\r\n|1\r\n+x\r\n:1\r\n:1\r\n:2\r\n+b\r\n"
		    "$2\r\n\r\n\r\n"),
		ONE("$1\r\nc\r\n", "\"c\"") } },
	{ "errors for single keys", RBT_DO_MGET, 5, 5, RB_ERR_PARTIAL, {
		RAW("*5\r\n"), ONE("$1\r\nA\r\n", "\"A\""),
		ONE("-upstream failure\r\n", "-upstream failure"),
		ONE("$-1\r\n", "nil"),
		ONE("!9\r\nBLOB\r\nerr\r\n", "-BLOB\r\nerr"),
		ONE("-\r\n", "-an error without text") } },
	{ "elements that are no values", RBT_DO_MGET, 8, 8, RB_ERR_PARTIAL, {
		RAW("*8\r\n"), ONE(":5\r\n", "?unexpected answer"),
		ONE("+OK\r\n", "?unexpected answer"),
		ONE("*0\r\n", "?unexpected answer"),
		ONE("*-1\r\n", "?unexpected answer"),
		/* It is told as soon as its header has come. */
		ONE("*2\r\n", "?unexpected answer"), RAW("$1\r\nx\r\n$-1\r\n"),
		ONE("#t\r\n", "?unexpected answer"),
		ONE("=5\r\ntxt:x\r\n", "?unexpected answer"),
		ONE("$1\r\nB\r\n", "\"B\"") } },
	{ "an error for a chunk", RBT_DO_MGET, 5, 2, RB_ERR_PARTIAL, {
		RAW("*2\r\n"), ONE("$1\r\na\r\n", "\"a\""), ONE("$-1\r\n", "nil"),
		MANY(2, "-ERR not today\r\n", "-ERR not today"),
		RAW("*1\r\n"), ONE("$1\r\ne\r\n", "\"e\"") } },
	{ "a value that is too long", RBT_DO_MGET_SHORT, 4, 4, RB_ERR_PARTIAL, {
		RAW("*4\r\n"), ONE("$5\r\nshort\r\n", "\"short\""),
		ONE("$6\r\nlonger\r\n", "?past a limit"), ONE("$-1\r\n", "nil"),
		ONE("$5\r\nagain\r\n", "\"again\"") } },
	{ "values of 3 KB", RBT_DO_MGET, 3, 2, RB_OK, {
		RAW("*2\r\n"), FILL(3000), FILL(1), RAW("*1\r\n"),
		FILL(2999) } },
	{ "values of 70 KB", RBT_DO_MGET, 3, 3, RB_OK, {
		RAW("*3\r\n"), FILL(70000), ONE("$-1\r\n", "nil"), FILL(10) } },
	{ "HMGET", RBT_DO_HMGET, 5, 3, RB_OK, {
		RAW("*3\r\n"), ONE("$1\r\na\r\n", "\"a\""),
		ONE("$-1\r\n", "nil"), FILL(20), RAW("*2\r\n"),
		ONE("$0\r\n\r\n", "\"\""), ONE("$2\r\n10\r\n", "\"10\"") } },
	{ "HMGET of no hash", RBT_DO_HMGET, 4, 2, RB_ERR_PARTIAL, {
		MANY(2, "-WRONGTYPE not a hash\r\n", "-WRONGTYPE not a hash"),
		MANY(2, "!21\r\nWRONGTYPE not\r\na hash\r\n",
		     "-WRONGTYPE not\r\na hash") } },

	/* ------------------------------------------------------- writes -- */
	{ "MSET", RBT_DO_MSET, 5, 2, RB_OK, {
		MANY(2, "+OK\r\n", "done"), MANY(2, "+OK\r\n", "done"),
		ONE("+OK\r\n", "done") } },
	{ "MSET refused in part", RBT_DO_MSET, 6, 2, RB_ERR_PARTIAL, {
		MANY(2, "+OK\r\n", "done"),
		MANY(2, "-ERR not now\r\n", "-ERR not now"),
		RAW(PUSH), MANY(2, "+OK\r\n", "done") } },
	{ "SET with a condition", RBT_DO_SETNX, 6, 4, RB_ERR_PARTIAL, {
		ONE("+OK\r\n", "done"), ONE("$-1\r\n", "unmet"),
		ONE("_\r\n", "unmet"), ONE("-ERR no\r\n", "-ERR no"),
		ONE("$-1\r\n", "unmet"), ONE("+OK\r\n", "done") } },
	{ "HSET", RBT_DO_HSET, 5, 2, RB_OK, {
		MANY(2, ":2\r\n", "done"), MANY(2, ":0\r\n", "done"),
		ONE(":1\r\n", "done") } },
	{ "UNLINK", RBT_DO_UNLINK, 5, 3, RB_OK, {
		MANY(3, ":3\r\n", "done"), RAW(POPULARITY),
		MANY(2, ":1\r\n", "done") } },

	/* ---------------------------------------------------- pipelines -- */
	{ "a pipeline of plain replies", RBT_DO_PIPELINE, 9, 4, RB_ERR_PARTIAL, {
		ONE("+OK\r\n", "+OK"), ONE(":1000\r\n", ":1000"),
		ONE(":-1\r\n", ":-1"), ONE("$-1\r\n", "nil"),
		ONE("*-1\r\n", "nil"), ONE("$0\r\n\r\n", "\"\""),
		ONE("-ERR wrong\r\n", "-ERR wrong"), ONE("+\r\n", "+"),
		ONE("$5\r\n:1\r\nx\r\n", "\":1\\x0d\\x0ax\"") } },
	{ "SET and its nil", RBT_DO_PIPELINE, 4, 2, RB_OK, {
		ONE("+OK\r\n", "+OK"), ONE("$-1\r\n", "nil"),
		ONE("_\r\n", "nil"), ONE("+OK\r\n", "+OK") } },
	{ "integers", RBT_DO_PIPELINE, 5, 5, RB_OK, {
		ONE(":0\r\n", ":0"), ONE(":+7\r\n", ":7"),
		ONE(":9223372036854775807\r\n", ":9223372036854775807"),
		ONE(":-9223372036854775808\r\n", ":-9223372036854775808"),
		ONE(":-3\r\n", ":-3") } },
	{ "nested arrays", RBT_DO_PIPELINE, 4, 2, RB_OK, {
		ONE("*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n",
		    "[\"0\", [\"a\", \"b\"]]"),
		ONE("*0\r\n", "[]"),
		ONE("*3\r\n*0\r\n*-1\r\n*1\r\n*1\r\n*2\r\n:1\r\n-ERR in\r\n",
		    "[[], nil, [[[:1, -ERR in]]]]"),
		ONE("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
		    ":1\r\n", "[[[[[[[[[:1]]]]]]]]]") } },
	{ "maps and sets", RBT_DO_PIPELINE, 4, 3, RB_OK, {
		ONE("%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n*1\r\n_\r\n",
		    "%[\"a\", :1, \"b\", [nil]]"),
		ONE("~3\r\n+x\r\n:2\r\n~0\r\n", "~[+x, :2, ~[]]"),
		ONE("%0\r\n", "%[]"),
		ONE("%1\r\n%1\r\n+k\r\n+v\r\n~1\r\n#f\r\n",
		    "%[%[+k, +v], ~[#0]]") } },
	{ "HELLO", RBT_DO_PIPELINE, 2, 2, RB_OK, {
		ONE("%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n"
		    ":3\r\n$7\r\nmodules\r\n*0\r\n",
		    "%[\"server\", \"redis\", \"proto\", :3, \"modules\", []]"),
		ONE("+PONG\r\n", "+PONG") } },
	{ "numbers of RESP3", RBT_DO_PIPELINE, 8, 8, RB_OK, {
		ONE(",3.14\r\n", ",3.14"), ONE(",inf\r\n", ",inf"),
		ONE(",-inf\r\n", ",-inf"), ONE(",1e-7\r\n", ",1e-7"),
		ONE("(3492890328409238509324850943850943825024385\r\n",
		    "(3492890328409238509324850943850943825024385"),
		ONE("(-1\r\n", "(-1"), ONE("#t\r\n", "#1"),
		ONE("#f\r\n", "#0") } },
	{ "verbatim strings and errors", RBT_DO_PIPELINE, 5, 2, RB_ERR_PARTIAL, {
		ONE("=15\r\ntxt:Some string\r\n", "=Some string"),
		ONE("=4\r\nmkd:\r\n", "="),
		ONE("=7\r\ntxt:\r\n\r\r\n", "=\\x0d\\x0a\\x0d"),
		ONE("!10\r\nSYNTAX bad\r\n", "-SYNTAX bad"),
		ONE("$-1\r\n", "nil") } },
	{ "pushes and attributes in a pipeline", RBT_DO_PIPELINE, 3, 1, RB_OK, {
		RAW(PUSH), RAW(POPULARITY), ONE("+OK\r\n", "+OK"),
		RAW(INVALIDATE),
		ONE("*2\r\n|1\r\n+k\r\n+v\r\n:1\r\n:2\r\n", "[:1, :2]"),
		RAW(POPULARITY), RAW(POPULARITY), ONE("_\r\n", "nil"),
		RAW(PUSH) } },
	{ "a pipeline with a large reply", RBT_DO_PIPELINE, 4, 2, RB_OK, {
		ONE("+OK\r\n", "+OK"), FILL(9000), FILL(4096), FILL(1) } },

	/* ------------------------------------------------- transactions -- */
	{ "a transaction", RBT_DO_GROUP, 3, 3, RB_OK, {
		RAW("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n"),
		ONE("+OK\r\n", "+OK"), ONE("$1\r\na\r\n", "\"a\""),
		ONE("*2\r\n:1\r\n$-1\r\n", "[:1, nil]") } },
	{ "a transaction of RESP3", RBT_DO_GROUP, 2, 2, RB_OK, {
		RAW(PUSH), RAW("+OK\r\n"), RAW(PUSH),
		RAW("+QUEUED\r\n+QUEUED\r\n"), RAW(INVALIDATE),
		RAW(POPULARITY), RAW("*2\r\n"), ONE("_\r\n", "nil"),
		ONE("%1\r\n+k\r\n,1.5\r\n", "%[+k, ,1.5]") } },
	{ "an error while a transaction runs", RBT_DO_GROUP, 3, 3,
	  RB_ERR_PARTIAL, {
		RAW("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n"),
		ONE("+OK\r\n", "+OK"),
		ONE("-WRONGTYPE no list\r\n", "-WRONGTYPE no list"),
		ONE(":3\r\n", ":3") } },
	{ "a command that was not queued", RBT_DO_GROUP, 3, 3, RB_ERR_SERVER, {
		RAW("+OK\r\n+QUEUED\r\n"),
		AT(1, "-ERR unknown command 'X'\r\n",
		   "-ERR unknown command 'X'"),
		RAW("+QUEUED\r\n"),
		AT(0, "-EXECABORT discarded\r\n", "-EXECABORT discarded "
		   "(ERR unknown command 'X')"),
		AT(2, "", "-EXECABORT discarded (ERR unknown command 'X')") } },
	{ "a watched key that was changed", RBT_DO_GROUP, 2, 2, RB_ERR_SERVER, {
		RAW(QUEUED2), MANY(2, "*-1\r\n", "-EXEC answered nil: a "
		"watched key was changed, nothing was applied") } },
	{ "the same in RESP3", RBT_DO_GROUP, 2, 2, RB_ERR_SERVER, {
		RAW(QUEUED2), MANY(2, "_\r\n", "-EXEC answered nil: a "
		"watched key was changed, nothing was applied") } },
	{ "MSET in transactions", RBT_DO_MSET_GROUP, 5, 2, RB_OK, {
		RAW("+OK\r\n+QUEUED\r\n*1\r\n"), MANY(2, "+OK\r\n", "done"),
		RAW("+OK\r\n+QUEUED\r\n*1\r\n"), MANY(2, "+OK\r\n", "done"),
		RAW("+OK\r\n+QUEUED\r\n*1\r\n"), ONE("+OK\r\n", "done") } },
	{ "a pipeline in transactions", RBT_DO_PIPE_GROUP, 4, 2,
	  RB_ERR_PARTIAL, {
		RAW(QUEUED2 "*2\r\n"), ONE(":1\r\n", ":1"),
		ONE("-ERR no integer\r\n", "-ERR no integer"),
		RAW(QUEUED2 "*2\r\n"), ONE("$-1\r\n", "nil"),
		ONE("*1\r\n$0\r\n\r\n", "[\"\"]") } },
};

/* clang-format on */

const size_t rbt_nrecordings =
	sizeof(rbt_recordings) / sizeof(rbt_recordings[0]);
