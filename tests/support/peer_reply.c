#include "peer_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rbt_reply_init(rbt_reply *reply)
{
	memset(reply, 0, sizeof(*reply));
}

void rbt_reply_fini(rbt_reply *reply)
{
	free(reply->buf);
	memset(reply, 0, sizeof(*reply));
}

static void make_room(rbt_reply *reply, size_t n)
{
	size_t cap = reply->cap ? reply->cap : 4096;

	while (cap - reply->len < n)
		cap *= 2;
	if (cap == reply->cap)
		return;
	reply->buf = realloc(reply->buf, cap);
	if (!reply->buf)
		abort();
	reply->cap = cap;
}

void rbt_reply_bytes(rbt_reply *reply, const void *bytes, size_t len)
{
	make_room(reply, len);
	if (len > 0)
		memcpy(reply->buf + reply->len, bytes, len);
	reply->len += len;
}

void rbt_reply_text(rbt_reply *reply, const char *text)
{
	rbt_reply_bytes(reply, text, strlen(text));
}

static void add_number(rbt_reply *reply, char mark, size_t n)
{
	char line[32];

	snprintf(line, sizeof(line), "%c%zu\r\n", mark, n);
	rbt_reply_text(reply, line);
}

void rbt_reply_array(rbt_reply *reply, size_t n)
{
	add_number(reply, '*', n);
}

void rbt_reply_bulk(rbt_reply *reply, const void *data, size_t len)
{
	add_number(reply, '$', len);
	rbt_reply_bytes(reply, data, len);
	rbt_reply_text(reply, "\r\n");
}

void rbt_reply_nil(rbt_reply *reply)
{
	rbt_reply_text(reply, "$-1\r\n");
}
