#include "instructions.h"

#include "pipelines.h"
#include "reads.h"
#include "writes.h"

#include <string.h>

enum { NKEYS = 20000, VALUE_LEN = 100 };

/* As instructions.sh calls them. */
static const struct {
	const char *name;
	const rbt_method *method;
} known[] = {
	{ "rb_mget_chunked", &rbt_read_library },
	{ "rb_mget_stream", &rbt_read_stream },
	{ "hiredis-mget", &rbt_read_loop },
	{ "rb_mset_chunked", &rbt_write_library },
	{ "hiredis-mset", &rbt_write_loop },
	{ "rb_pipeline_chunked", &rbt_gets_library },
	{ "rb_pipeline_stream", &rbt_gets_stream },
	{ "hiredis-gets", &rbt_gets_chunks },
};

static const rbt_method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].method;
	return NULL;
}

#if defined(__GNUC__) || defined(__clang__)
__attribute__((noinline))
#endif
bool rbt_instructions_counted(const rbt_method *method, const rbt_job *job,
			      rbt_held *held)
{
	bool fine = method->run(job, held);

	rbt_method_release(held);
	return fine;
}

bool rbt_instructions_of(const rbt_method *method, const rbt_job *whole,
			 size_t n)
{
	rbt_held held;
	rbt_keys keys = *whole->keys;
	rbt_job job = *whole;
	bool fine;

	/* The same keys stand ready whatever the number. */
	if (n < keys.n)
		keys.n = n;
	job.keys = &keys;
	fine = rbt_method_begin(method, &job, &held) &&
	       rbt_instructions_counted(method, &job, &held);
	if (!fine)
		rbt_complain("%s: %s", method->name, held.why);
	rbt_method_end(&held);
	return fine;
}

bool rbt_instructions_run(const rbt_setup *s, const char *name, size_t n)
{
	const rbt_method *method = find_method(name);
	rbt_task task;
	bool fine;

	if (!method)
		return rbt_complain("there is no method %s", name);
	fine = rbt_task_begin(&task, s, rbt_either(s->nkeys, NKEYS),
			      rbt_either(s->value_len, VALUE_LEN), true);
	if (fine)
		fine = rbt_instructions_of(method, &task.job, n);
	rbt_task_end(&task);
	return fine;
}
