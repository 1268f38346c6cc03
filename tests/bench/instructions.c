#include "instructions.h"

#include <stdio.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
__attribute__((noinline))
#endif
bool rbt_instructions_counted(const rbt_method *method, const rbt_job *job,
			      rbt_held *held)
{
	bool fine = method->read(job, held);

	rbt_method_release(held);
	return fine;
}

bool rbt_instructions_run(const rbt_method *method, const rbt_job *job,
			  size_t nread, char *why, size_t size)
{
	rbt_held held;
	rbt_keys keys = *job->keys;
	rbt_job part = *job;
	bool fine;

	/* The same keys stand ready whatever the number read. */
	if (nread < keys.n)
		keys.n = nread;
	part.keys = &keys;
	fine = rbt_method_begin(method, &part, &held) &&
	       rbt_instructions_counted(method, &part, &held);
	if (!fine)
		snprintf(why, size, "%s", held.why);
	rbt_method_end(&held);
	return fine;
}
