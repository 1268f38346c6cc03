/*
 * A growing buffer of bytes for a scripted peer to answer with. Running out of
 * memory ends the program: this is for tests.
 */
#ifndef RBT_PEER_REPLY_H
#define RBT_PEER_REPLY_H

#include <stddef.h>

typedef enum rbt_then {
	RBT_THEN_GO_ON = 0,
	RBT_THEN_CLOSE, /* after the bytes */
	RBT_THEN_RESET	/* after the bytes, with RST on TCP */
} rbt_then;

typedef struct rbt_reply {
	char *buf;
	size_t len;
	size_t cap;
	/* What the peer does once these bytes are sent. */
	rbt_then then;
} rbt_reply;

void rbt_reply_init(rbt_reply *reply);
void rbt_reply_fini(rbt_reply *reply);

/* Bytes as they are. */
void rbt_reply_bytes(rbt_reply *reply, const void *bytes, size_t len);
/* A string without its NUL, as it is: "+OK\r\n". */
void rbt_reply_text(rbt_reply *reply, const char *text);
/* "*n\r\n" */
void rbt_reply_array(rbt_reply *reply, size_t n);
/* "$len\r\n...\r\n" */
void rbt_reply_bulk(rbt_reply *reply, const void *data, size_t len);
/* "$-1\r\n" */
void rbt_reply_nil(rbt_reply *reply);

#endif
