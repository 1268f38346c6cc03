/*
 * A call to a server that turns out to want keys of one slot in a command.
 */
#include "played.h"
#include "unit.h"

#define REFUSAL "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
#define VALUE "$1\r\nv\r\n"

static const char *three[] = { "a", "b", "c" };

static const char stream[] = REFUSAL VALUE VALUE VALUE;

static void begin(rbt_played *p)
{
	rbt_played_begin(p, NULL);
	p->bytes = stream;
	p->len = sizeof(stream) - 1;
	p->commands = 1;
	p->pause = sizeof(REFUSAL) - 1;
}

static void test_what_was_refused_is_asked_by_slots(void **state)
{
	rb_result *res;
	rbt_played p;
	size_t i;

	(void)state;
	begin(&p);
	assert_status(rb_mget_chunked(p.rb, three, NULL, 3, NULL, &res), RB_OK);
	assert_int_equal(p.heard, 4);
	for (i = 0; i < 3; i++)
		assert_string_equal(rb_result_value(res, i).data, "v");
	rb_result_free(res);
	rbt_played_end(&p);
}

/* Each allocation fails once: the call says so or does without, and of no value
 * it says what is not true. */
static void test_without_memory_to_do_so_it_says_so(void **state)
{
	bool failed = true;
	size_t fail_at = 0;

	(void)state;
	while (failed) {
		rb_result *res = NULL;
		rb_status status;
		rbt_played p;
		size_t i;

		begin(&p);
		p.count.fail_at = p.count.asked + ++fail_at;
		status = rb_mget_chunked(p.rb, three, NULL, 3, NULL, &res);
		failed = p.count.asked >= p.count.fail_at;
		/* It may be the chunk alone that cannot be sent again. */
		if (status != RB_ERR_PARTIAL && status != RB_OK)
			assert_status(status, RB_ERR_NOMEM);
		assert_int_equal(rb_result_failed(res) > 0,
				 status != RB_OK && res != NULL);
		for (i = 0; i < rb_result_count(res); i++) {
			if (rb_result_status(res, i) == RB_OK)
				assert_string_equal(
					rb_result_value(res, i).data, "v");
		}
		rb_result_free(res);
		rbt_played_end(&p);
	}
	assert_true(fail_at > 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_refused_is_asked_by_slots),
		cmocka_unit_test(test_without_memory_to_do_so_it_says_so),
	};

	return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
