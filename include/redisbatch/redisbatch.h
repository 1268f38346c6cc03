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
struct redisReply;

/* ------------------------------------------------------------- status -- */

/*
 * How a call, a chunk or an entry went.
 */
typedef enum rb_status {
	/* Nothing went wrong. */
	RB_OK = 0,
	/* A bad argument or option, named by rb_client_error(). Nothing was
	 * sent. Also: a context that is closed, broken or non-blocking. */
	RB_ERR_INVALID = -1,
	/* No memory; for a client also: no descriptor. */
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
	/* A callback or rb_client_cancel() asked to stop. */
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
	/* The server refused before doing anything, or the condition of a
	 * write was not met: nothing applied. */
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
	 * otherwise the count entries whose numbers are listed there, of which
	 * first is one: in a cluster, and with several connections. */
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
	/* How often it was sent. */
	uint32_t attempts;
	/* Exact sizes of the command and of its answer, in bytes. */
	size_t request_bytes;
	size_t reply_bytes;
	/* From the first byte sent to the last byte read, of the last time it
	 * was sent; 0 if not answered. */
	uint64_t elapsed_us;
	/* Where the server answers the chunk with a number: fields added by
	 * HSET; keys removed, found or touched. Otherwise 0. */
	int64_t number;
};

/*
 * What became of the entries of a batch: values, statuses, reports. It belongs
 * to the caller, who frees it with rb_result_free(), and needs neither the
 * client nor the keys any more. What the functions on it answer with points
 * into it and is valid until then.
 */
typedef struct rb_result rb_result;

/*
 * Called after each chunk that was sent, with its report: progress, metrics.
 * A chunk that is sent again is reported once, when its fate is known, and
 * perhaps in parts, so that reports may come out of the order of their entries.
 * A negative answer cancels: nothing more is sent, the chunks in flight are
 * still awaited, without it being called again, and the call ends with
 * RB_ERR_CANCELLED. The chunk is valid during the call only. The function is
 * called on the thread of the call and must not use the client.
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

/*
 * What a call cost.
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
	/* Chunks that were sent again; chunks that were refused and went on in
	 * parts. */
	uint64_t retries;
	uint64_t splits;
	/* How often a node of a cluster sent some commands to another one. */
	uint64_t redirects;
	/* Connections that took the place of one that was lost. */
	uint64_t reconnects;
} rb_stats;

/* ------------------------------------------------------------ options -- */

/* rb_options.flags */
enum {
	/* Send nothing more after the first chunk that fails; what is in
	 * flight is awaited, the rest is RB_ERR_SKIPPED. */
	RB_STOP_ON_ERROR = 1u << 0,
	/* Writes and pipelines: MULTI before the commands of each chunk and
	 * EXEC behind them, so that a chunk is applied as a whole or, if a
	 * command is refused when it is queued, not at all. N commands count as
	 * N + 2. Reads are not changed by it. */
	RB_TRANSACTION = 1u << 1,
	/* rb_mset_chunked() and rb_mset_stream(): set only the keys that do
	 * not exist, or only those that do. Each key by itself, whatever the
	 * chunking. Not both. */
	RB_IF_ABSENT = 1u << 2,
	RB_IF_PRESENT = 1u << 3,
	/* Writes and pipelines may be sent again when their connection was
	 * lost and nobody knows whether they were applied. What was applied
	 * twice, and in which order, is then the caller's business. */
	RB_RETRY_WRITES = 1u << 4,
	/* rb_mget_chunked() and rb_hmget_chunked(): ask for the size of each
	 * value first (STRLEN, HSTRLEN), and cut the chunks so that no answer
	 * passes chunk_reply_bytes but that to a single value. It costs one
	 * more command for each entry. Other calls are not changed by it. */
	RB_SIZE_FIRST = 1u << 5,
	/* For redis+cluster: reads are asked of replicas, which may lag behind
	 * their primary, and of the primary where there is none that answers.
	 * Writes and pipelines are not changed by it. */
	RB_READ_REPLICAS = 1u << 6,
	/* For rediss and rediss+cluster, in the defaults of a client: take
	 * whatever certificate the server shows, for whatever name. Anyone in
	 * between can read and change everything, the password too: for tests
	 * only. */
	RB_TLS_INSECURE = 1u << 7
};

/*
 * Gives a new context in place of one whose connection was lost: *fresh,
 * connected over TCP or a unix socket, authenticated, in its database and
 * protocol, and blocking. The client wraps it from then on; it stays the
 * caller's, who has to free it after the client. What becomes of lost, which
 * the client does not touch again, is for the function to say: it may free it,
 * or reconnect it and give it back as *fresh. The function is called on the
 * thread of the call and must not use the client; the deadline does not
 * interrupt it. Below 0: there is no other context, and the call ends with
 * what it has; the client has none then until the function is asked again, with
 * lost NULL, by the next call.
 */
typedef int rb_reconnect_fn(void *arg, struct redisContext *lost,
			    struct redisContext **fresh);

/*
 * Whether a connection may be made to the node of a cluster at host and port:
 * not 0. Called on the thread of the call; it must not use the client.
 */
typedef int rb_node_fn(void *arg, const char *host, unsigned port);

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
	 * commands is usually reckoned with. Pairs and commands count as one
	 * each. Unless it is set, a batch of values that takes more than one
	 * chunk and of whose sizes nothing is known begins with 16 and doubles
	 * from there; the chunks behind that are up to an eighth larger, so
	 * that 100,000 keys still cost 100 commands. */
	size_t chunk_keys;
	/* The most arguments of one command, its name among them: 1,000,000,
	 * and never more than 1,048,576, since servers before 7.0 refuse what
	 * is above. Some providers allow 3,999 or 65,536. */
	size_t chunk_args;
	/* The most bytes of one chunk as sent: 512 KiB. One entry that is
	 * larger by itself travels alone. */
	size_t chunk_request_bytes;
	/* Cut chunks so that the answer, going by the values seen by this
	 * client, stays below so many bytes: 4 MiB. It is a prediction, with
	 * room for one value as large as the largest of the recent ones; with
	 * RB_SIZE_FIRST it is kept exactly. One entry always goes. */
	size_t chunk_reply_bytes;

	/* The most chunks in flight. 0: by itself; it begins with about 1,000
	 * entries, grows until the round trip is covered, leaves one or two
	 * chunks waiting at the server, and ends at 64. */
	size_t window;
	/* Send no further chunk while the predicted answers in flight, with
	 * its own, sum up to more bytes than this: 8 MiB. One chunk always
	 * goes. */
	size_t window_reply_bytes;

	/* A value read that is longer than this fails alone with RB_ERR_LIMIT;
	 * its bytes are read and dropped. A longer value to be written makes
	 * the call fail with RB_ERR_LIMIT before anything is sent. 512 MiB,
	 * which is also the most that servers take by default. */
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
	/* The most times that an entry is sent when connections are lost, and
	 * the most connections in a row that are tried without an answer: 3;
	 * 1 sends nothing twice. It also bounds how often a server is asked
	 * that is not ready (LOADING, BUSY and the like), unless the call has
	 * a deadline: then that is the bound. Between the tries the call waits
	 * for 0.1 to 2 seconds, twice as long each time, with chance in it.
	 * What a refusal for its size makes smaller is not counted. */
	uint32_t attempts;
	/* No more commands a second than this, in bursts of one chunk, for
	 * servers that bill or bound them: no bound. */
	uint32_t commands_per_second;
	/* RB_STOP_ON_ERROR and its kin, added up by a bitwise or. */
	uint32_t flags;

	/* Called after each chunk with on_chunk_arg and its report: nobody. */
	rb_chunk_fn *on_chunk;
	void *on_chunk_arg;

	/* NULL: malloc and its kin. It is not copied: it must outlive the
	 * client, its pipelines and every result. */
	const rb_allocator *allocator;

	/* rb_mset_chunked() and rb_mset_stream(): the keys expire after so
	 * many milliseconds. Never: the keys that are set lose the time to
	 * live they had, as with MSET. */
	uint64_t expire_ms;

	/* How long the values to be read are, about, for the first chunks of a
	 * client that has seen none: not known. */
	size_t expected_value_bytes;

	/* For rb_client_wrap(): how to come by a new connection. Without it a
	 * lost connection ends the call. */
	rb_reconnect_fn *reconnect;
	void *reconnect_arg;

	/* Connections to each node, or to the one server of any other client
	 * but a wrapped one: 1. Several are of use to servers that have
	 * threads for them. A key always goes over the same one, so that what
	 * is done to it is done in order. */
	uint32_t connections;
	/* For redis+cluster: how long the entries of a node that cannot be
	 * reached, or of a cluster that says it is down, are tried for before
	 * they fail, in milliseconds: 10,000, and never beyond the deadline of
	 * the call. A failover takes the cluster-node-timeout of the servers
	 * (15 seconds unless they were told otherwise) and a second or two.
	 * attempts 1 tries nothing again. */
	uint32_t failover_ms;
	/* For redis+cluster: asked before a connection is made to a node that
	 * was named by a server and is none of the seeds, since it will be
	 * sent the password. NULL: all are fine. */
	rb_node_fn *allow_node;
	void *allow_node_arg;

	/* For rb_client_open() with rediss or rediss+cluster, and for nothing
	 * else: a call does not look at these. They are used while the client
	 * is opened, the files are read then, and nothing of them is borrowed
	 * afterwards. All files are PEM. */

	/* Whose certificates are trusted: a file of them, a folder of them
	 * with OpenSSL's hashed names, or both. Both NULL: the system's. */
	const char *tls_ca_file;
	const char *tls_ca_dir;
	/* For servers that ask for one: the client's certificate, with those
	 * that it depends on behind it, and its key, without a passphrase.
	 * Both or none: none. */
	const char *tls_cert_file;
	const char *tls_key_file;
	/* The name or the address that certificates have to be for, and that
	 * the server is told (SNI, names only). NULL: the host of the URI; in
	 * a cluster, of each node as the cluster calls it. */
	const char *tls_server_name;
	/* Later releases add members here, and never reorder. */
} rb_options;

/*
 * Sets every member to its default. Call it through rb_options_init(), which
 * tells the library how large the caller's structure is: a program compiled
 * with an older header goes on working with a newer library. Nothing is done
 * if o is NULL or the size leaves no room for struct_size.
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
 * With hiredis 1.0 or later the context may move its bytes by functions of its
 * own, as hiredis's TLS does. It is made non-blocking for the time of a call.
 *
 * defaults may be NULL; it is copied.
 *
 * RB_ERR_INVALID: out or ctx is NULL, an option is bad, or the context is not
 * connected, is in error, non-blocking, or used for subscriptions or MONITOR.
 * RB_ERR_NOMEM.
 */
RB_API RB_MUST_CHECK rb_status rb_client_wrap(rb_client **out,
					      struct redisContext *ctx,
					      const rb_options *defaults);

/*
 * Makes a client that connects by itself:
 *
 *	redis://[[user]:password@]host[:port][/db]
 *	unix://[[user]:password@]/path[?db=n]
 *	redis+cluster://[[user]:password@]host[:port][,host[:port]...][/db]
 *
 * rediss and rediss+cluster are the same over TLS 1.2 or later. The server's
 * certificate has to be valid, trusted (options.tls_ca_file), and for the host
 * that was asked for; before that is known nothing is sent, no password
 * either.
 *
 * Port 6379 and database 0 where none is given; IPv6 addresses in brackets;
 * user, password and path are percent-decoded. A password without a user
 * name may be written as ":password@".
 *
 * Checks and allocates only, and reads the files of options.tls_*. The first
 * call that needs the connection makes it, sends AUTH and SELECT, and checks
 * their answers; so does a call that loses it, and the first call after that.
 * The password is wiped when the client is freed, and stands in no error text.
 *
 * The hosts of a cluster are those who are asked for its nodes, in turn. Every
 * verb works on a cluster: keys go to the nodes that serve their slots, a
 * command for each slot, and redirects are followed. docs/cluster.md says what
 * is promised there.
 *
 * RB_ERR_INVALID: out or uri is NULL, the URI is not usable, an option is bad,
 * a file of options.tls_* cannot be used, or one of them is set for a URI
 * without TLS; rb_open_problem() says which. RB_ERR_UNSUPPORTED: rediss or
 * rediss+cluster with a build that has no TLS. RB_ERR_NOMEM.
 */
RB_API RB_MUST_CHECK rb_status rb_client_open(rb_client **out, const char *uri,
					      const rb_options *defaults);

/*
 * NULL when rb_client_open() would take this URI, otherwise why not: a static
 * text that repeats no part of it.
 */
RB_API const char *rb_uri_problem(const char *uri);

/*
 * NULL when rb_client_open() would take this URI with these options, otherwise
 * why not: a static text that names the option. Nothing is connected, but the
 * files of options.tls_* are read.
 */
RB_API const char *rb_open_problem(const char *uri, const rb_options *defaults);

/*
 * Connects now, unless connected; for a cluster, finds out its nodes. For a
 * wrapped context: checks that it can be used. The deadline is timeout_ms of
 * the client's defaults. After a failure it may be called again.
 *
 * RB_ERR_CONNECT, RB_ERR_TIMEOUT, RB_ERR_CANCELLED, RB_ERR_NOMEM; for a wrapped
 * context RB_ERR_INVALID or RB_ERR_BUSY.
 */
RB_API RB_MUST_CHECK rb_status rb_client_connect(rb_client *client);

/*
 * Frees the client, and closes the connections that it made. A wrapped context
 * stays open. Results live on; pipelines must have been freed before. No call
 * of the client may be under way.
 */
RB_API void rb_client_free(rb_client *client);

/*
 * Ends the call that the client is in, from another thread or from a signal
 * handler; it is async-signal-safe. The call answers RB_ERR_CANCELLED within
 * milliseconds, what is in flight is lost with its connection, as at a
 * deadline, and the result says what is known of each entry. Callbacks and the
 * lookup of a host name are not interrupted. While no call is under way, the
 * next one that has something to do is ended, before it sends anything: no
 * request is lost. The client must not be freed meanwhile. NULL is fine.
 */
RB_API void rb_client_cancel(rb_client *client);

/*
 * One line on the last call of this client that failed, "" if the last call
 * did not. Never NULL, and says so if client is; owned by the client, valid
 * until the next call with it. Calls with a pipeline of this client count.
 */
RB_API const char *rb_client_error(const rb_client *client);

/* -------------------------------------------------------------- reads -- */

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
 * RB_ERR_INVALID: client or out is NULL, or an option or an argument is bad,
 * which rb_client_error() names, as in "keys[3] is NULL but keylens[3] is 5". A
 * key above 512 MiB is invalid, since no server takes it.
 *
 * A chunk that the server refuses for its size, or for a key that the user may
 * not read, goes on in halves, so that only the entries at fault fail. A server
 * that is not ready is asked again. With rb_client_open() or options.reconnect
 * a lost connection is made anew and what was not answered is asked for again;
 * options.attempts and the deadline are the bounds.
 *
 * RB_ERR_SERVER: the server refused in a way that stops the batch, such as
 * NOAUTH, a quota that ran out, or LOADING for too long. Errors of single
 * chunks give RB_ERR_PARTIAL.
 * RB_ERR_PROTOCOL with a message about MULTI: the caller had left the
 * connection inside a transaction; the context is in step and still there.
 */
RB_API RB_MUST_CHECK rb_status
rb_mget_chunked(rb_client *client, const char **keys, const size_t *keylens,
		size_t nkeys, const rb_options *opts, rb_result **out);

/*
 * Reads nfields fields of the hash at key with HMGET, in chunks.
 *
 * key has keylen bytes, always, and may be empty but not NULL. Otherwise as
 * rb_mget_chunked(), with fields for keys: an entry is a field. A key that does
 * not exist answers nil for each field; one that is no hash makes the server
 * refuse (WRONGTYPE): RB_ERR_PARTIAL.
 */
RB_API RB_MUST_CHECK rb_status
rb_hmget_chunked(rb_client *client, const char *key, size_t keylen,
		 const char **fields, const size_t *fieldlens, size_t nfields,
		 const rb_options *opts, rb_result **out);

/* ------------------------------------------------------------- writes -- */

/*
 * What holds for every write:
 *
 * Each entry ends in one outcome, which rb_result_outcome() tells. Nothing is
 * sent twice that may have been applied, unless RB_RETRY_WRITES is set.
 * RB_ANSWERED: applied, as far as the server that answered goes. RB_REJECTED
 * and RB_NOT_SENT: not applied. RB_UNKNOWN: the command left whole and the
 * connection ended before its answer, or a proxy does not know. RB_PARTLY: some
 * were applied and some were not.
 *
 * Chunks are applied in order, each by itself: a batch is not atomic, and
 * other clients may see it half done. In a cluster a chunk is not atomic
 * either, and what has an order are the writes to a slot. Values of 16 KiB and
 * more are sent from where they lie.
 *
 * Bad arguments (RB_ERR_INVALID) and values above max_value_bytes
 * (RB_ERR_LIMIT) are found before anything is sent, and named; there is no
 * result then.
 */

/*
 * Sets npairs keys to their values with MSET, in chunks.
 *
 * valuelens NULL: the values end with a NUL. values[i] may be NULL when
 * valuelens[i] is 0: an empty value. A key that stands in the batch twice has
 * the last of its values in the end, whatever the chunking. As with MSET, keys
 * lose their time to live, and values of other types are replaced.
 *
 * With options.expire_ms, RB_IF_ABSENT or RB_IF_PRESENT each pair is sent as a
 * SET with PX, NX or XX, so that a chunk costs as many commands as it has
 * pairs; rb_result_outcome() is RB_ANSWERED for the keys that were set and
 * RB_REJECTED for those whose condition was not met, which is no failure.
 * With expire_ms alone, a server that knows MSETEX is sent that, one command a
 * chunk; each client asks its server once. (MSETEX with a condition would set
 * all keys of a chunk or none.)
 *
 * Otherwise as rb_mget_chunked().
 */
RB_API RB_MUST_CHECK rb_status
rb_mset_chunked(rb_client *client, const char **keys, const size_t *keylens,
		const char **values, const size_t *valuelens, size_t npairs,
		const rb_options *opts, rb_result **out);

/*
 * Sets nfields fields of the hash at key with HSET, in chunks.
 *
 * The key is given as for rb_hmget_chunked(), fields and values are as keys and
 * values of rb_mset_chunked(), but neither an expiry nor a condition applies.
 * The number of a chunk, and rb_result_total(), count the fields that were new.
 * A key of another type makes the server refuse: RB_ERR_PARTIAL.
 */
RB_API RB_MUST_CHECK rb_status rb_hset_chunked(
	rb_client *client, const char *key, size_t keylen, const char **fields,
	const size_t *fieldlens, const char **values, const size_t *valuelens,
	size_t nfields, const rb_options *opts, rb_result **out);

/*
 * UNLINK, EXISTS and TOUCH over nkeys keys, in chunks. The number of a chunk
 * and rb_result_total() count the keys that were removed, exist, or were
 * touched; a key given twice to EXISTS or TOUCH counts twice. The server does
 * not say which keys those were. EXISTS and TOUCH are sent again as reads are
 * when a connection was lost, and may be asked of replicas; a lost UNLINK is
 * RB_UNKNOWN. Arguments and errors as for rb_mget_chunked().
 */
RB_API RB_MUST_CHECK rb_status
rb_unlink_chunked(rb_client *client, const char **keys, const size_t *keylens,
		  size_t nkeys, const rb_options *opts, rb_result **out);
RB_API RB_MUST_CHECK rb_status
rb_exists_chunked(rb_client *client, const char **keys, const size_t *keylens,
		  size_t nkeys, const rb_options *opts, rb_result **out);
RB_API RB_MUST_CHECK rb_status
rb_touch_chunked(rb_client *client, const char **keys, const size_t *keylens,
		 size_t nkeys, const rb_options *opts, rb_result **out);

/* ---------------------------------------------------------- pipelines -- */

/*
 * A command of argc arguments, its name the first. argvlen NULL: all end with
 * a NUL.
 */
typedef struct rb_command {
	int argc;
	const char **argv;
	const size_t *argvlen;
} rb_command;

/*
 * Sends ncommands commands of any kind, in chunks by count and bytes, and
 * gives the reply to each in order: rb_result_reply(). The arrays and the
 * arguments are borrowed until the function returns.
 *
 * An error reply is that command's own: its status is RB_ERR_SERVER, its
 * outcome RB_REJECTED, and the others are not touched by it; the call answers
 * RB_ERR_PARTIAL. With RB_STOP_ON_ERROR no chunk is sent after one with an
 * error. A MULTI with all that follows up to its EXEC or DISCARD stays in one
 * chunk, whatever the bounds, and is answered as the server answers it: OK,
 * QUEUED for each command, an array.
 *
 * When the connection is lost, the commands of a chunk that had left whole are
 * RB_UNKNOWN and the others RB_NOT_SENT, in reports of their own.
 *
 * Refused with RB_ERR_INVALID, by name and before anything is sent: an empty
 * command, a MULTI without its EXEC, and what does not answer exactly once:
 * SUBSCRIBE and its kin, MONITOR, SYNC, PSYNC, CLIENT REPLY, QUIT, SHUTDOWN.
 * Blocking commands are fine; mind the deadline.
 */
RB_API RB_MUST_CHECK rb_status rb_pipeline_chunked(rb_client *client,
						   const rb_command *commands,
						   size_t ncommands,
						   const rb_options *opts,
						   rb_result **out);

/*
 * Runs ncommands commands as one transaction, between MULTI and EXEC. It is
 * never split: RB_ERR_LIMIT, with nothing sent, when it passes chunk_keys or
 * chunk_request_bytes.
 *
 * RB_OK: applied, and rb_result_reply() gives what EXEC said of each command.
 * RB_ERR_PARTIAL: applied, but the commands whose status is RB_ERR_SERVER
 * failed while it ran; a server does not undo the others. RB_ERR_SERVER:
 * nothing was applied; a command was refused when it was queued (EXECABORT, and
 * that command's rb_result_message() says why) or a key under WATCH was changed
 * (EXEC answered nil). A connection that ends before EXEC is answered gives
 * RB_UNKNOWN for all commands, or RB_NOT_SENT if EXEC had not left.
 *
 * If the caller had left the connection inside MULTI, the server refuses ours:
 * RB_ERR_SERVER with RB_UNKNOWN.
 *
 * In a cluster all keys must be of one slot: RB_ERR_INVALID, with nothing sent,
 * when the first keys of two commands are not.
 */
RB_API RB_MUST_CHECK rb_status rb_transaction(rb_client *client,
					      const rb_command *commands,
					      size_t ncommands,
					      const rb_options *opts,
					      rb_result **out);

/*
 * Commands collected one by one. They are copied; the pipeline may be run more
 * than once. It must not outlive its client.
 */
typedef struct rb_pipeline rb_pipeline;

/*
 * Makes an empty pipeline, to be freed with rb_pipeline_free().
 * RB_ERR_INVALID: out or client is NULL. RB_ERR_NOMEM.
 */
RB_API RB_MUST_CHECK rb_status rb_pipeline_new(rb_pipeline **out,
					       rb_client *client);

/*
 * Appends a command given as hiredis formats it: %s a string, %b bytes (a
 * pointer and a size_t), %d and the like; blanks separate arguments.
 * RB_ERR_INVALID: pipeline or format is NULL, hiredis refuses the format, or it
 * makes an empty command. RB_ERR_NOMEM. After a failure the pipeline is as it
 * was.
 */
RB_API RB_MUST_CHECK rb_status rb_pipeline_append(rb_pipeline *pipeline,
						  const char *format, ...);

/*
 * Appends a command given as an array; argvlen NULL: all arguments end with a
 * NUL. RB_ERR_INVALID: pipeline or argv is NULL, argc is below 1, an argument
 * is above 512 MiB, or NULL but for one of length 0. RB_ERR_NOMEM. After a
 * failure the pipeline is as it was. Whether a pipeline may have the command is
 * found when it is run.
 */
RB_API RB_MUST_CHECK rb_status rb_pipeline_append_argv(rb_pipeline *pipeline,
						       int argc,
						       const char **argv,
						       const size_t *argvlen);

/*
 * The number of commands collected. 0 for NULL.
 */
RB_API size_t rb_pipeline_count(const rb_pipeline *pipeline);

/*
 * rb_pipeline_chunked() with the commands collected, which stay. None: RB_OK
 * with an empty result. RB_ERR_INVALID: pipeline is NULL.
 */
RB_API RB_MUST_CHECK rb_status rb_pipeline_run(rb_pipeline *pipeline,
					       const rb_options *opts,
					       rb_result **out);

/*
 * Forgets the commands collected. NULL is fine.
 */
RB_API void rb_pipeline_clear(rb_pipeline *pipeline);

/*
 * Frees the pipeline with its commands. Results of its runs live on.
 */
RB_API void rb_pipeline_free(rb_pipeline *pipeline);

/* ------------------------------------------------------------ streams -- */

/*
 * Batches that must not sit in memory: a source gives the entries one by one,
 * and a sink takes the answers chunk by chunk, in the order of the entries.
 * Memory stays at what a window of chunks takes, however long the stream.
 *
 * A source answers 1 with an entry, 0 at the end, and below 0 to stop; what it
 * gives is copied before it is asked again. A sink answers below 0 to stop.
 * What they are handed is valid during the call only. Both are called on the
 * caller's thread while commands are in flight, and must not use the client;
 * the deadline does not interrupt them. A bad entry ends the stream with
 * RB_ERR_INVALID and its number.
 *
 * first is the number of the sink's first entry in the stream, from 0. Every
 * entry that the source gave reaches the sink exactly once, with its status,
 * unless the sink itself stops; that holds for entries that failed too. With
 * RB_ERR_CANCELLED what is in flight is awaited, so that the connection stays
 * in step; what the source had not been asked for is not counted anywhere.
 *
 * RB_OK: every entry was answered. RB_ERR_PARTIAL: some failed, as the sink
 * (or on_chunk) was told. Otherwise what ended the stream. RB_ERR_INVALID also:
 * client, the source or the sink is NULL. RB_ERR_LIMIT also: a value to be
 * written is above max_value_bytes.
 *
 * stats may be NULL; set its struct_size. It is filled in once the stream is
 * under way, however it ends, and left alone by a failure before that.
 */
typedef int rb_source(void *arg, rb_slice *key);
typedef int rb_pair_source(void *arg, rb_slice *key, rb_slice *value);
typedef int rb_command_source(void *arg, rb_command *command);
typedef int rb_sink(void *arg, size_t first, const rb_slice *keys,
		    const rb_slice *values, const rb_status *statuses,
		    size_t n);
/* replies[i] is NULL when the command was not answered. */
typedef int rb_reply_sink(void *arg, size_t first,
			  const struct redisReply *const *replies,
			  const rb_status *statuses, size_t n);

/*
 * Reads the keys of a source with MGET; the values go to take, with the keys.
 * Values have a NUL behind them, the keys have none.
 */
RB_API RB_MUST_CHECK rb_status rb_mget_stream(rb_client *client,
					      rb_source *next, void *next_arg,
					      rb_sink *take, void *take_arg,
					      const rb_options *opts,
					      rb_stats *stats);

/*
 * Writes the pairs of a source as rb_mset_chunked() does. options.on_chunk is
 * told the outcome of each chunk: first and count are numbers of the stream.
 */
RB_API RB_MUST_CHECK rb_status rb_mset_stream(rb_client *client,
					      rb_pair_source *next,
					      void *next_arg,
					      const rb_options *opts,
					      rb_stats *stats);

/*
 * Sends the commands of a source as rb_pipeline_chunked() does; the replies go
 * to take. MULTI is refused here; RB_TRANSACTION makes a transaction of each
 * chunk.
 */
RB_API RB_MUST_CHECK rb_status
rb_pipeline_stream(rb_client *client, rb_command_source *next, void *next_arg,
		   rb_reply_sink *take, void *take_arg, const rb_options *opts,
		   rb_stats *stats);

/* ------------------------------------------------------------- result -- */

/*
 * The number of entries of the batch. 0 for NULL.
 */
RB_API size_t rb_result_count(const rb_result *res);

/*
 * The value of entry i, owned by the result; for a pipeline, the text of a
 * reply that is a string or a status. It has len bytes and a NUL behind
 * them that is not counted. data NULL: the server said nil, or there is no
 * value because the entry failed; rb_result_status() tells which. An empty
 * value has data and len 0. i out of range gives data NULL.
 */
RB_API rb_slice rb_result_value(const rb_result *res, size_t i);

/*
 * The reply to command i of a pipeline, owned by the result; NULL: not
 * answered, or no pipeline. Types of RESP3 have the numbers that hiredis 1.x
 * gives them (REDIS_REPLY_MAP is 9), also with hiredis 0.14, whose redisReply
 * has no member for a double: its text is in str.
 */
RB_API const struct redisReply *rb_result_reply(const rb_result *res, size_t i);

/*
 * The sum of the numbers of all chunks: fields added by HSET, keys removed,
 * found or touched. 0 for NULL.
 */
RB_API int64_t rb_result_total(const rb_result *res);

/*
 * How entry i went: RB_OK for a value and for nil. RB_ERR_INVALID: i is out of
 * range.
 */
RB_API rb_status rb_result_status(const rb_result *res, size_t i);

/*
 * What happened to entry i at the server, whatever became of the others in its
 * chunk. RB_NOT_SENT when i is out of range.
 */
RB_API rb_outcome rb_result_outcome(const rb_result *res, size_t i);

/*
 * Why entry i failed: the server's words about it where it had some, otherwise
 * the message of its chunk; "" for an entry that did not fail or is out of
 * range. Owned by the result, never NULL.
 */
RB_API const char *rb_result_message(const rb_result *res, size_t i);

/*
 * The number of entries whose status is not RB_OK. 0 for NULL.
 */
RB_API size_t rb_result_failed(const rb_result *res);

/*
 * The number of reports, those among them of entries that were not sent. 0 for
 * NULL.
 */
RB_API size_t rb_result_chunks(const rb_result *res);

/*
 * The report of chunk i, owned by the result; NULL: out of range. Each entry is
 * in one of them. They come in the order of their entries; where they list
 * their entries, in the order in which it was known how they fared.
 */
RB_API const rb_chunk *rb_result_chunk(const rb_result *res, size_t i);

/*
 * What the call cost: fills in as many members as out->struct_size has room
 * for. RB_ERR_INVALID: an argument is NULL, or the size is none that was ever
 * released.
 */
RB_API rb_status rb_result_stats(const rb_result *res, rb_stats *out);

/*
 * Frees the result with all its values and reports, with the allocator of the
 * call that made it.
 */
RB_API void rb_result_free(rb_result *res);

#ifdef __cplusplus
}
#endif

#endif
