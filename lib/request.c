#include "request.h"

#include "encode.h"

/* The large arguments of a cut: how many, and their bytes. */
typedef struct large {
	size_t n;
	size_t bytes;
} large;

static void count_large(large *l, size_t len)
{
	if (len < RBI_OUTBUF_BORROW)
		return;
	l->n++;
	l->bytes += len;
}

/* Only a cut that is large itself can have large arguments. */
static large find_large(const rbi_batch *b, const rbi_cut *cut)
{
	large l = { 0, 0 };
	size_t i;

	if (cut->request_bytes < RBI_OUTBUF_BORROW)
		return l;
	count_large(&l, b->fixed.data != NULL ? b->fixed.len : 0);
	for (i = cut->first; i < cut->first + cut->count; i++)
		count_large(&l, rbi_batch_keylen(b, i));
	return l;
}

/* Writes one argument at p, in full or around a borrow; where it stopped. */
static inline char *append_arg(rbi_outbuf *out, char *p, const char *data,
			       size_t len)
{
	if (RBI_LIKELY(len < RBI_OUTBUF_BORROW))
		return rbi_encode_arg(p, data, len);
	p = rbi_encode_number(p, '$', len);
	rbi_outbuf_wrote(out, p);
	rbi_outbuf_borrow(out, data, len);
	*p++ = '\r';
	*p++ = '\n';
	return p;
}

rb_status rbi_request_append(rbi_outbuf *out, const rbi_batch *b,
			     const rbi_cut *cut)
{
	large l = find_large(b, cut);
	char *p = rbi_outbuf_reserve(out, cut->request_bytes - l.bytes, l.n);
	size_t i;

	if (p == NULL)
		return RB_ERR_NOMEM;
	p = rbi_encode_header(p, rbi_batch_fixed_args(b) + cut->count);
	p = rbi_encode_arg(p, b->command.data, b->command.len);
	if (b->fixed.data != NULL)
		p = append_arg(out, p, b->fixed.data, b->fixed.len);
	for (i = cut->first; i < cut->first + cut->count; i++)
		p = append_arg(out, p, b->keys[i], rbi_batch_keylen(b, i));
	rbi_outbuf_wrote(out, p);
	return RB_OK;
}
