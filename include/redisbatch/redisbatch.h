/*
 * libredisbatch: read and write many Redis or Valkey keys at once.
 *
 * A batch is an array of entries: keys to read, fields of a hash, and so on.
 * The library cuts it into chunks bounded by count and bytes, sends each chunk
 * as one command, keeps a window of chunks in flight, and puts the answers
 * back in the order of the entries. Every entry has a status and every chunk
 * a report, so that a failure never hides what went well, nor the other way
 * round.
 *
 *	redisContext *ctx = redisConnect("127.0.0.1", 6379);
 *	rb_client *rb;
 *	rb_result *res;
 *
 *	rb_client_wrap(&rb, ctx, NULL);
 *	rb_mget_chunked(rb, keys, NULL, nkeys, NULL, &res);
 *	for (size_t i = 0; i < nkeys; i++)
 *		use(rb_result_value(res, i));
 *	rb_result_free(res);
 *	rb_client_free(rb);
 *
 * Conventions
 *	Sizes and lengths are bytes, counts are entries, times end in their
 *	unit (_ms, _us). Strings are pointer and length and may hold any bytes.
 *	Where a function takes an array of lengths, NULL in its place says that
 *	all strings end with a NUL.
 *	A function that can fail answers an rb_status and writes what it makes
 *	through its first or last argument, which it sets to NULL on failure.
 *	Every *_free function takes NULL.
 *
 * Threads
 *	One thread at a time on a client. A result is never changed after the
 *	call that made it, and may be read by any number of threads. There is
 *	no global state, no signal handler, and no SIGPIPE whatever the
 *	program's signal settings are. A client and its connection belong to
 *	the process that made them: after fork() the child must not use them.
 */
#ifndef REDISBATCH_REDISBATCH_H
#define REDISBATCH_REDISBATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RB_VERSION_MAJOR 0
#define RB_VERSION_MINOR 1
#define RB_VERSION_PATCH 0

#if defined(__GNUC__) || defined(__clang__)
#define RB_API __attribute__((visibility("default")))
#define RB_MUST_CHECK __attribute__((warn_unused_result))
#else
#define RB_API
#define RB_MUST_CHECK
#endif

/* hiredis's own types; this header needs neither of its headers. */
struct redisContext;

/* ------------------------------------------------------------- status -- */

/*
 * How a call, a chunk or an entry went.
 */
typedef enum rb_status {
	RB_OK = 0,
	/* A bad argument or option, named by rb_client_error(). Nothing was
	 * sent. Also: a context that is closed, broken or non-blocking. */
	RB_ERR_INVALID = -1,
	RB_ERR_NOMEM = -2,
	/* The deadline of the call passed. */
	RB_ERR_TIMEOUT = -3,
	/* Connecting, AUTH or SELECT failed. */
	RB_ERR_CONNECT = -4,
	/* The connection was lost. */
	RB_ERR_IO = -5,
	/* What came is not RESP, not what the command may answer, or past a
	 * bound of the reader. */
	RB_ERR_PROTOCOL = -6,
	/* The server answered with an error; its words are kept. */
	RB_ERR_SERVER = -7,
	/* One entry alone passes a bound that cannot be split. */
	RB_ERR_LIMIT = -8,
	/* A callback asked to stop. */
	RB_ERR_CANCELLED = -9,
	/* The wrapped context has unsent or unread data, which is still the
	 * caller's. Nothing was sent. */
	RB_ERR_BUSY = -10,
	/* Not tried: an earlier failure stopped the batch. */
	RB_ERR_SKIPPED = -11,
	/* Some entries failed: see the result. */
	RB_ERR_PARTIAL = -12,
	/* This build, this version or this server cannot do it. */
	RB_ERR_UNSUPPORTED = -13
} rb_status;

/*
 * A few English words for a status, never NULL; static. A number that is no
 * status gives "unknown status".
 */
RB_API const char *rb_status_text(rb_status status);

/*
 * What happened to the entries of a chunk at the server.
 */
typedef enum rb_outcome {
	/* The last byte of the command never left: nothing applied. */
	RB_NOT_SENT = 0,
	/* The server answered; a write is applied. */
	RB_ANSWERED = 1,
	/* The server refused before doing anything: nothing applied. */
	RB_REJECTED = 2,
	/* Sent whole, but not answered in a way that tells: a write may or may
	 * not be applied. */
	RB_UNKNOWN = 3,
	/* Some entries were applied and some were not. */
	RB_PARTLY = 4
} rb_outcome;

/*
 * A word for an outcome ("answered"), never NULL; static.
 */
RB_API const char *rb_outcome_text(rb_outcome outcome);

/*
 * The version of the library that is linked, "MAJOR.MINOR.PATCH"; static.
 * RB_VERSION_* above are those of the header that was compiled.
 */
RB_API const char *rb_version(void);

/* -------------------------------------------------------------- types -- */

/*
 * Bytes that belong to somebody else. data NULL is "none", which is not the
 * same as an empty string (data not NULL, len 0).
 */
typedef struct rb_slice {
	const char *data;
	size_t len;
} rb_slice;

/*
 * The report of one chunk: entries that went to the server together.
 */
typedef struct rb_chunk rb_chunk;
struct rb_chunk {
	/* The entries first .. first + count - 1 when entries is NULL,
	 * otherwise the count entries whose numbers are listed there. */
	size_t first;
	size_t count;
	const size_t *entries;
	/* RB_OK: all were answered. RB_ERR_PARTIAL: the chunk was answered but
	 * some of its entries failed. Otherwise what befell it. */
	rb_status status;
	rb_outcome outcome;
	/* The server's or the system's words, "" when all is fine. */
	const char *message;
	/* host:port, or the path of a unix socket. */
	const char *node;
	/* How often it was sent: 0 or 1. */
	uint32_t attempts;
	/* Exact sizes of the command and of its answer, in bytes. */
	size_t request_bytes;
	size_t reply_bytes;
	/* From the first byte sent to the last byte read; 0 if not answered. */
	uint64_t elapsed_us;
};

/*
 * Called after each chunk that was sent, with its report: progress, metrics.
 * A negative answer cancels: nothing more is sent, the chunks in flight are
 * still awaited, and the call ends with RB_ERR_CANCELLED. The chunk is valid
 * during the call only. The function must not use the client.
 */
typedef int rb_chunk_fn(void *arg, const rb_chunk *chunk);

/*
 * Where the library takes its memory from, for embedders. All three functions
 * are needed; arg is handed to each. They keep the rules of malloc, realloc
 * and free. hiredis's own allocations (its context) are not covered.
 */
typedef struct rb_allocator {
	void *(*alloc)(void *arg, size_t size);
	void *(*realloc)(void *arg, void *ptr, size_t size);
	void (*free)(void *arg, void *ptr);
	void *arg;
} rb_allocator;

/* ------------------------------------------------------------ options -- */

/* rb_options.flags */
enum {
	/* Send nothing more after the first chunk that fails; what is in
	 * flight is awaited, the rest is RB_ERR_SKIPPED. */
	RB_STOP_ON_ERROR = 1u << 0
};

/*
 * How a batch is cut and sent. Set it up with rb_options_init() and change
 * what you need. In every number 0 means: the client's default, and if that
 * is 0 too, the library's, which is given below. Flags of the client's
 * defaults and of the call are joined.
 */
typedef struct rb_options {
	/* Set by rb_options_init(). */
	size_t struct_size;

	/* The most entries of one chunk: 1,000, which is what the cost in
	 * commands is usually reckoned with. */
	size_t chunk_keys;
	/* The most arguments of one command, its name among them: 1,000,000,
	 * and never more than 1,048,576, since servers before 7.0 refuse what
	 * is above. Some providers allow 3,999 or 65,536. */
	size_t chunk_args;
	/* The most bytes of one command as sent: 512 KiB. One entry that is
	 * larger by itself travels alone. */
	size_t chunk_request_bytes;
	/* Cut chunks so that the answer, going by the values seen by this
	 * client, stays below so many bytes: 4 MiB. A chunk that goes out
	 * before any value was seen is not bounded by it, and one entry always
	 * goes. */
	size_t chunk_reply_bytes;

	/* The most chunks in flight. 0: by itself; it begins with about 1,000
	 * entries, grows until the round trip is covered, leaves one or two
	 * chunks waiting at the server, and ends at 64. */
	size_t window;
	/* Send no further chunk while the predicted answers in flight sum up
	 * to so many bytes: 8 MiB. One chunk always goes. */
	size_t window_reply_bytes;

	/* A value longer than this fails alone with RB_ERR_LIMIT; its bytes
	 * are read and dropped: 512 MiB, which is also the most that servers
	 * take by default. */
	size_t max_value_bytes;
	/* Once the answers kept by the result take so many bytes, all further
	 * values fail with RB_ERR_LIMIT and nothing more is sent: no bound. */
	size_t max_result_bytes;

	/* The deadline of the whole call, connecting included, in
	 * milliseconds. Default: the command timeout of the wrapped context
	 * (redisSetTimeout), if it has one; otherwise none. */
	uint32_t timeout_ms;
	/* For rb_client_open(): the most that connecting with AUTH and SELECT
	 * may take, within the deadline of the call: 5,000. */
	uint32_t connect_timeout_ms;
	/* For releases to come; must be 0 or 1: nothing is sent twice. */
	uint32_t attempts;
	/* For releases to come; must be 0: not paced. */
	uint32_t commands_per_second;
	uint32_t flags;

	rb_chunk_fn *on_chunk;
	void *on_chunk_arg;

	/* NULL: malloc and its kin. Copied; what it points to must outlive the
	 * client and every result. */
	const rb_allocator *allocator;
	/* Later releases add members here, and never reorder. */
} rb_options;

/*
 * Sets every member to its default. Call it through rb_options_init(), which
 * tells the library how large the caller's structure is: a program compiled
 * with an older header goes on working with a newer library.
 */
RB_API void rb_options_init_sized(rb_options *o, size_t struct_size);
#define rb_options_init(o) rb_options_init_sized((o), sizeof *(o))

/* ------------------------------------------------------------- client -- */

/*
 * A client is a connection, or how to get one, with the options to use it and
 * what was learned about the server at its end.
 */
typedef struct rb_client rb_client;

/*
 * Makes a client of a context that the caller has connected, over TCP or a
 * unix socket.
 *
 * The context is borrowed. Between calls it is the caller's to use; a call
 * that finds it with unsent or unread data answers RB_ERR_BUSY. After each
 * call it is exactly in step, or it is marked broken (ctx->err and ctx->errstr
 * are set), so that neither this library nor hiredis goes on with it. It must
 * outlive the client. Authentication, database and protocol (RESP2 or RESP3)
 * are as the caller set them. Commands that the caller sent and whose answers
 * have not come yet cannot be seen: read all answers first.
 *
 * defaults may be NULL; it is copied.
 *
 * RB_ERR_INVALID: out or ctx is NULL, an option is bad, or the context is not
 * connected, is in error, non-blocking, or used for subscriptions or MONITOR.
 * RB_ERR_UNSUPPORTED: the context speaks TLS. RB_ERR_NOMEM.
 */
RB_API RB_MUST_CHECK rb_status rb_client_wrap(rb_client **out,
					      struct redisContext *ctx,
					      const rb_options *defaults);

/*
 * Makes a client that connects by itself:
 *
 *	redis://[[user]:password@]host[:port][/db]
 *	unix://[[user]:password@]/path[?db=n]
 *
 * Port 6379 and database 0 where none is given; IPv6 addresses in brackets;
 * user, password and path are percent-decoded. A password without a user
 * name may be written as ":password@".
 *
 * Checks and allocates only. The first call that needs the connection makes
 * it, sends AUTH and SELECT, and checks their answers; so does the first call
 * after one that lost it. The password is wiped when the client is freed, and
 * stands in no error text.
 *
 * RB_ERR_INVALID: out or uri is NULL, the URI is not usable (rb_uri_problem()
 * says why), or an option is bad. RB_ERR_UNSUPPORTED: a scheme known but not
 * built in (rediss, redis+cluster). RB_ERR_NOMEM.
 */
RB_API RB_MUST_CHECK rb_status rb_client_open(rb_client **out, const char *uri,
					      const rb_options *defaults);

/*
 * NULL when rb_client_open() would take this URI, otherwise why not: a static
 * text that repeats no part of it.
 */
RB_API const char *rb_uri_problem(const char *uri);

/*
 * Connects now, unless connected. For a wrapped context: checks that it can
 * be used. RB_ERR_CONNECT, RB_ERR_TIMEOUT, RB_ERR_NOMEM; for a wrapped context
 * RB_ERR_INVALID or RB_ERR_BUSY.
 */
RB_API RB_MUST_CHECK rb_status rb_client_connect(rb_client *client);

/*
 * Frees the client, and closes the connection if it made it. A wrapped context
 * stays open. Results live on.
 */
RB_API void rb_client_free(rb_client *client);

/*
 * One line on the last call of this client that failed, "" if the last call
 * did not. Never NULL; valid until the next call with this client.
 */
RB_API const char *rb_client_error(const rb_client *client);

/* -------------------------------------------------------------- reads -- */

typedef struct rb_result rb_result;

/*
 * Reads nkeys keys with MGET, in chunks.
 *
 * keys[i] has keylens[i] bytes, or ends with a NUL when keylens is NULL. The
 * arrays and the keys are borrowed until the function returns. A key may be
 * empty, hold any bytes, and stand in the batch more than once. nkeys 0 is
 * RB_OK with an empty result, and nothing is sent. opts may be NULL.
 *
 * RB_OK: every key was answered, with a value or with nil; MGET answers nil
 * for a key of another type too. RB_ERR_PARTIAL: some entries failed, and the
 * result says which. Otherwise the failure that stopped the batch; what was
 * answered before is in the result.
 *
 * *out is a result for RB_OK, RB_ERR_PARTIAL, and for every error that came
 * once the batch was under way; NULL for RB_ERR_INVALID, RB_ERR_BUSY,
 * RB_ERR_CONNECT, RB_ERR_UNSUPPORTED, and for a lack of memory or a deadline
 * that came first. Free it with rb_result_free().
 *
 * RB_ERR_INVALID names the argument, as in "keys[3] is NULL but keylens[3] is
 * 5". A key above 512 MiB is invalid, since no server takes it.
 *
 * RB_ERR_SERVER: the server refused in a way that stops the batch, such as
 * NOAUTH or a quota that ran out. Errors of single chunks give RB_ERR_PARTIAL.
 * RB_ERR_PROTOCOL with a message about MULTI: the caller had left the
 * connection inside a transaction; the context is in step and still there.
 */
RB_API RB_MUST_CHECK rb_status rb_mget_chunked(
	rb_client *client, const char **keys, const size_t *keylens,
	size_t nkeys, const rb_options *opts, rb_result **out);

/*
 * Reads nfields fields of the hash at key with HMGET, in chunks.
 *
 * key has keylen bytes. Otherwise as rb_mget_chunked(), with fields for keys.
 * A key that does not exist answers nil for each field; one that is no hash
 * makes the server refuse (WRONGTYPE): RB_ERR_PARTIAL.
 */
RB_API RB_MUST_CHECK rb_status rb_hmget_chunked(
	rb_client *client, const char *key, size_t keylen, const char **fields,
	const size_t *fieldlens, size_t nfields, const rb_options *opts,
	rb_result **out);

/* ------------------------------------------------------------- result -- */

/*
 * The number of entries of the batch. 0 for NULL.
 */
RB_API size_t rb_result_count(const rb_result *res);

/*
 * The value of entry i, owned by the result. It has len bytes and a NUL behind
 * them that is not counted. data NULL: the server said nil, or there is no
 * value because the entry failed; rb_result_status() tells which. An empty
 * value has data and len 0. i out of range gives data NULL.
 */
RB_API rb_slice rb_result_value(const rb_result *res, size_t i);

/*
 * How entry i went: RB_OK for a value and for nil. RB_ERR_INVALID: i is out of
 * range.
 */
RB_API rb_status rb_result_status(const rb_result *res, size_t i);

/*
 * What happened to entry i at the server. RB_NOT_SENT when i is out of range.
 */
RB_API rb_outcome rb_result_outcome(const rb_result *res, size_t i);

/*
 * Why entry i failed: the server's words about it where it had some, otherwise
 * the message of its chunk; "" for an entry that did not fail or is out of
 * range. Owned by the result, never NULL.
 */
RB_API const char *rb_result_message(const rb_result *res, size_t i);

/*
 * The number of entries whose status is not RB_OK.
 */
RB_API size_t rb_result_failed(const rb_result *res);

/*
 * The number of chunks, those among them that were not sent.
 */
RB_API size_t rb_result_chunks(const rb_result *res);

/*
 * The report of chunk i, owned by the result; NULL: out of range. Chunks come
 * in the order of their entries, and each entry is in one of them.
 */
RB_API const rb_chunk *rb_result_chunk(const rb_result *res, size_t i);

/*
 * What the call cost.
 */
typedef struct rb_stats {
	/* Set by the caller to sizeof(rb_stats); 0 counts as that of the first
	 * release. */
	size_t struct_size;
	/* Commands sent, as providers bill them: an MGET is one. */
	uint64_t commands;
	/* Entries in them. */
	uint64_t keys;
	/* Bytes written to and read from the connection. */
	uint64_t request_bytes;
	uint64_t reply_bytes;
	/* How many times the call had to wait for an answer before it could
	 * send something that depended on it: a loop that awaits each of 100
	 * chunks has 100, a window of 4 has 25. */
	uint64_t round_trips;
	/* Always 0 in this release, which sends nothing twice. */
	uint64_t retries;
	uint64_t splits;
	uint64_t redirects;
	uint64_t reconnects;
} rb_stats;

/*
 * Fills in as many members as out->struct_size has room for. RB_ERR_INVALID:
 * an argument is NULL, or the size is none that was ever released.
 */
RB_API rb_status rb_result_stats(const rb_result *res, rb_stats *out);

/*
 * Frees the result with all its values and reports.
 */
RB_API void rb_result_free(rb_result *res);

#ifdef __cplusplus
}
#endif

#endif
