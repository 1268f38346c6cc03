/*
 * Moves an amount from one account to the other, both or none.
 *
 *	transaction redis://127.0.0.1:6379
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>

static const char *from[] = { "DECRBY", "example:from", "25" };
static const char *to[] = { "INCRBY", "example:to", "25" };
static const char *typo[] = { "INCRBYY", "example:to", "25" };

/* What can be said after each way that a transaction may end. */
static void report(const rb_client *rb, rb_status status, const rb_result *res)
{
	size_t i;

	if (status == RB_OK)
		printf("applied\n");
	else
		printf("%s: %s\n", rb_status_text(status), rb_client_error(rb));
	for (i = 0; i < rb_result_count(res); i++)
		printf("  command %zu %s%s%s\n", i,
		       rb_outcome_text(rb_result_outcome(res, i)),
		       rb_result_status(res, i) != RB_OK ? ": " : "",
		       rb_result_message(res, i));
}

static rb_status run(rb_client *rb, const char **second)
{
	const rb_command commands[] = { { 3, from, NULL },
					{ 3, second, NULL } };
	rb_result *res;
	rb_status status = rb_transaction(rb, commands, 2, NULL, &res);

	report(rb, status, res);
	rb_result_free(res);
	return status;
}

int main(int argc, char **argv)
{
	const char *keys[] = { "example:from", "example:to" };
	rb_result *res = NULL;
	rb_client *rb;
	rb_status good;
	rb_status bad;

	if (rb_client_open(&rb, argc > 1 ? argv[1] : "redis://127.0.0.1",
			   NULL) != RB_OK)
		return 2;
	good = run(rb, to);
	bad = run(rb, typo); /* nothing is applied */
	if (rb_mget_chunked(rb, keys, NULL, 2, NULL, &res) == RB_OK)
		printf("from %s, to %s\n", rb_result_value(res, 0).data,
		       rb_result_value(res, 1).data);
	rb_result_free(res);
	if (rb_unlink_chunked(rb, keys, NULL, 2, NULL, &res) == RB_OK)
		printf("%lld keys removed\n", (long long)rb_result_total(res));
	rb_result_free(res);
	rb_client_free(rb);
	return good == RB_OK && bad == RB_ERR_SERVER ? 0 : 1;
}
