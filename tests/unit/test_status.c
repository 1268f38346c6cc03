#include "status.h"
#include "unit.h"

#include <stdio.h>

static const rb_status statuses[] = {
	RB_OK,		RB_ERR_INVALID,	    RB_ERR_NOMEM,    RB_ERR_TIMEOUT,
	RB_ERR_CONNECT, RB_ERR_IO,	    RB_ERR_PROTOCOL, RB_ERR_SERVER,
	RB_ERR_LIMIT,	RB_ERR_CANCELLED,   RB_ERR_BUSY,     RB_ERR_SKIPPED,
	RB_ERR_PARTIAL, RB_ERR_UNSUPPORTED,
};

static const rb_outcome outcomes[] = { RB_NOT_SENT, RB_ANSWERED, RB_REJECTED,
				       RB_UNKNOWN, RB_PARTLY };

static void test_each_status_has_words_of_its_own(void **state)
{
	size_t i;
	size_t j;

	(void)state;
	for (i = 0; i < N_OF(statuses); i++) {
		const char *text = rb_status_text(statuses[i]);

		assert_true(strlen(text) > 0);
		assert_string_not_equal(text, "unknown status");
		for (j = 0; j < i; j++)
			assert_string_not_equal(text,
						rb_status_text(statuses[j]));
	}
}

static void test_a_number_that_is_no_status_has_words_too(void **state)
{
	(void)state;
	assert_string_equal(rb_status_text((rb_status)1), "unknown status");
	assert_string_equal(rb_status_text((rb_status)-14), "unknown status");
	assert_string_equal(rb_status_text((rb_status)-1000), "unknown status");
}

static void test_each_outcome_has_a_word_of_its_own(void **state)
{
	size_t i;
	size_t j;

	(void)state;
	for (i = 0; i < N_OF(outcomes); i++) {
		const char *text = rb_outcome_text(outcomes[i]);

		assert_true(strlen(text) > 0);
		for (j = 0; j < i; j++)
			assert_string_not_equal(text,
						rb_outcome_text(outcomes[j]));
	}
	assert_string_equal(rb_outcome_text(RB_ANSWERED), "answered");
}

static void test_a_number_that_is_no_outcome_has_words_too(void **state)
{
	(void)state;
	assert_string_equal(rb_outcome_text((rb_outcome)5), "unknown outcome");
}

static void test_the_version_is_that_of_the_header(void **state)
{
	char want[32];

	(void)state;
	snprintf(want, sizeof(want), "%d.%d.%d", RB_VERSION_MAJOR,
		 RB_VERSION_MINOR, RB_VERSION_PATCH);
	assert_string_equal(rb_version(), want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_status_has_words_of_its_own),
		cmocka_unit_test(test_a_number_that_is_no_status_has_words_too),
		cmocka_unit_test(test_each_outcome_has_a_word_of_its_own),
		cmocka_unit_test(
			test_a_number_that_is_no_outcome_has_words_too),
		cmocka_unit_test(test_the_version_is_that_of_the_header),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
