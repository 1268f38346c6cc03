#include "setup.h"

#include "interrupt.h"
#include "run.h"
#include "watcher.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Values beyond those of the first run, each run of a write taking one. */
enum { MAX_SHIFT = 1024 };

size_t rbt_either(size_t given, size_t usual)
{
	return given ? given : usual;
}

bool rbt_complain(const char *format, ...)
{
	va_list ap;

	if (rbt_interrupted())
		return false;
	fputs("bench: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return false;
}

bool rbt_task_begin(rbt_task *task, const rbt_setup *s, size_t nkeys,
		    size_t value_len, bool writes)
{
	char why[160];

	memset(task, 0, sizeof(*task));
	if (!rbt_keys_init(&task->keys, "key:", nkeys))
		return rbt_complain("out of memory");
	task->job.target = &s->unix_target;
	task->job.keys = &task->keys;
	task->job.value_len = value_len;
	task->job.chunk = rbt_either(s->chunk, 1000);
	task->job.options = &s->options;
	if (writes) {
		if (!rbt_values_init(&task->values, nkeys + MAX_SHIFT,
				     value_len))
			return rbt_complain("out of memory");
		task->job.values = &task->values;
	}
	if (rbt_run_load(&task->job, why, sizeof(why)))
		return true;
	return rbt_complain("loading the keys failed: %s", why);
}

void rbt_task_end(rbt_task *task)
{
	char why[160];

	if (task->keys.n > 0 && !rbt_interrupted() &&
	    !rbt_run_unload(&task->job, why, sizeof(why)))
		rbt_complain("deleting the keys failed: %s", why);
	rbt_keys_fini(&task->keys);
	rbt_values_fini(&task->values);
}

static bool run_watched(const rbt_method *method, const rbt_job *job,
			rbt_sample *sample, size_t *server)
{
	rbt_watcher w;
	bool fine;

	if (!rbt_watcher_start(&w, job->target))
		return rbt_complain("CLIENT LIST was not answered");
	fine = rbt_run(method, job, sample, NULL);
	if (!rbt_watcher_stop(&w, sample->start_ns,
			      sample->start_ns + sample->wall_ns, server))
		return rbt_complain("CLIENT LIST was not answered");
	return fine || rbt_complain("%s: %s", method->name, sample->why);
}

bool rbt_run_checked(const rbt_method *method, rbt_job *job, rbt_sample *sample,
		     size_t *server)
{
	size_t entries = rbt_job_entries(job);

	if (job->values)
		job->shift = job->shift % MAX_SHIFT + 1;
	if (server) {
		if (!run_watched(method, job, sample, server))
			return false;
	} else if (!rbt_run(method, job, sample, NULL)) {
		return rbt_complain("%s: %s", method->name, sample->why);
	}
	if (sample->right != entries)
		return rbt_complain("%s: of %zu entries only %zu are right",
				    method->name, entries, sample->right);
	return true;
}
