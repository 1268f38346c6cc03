/*
 * The collecting of commands, and what is refused of them.
 */
#include "verbs.h"

#include <hiredis/hiredis.h>

static verbs v;
static rb_pipeline *pipeline;

static void begin(void)
{
	verbs_begin(&v);
	assert_status(rb_pipeline_new(&pipeline, v.client), RB_OK);
}

static void end(void)
{
	rb_pipeline_free(pipeline);
	verbs_end(&v);
}

static void test_no_client_or_no_place_for_it_is_refused(void **state)
{
	rb_pipeline *p = (rb_pipeline *)(uintptr_t)8;
	rb_result *res = (rb_result *)(uintptr_t)8;

	(void)state;
	assert_status(rb_pipeline_new(&p, NULL), RB_ERR_INVALID);
	assert_null(p);
	assert_status(rb_pipeline_new(NULL, NULL), RB_ERR_INVALID);
	begin();
	assert_status(rb_pipeline_new(NULL, v.client), RB_ERR_INVALID);
	verbs_check_error(&v, "out");
	assert_status(rb_pipeline_chunked(NULL, NULL, 0, NULL, &res),
		      RB_ERR_INVALID);
	assert_null(res);
	assert_status(rb_pipeline_chunked(v.client, NULL, 0, NULL, NULL),
		      RB_ERR_INVALID);
	assert_status(rb_transaction(v.client, NULL, 0, NULL, NULL),
		      RB_ERR_INVALID);
	assert_int_equal(v.rig.nsent, 0);
	end();
}

static void test_no_pipeline_is_harmless(void **state)
{
	const char *argv[] = { "PING" };
	rb_result *res = (rb_result *)(uintptr_t)8;

	(void)state;
	assert_status(rb_pipeline_append(NULL, "PING"), RB_ERR_INVALID);
	assert_status(rb_pipeline_append_argv(NULL, 1, argv, NULL),
		      RB_ERR_INVALID);
	assert_status(rb_pipeline_run(NULL, NULL, &res), RB_ERR_INVALID);
	assert_null(res);
	assert_status(rb_pipeline_run(NULL, NULL, NULL), RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_count(NULL), 0);
	rb_pipeline_clear(NULL);
	rb_pipeline_free(NULL);
}

static void test_a_bad_command_is_named_and_not_taken(void **state)
{
	static const char *with_null[] = { "SET", NULL, "v" };
	static const size_t lens[] = { 3, 1, 1 };
	static const size_t too_long[] = { 3, 0,
					   (size_t)512 * 1024 * 1024 + 1 };
	static const struct {
		int argc;
		const char **argv;
		const size_t *lens;
		const char *words;
	} rows[] = {
		{ 0, with_null, lens, "argc" },
		{ -1, with_null, lens, "argc" },
		{ 3, NULL, lens, "argv" },
		{ 3, with_null, NULL, "NULL" },
		{ 3, with_null, lens, "NULL" },
		{ 3, with_null, too_long, "512 MiB" },
	};
	size_t i;

	(void)state;
	begin();
	for (i = 0; i < N_OF(rows); i++) {
		assert_status(rb_pipeline_append_argv(pipeline, rows[i].argc,
						      rows[i].argv,
						      rows[i].lens),
			      RB_ERR_INVALID);
		verbs_check_error(&v, rows[i].words);
	}
	assert_status(rb_pipeline_append(pipeline, NULL), RB_ERR_INVALID);
	verbs_check_error(&v, "format");
	assert_status(rb_pipeline_append(pipeline, "GET %y"), RB_ERR_INVALID);
	assert_status(rb_pipeline_append(pipeline, ""), RB_ERR_INVALID);
	assert_int_equal(rb_pipeline_count(pipeline), 0);
	end();
}

static void test_what_was_collected_is_sent_as_often_as_it_is_run(void **state)
{
	static const char *argv[] = { "SET", NULL, "v" };
	static const size_t lens[] = { 3, 0, 1 };
	static const char bytes[] = "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$1\r\nv\r\n"
				    "*2\r\n$3\r\nGET\r\n$3\r\na b\r\n";
	char twice[2 * sizeof(bytes)];

	(void)state;
	begin();
	assert_status(rb_pipeline_append_argv(pipeline, 3, argv, lens), RB_OK);
	assert_status(rb_pipeline_append(pipeline, "GET %s", "a b"), RB_OK);
	rig_say(&v.rig, sizeof(bytes) - 1, "+OK\r\n$1\r\nx\r\n");
	rig_say(&v.rig, 2 * (sizeof(bytes) - 1), "+OK\r\n$-1\r\n");
	assert_status(rb_pipeline_run(pipeline, NULL, &v.res), RB_OK);
	assert_string_equal(rb_result_reply(v.res, 1)->str, "x");
	rb_result_free(v.res);
	assert_status(rb_pipeline_run(pipeline, NULL, &v.res), RB_OK);
	assert_int_equal(rb_result_reply(v.res, 1)->type, REDIS_REPLY_NIL);
	snprintf(twice, sizeof(twice), "%s%s", bytes, bytes);
	verbs_check_sent(&v, twice);
	assert_status(rb_pipeline_run(pipeline, NULL, NULL), RB_ERR_INVALID);
	rb_pipeline_clear(pipeline);
	assert_int_equal(rb_pipeline_count(pipeline), 0);
	end();
}

#if HIREDIS_MAJOR >= 1
static void *no_malloc(size_t size)
{
	(void)size;
	return NULL;
}

static void *no_calloc(size_t n, size_t size)
{
	(void)n;
	(void)size;
	return NULL;
}

static void *no_realloc(void *ptr, size_t size)
{
	(void)ptr;
	(void)size;
	return NULL;
}

static char *no_strdup(const char *text)
{
	(void)text;
	return NULL;
}

static void test_without_memory_for_hiredis_nothing_is_appended(void **state)
{
	hiredisAllocFuncs none = { no_malloc, no_calloc, no_realloc, no_strdup,
				   free };
	rb_status status;

	(void)state;
	begin();
	(void)hiredisSetAllocators(&none);
	status = rb_pipeline_append(pipeline, "GET %s", "a");
	hiredisResetAllocators();
	assert_status(status, RB_ERR_NOMEM);
	verbs_check_error(&v, "memory");
	assert_int_equal(rb_pipeline_count(pipeline), 0);
	end();
}
#endif

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_client_or_no_place_for_it_is_refused),
		cmocka_unit_test(test_no_pipeline_is_harmless),
		cmocka_unit_test(test_a_bad_command_is_named_and_not_taken),
		cmocka_unit_test(
			test_what_was_collected_is_sent_as_often_as_it_is_run),
#if HIREDIS_MAJOR >= 1
		cmocka_unit_test(
			test_without_memory_for_hiredis_nothing_is_appended),
#endif
	};

	return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
