#include "batch.h"

#include "encode.h"

static rb_status check_fixed(const rbi_batch *b, char *why, size_t why_size)
{
	if (b->fixed_name == NULL)
		return RB_OK;
	if (b->fixed.data == NULL) {
		rbi_print(why, why_size, "%s is NULL", b->fixed_name);
		return RB_ERR_INVALID;
	}
	if (b->fixed.len > RBI_ENCODE_MAX_ARG) {
		rbi_print(why, why_size, "%s is %zu, above 512 MiB",
			  b->fixedlen_name, b->fixed.len);
		return RB_ERR_INVALID;
	}
	return RB_OK;
}

/* Says what is wrong with entry i, which is known to be bad. */
static rb_status bad_entry(const rbi_batch *b, size_t i, char *why,
			   size_t why_size)
{
	if (b->keys[i] != NULL)
		rbi_print(why, why_size, "%s[%zu] is %zu, above 512 MiB",
			  b->keylens_name, i, b->keylens[i]);
	else if (b->keylens == NULL)
		rbi_print(why, why_size, "%s[%zu] is NULL", b->keys_name, i);
	else
		rbi_print(why, why_size, "%s[%zu] is NULL but %s[%zu] is %zu",
			  b->keys_name, i, b->keylens_name, i, b->keylens[i]);
	return RB_ERR_INVALID;
}

static bool entry_is_bad(const rbi_batch *b, size_t i)
{
	if (b->keylens == NULL)
		return b->keys[i] == NULL;
	return (b->keys[i] == NULL && b->keylens[i] > 0) ||
	       b->keylens[i] > RBI_ENCODE_MAX_ARG;
}

rb_status rbi_batch_check(const rbi_batch *b, char *why, size_t why_size)
{
	rb_status status = check_fixed(b, why, why_size);
	size_t i;

	if (status != RB_OK || b->n == 0)
		return status;
	if (b->keys == NULL) {
		rbi_print(why, why_size, "%s is NULL", b->keys_name);
		return RB_ERR_INVALID;
	}
	for (i = 0; i < b->n; i++) {
		if (RBI_UNLIKELY(entry_is_bad(b, i)))
			return bad_entry(b, i, why, why_size);
	}
	return RB_OK;
}
