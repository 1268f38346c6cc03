#include "run.h"

#include "interrupt.h"
#include "tick.h"

#include <stdio.h>
#include <string.h>

enum { WHY_SIZE = 160, IDLE_STEP_MS = 20 };

static bool say_why(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return false;
}

static bool say_gone(char *why, size_t size)
{
	return say_why(why, size,
		       rbt_interrupted() ? "interrupted" :
					   "its process ended early");
}

/* ------------------------------------------------------------ a method -- */

typedef struct reader {
	const rbt_method *method;
	const rbt_job *job;
	int in, out;
} reader;

/* In the child: says that all is ready, and waits for the word. */
static void await_word(void *arg)
{
	const reader *r = arg;
	char byte;

	if (rbt_child_put(r->out, "", 1))
		rbt_child_get(r->in, &byte, 1);
}

static void run_reader(void *arg, int in, int out)
{
	reader *r = arg;
	rbt_sample sample;

	r->in = in;
	r->out = out;
	rbt_method_measure(r->method, r->job, await_word, r, &sample);
	/* If it could not even prepare, the parent still awaits one byte. */
	if (!sample.done && sample.start_ns == 0)
		rbt_child_put(out, "", 1);
	rbt_child_put(out, &sample, sizeof(sample));
}

static bool run_started(rbt_child *child, rbt_sample *sample)
{
	char byte;

	if (!rbt_child_get(child->in, &byte, 1) ||
	    !rbt_child_put(child->out, "", 1) ||
	    !rbt_child_get(child->in, sample, sizeof(*sample)))
		return say_gone(sample->why, sizeof(sample->why));
	return sample->done;
}

bool rbt_run(const rbt_method *method, const rbt_job *job, rbt_sample *sample,
	     rbt_view *view)
{
	reader r = { method, job, -1, -1 };
	rbt_child child;
	rbt_neighbour nb;
	bool fine;

	memset(sample, 0, sizeof(*sample));
	if (view && !rbt_neighbour_start(&nb, job->target, job->keys->keys[0]))
		return say_why(sample->why, sizeof(sample->why),
			       "the other client was not answered");
	fine = rbt_child_start(&child, run_reader, &r);
	if (fine) {
		fine = run_started(&child, sample);
		rbt_child_end(&child);
	} else {
		say_why(sample->why, sizeof(sample->why), "no more processes");
	}
	if (view &&
	    !rbt_neighbour_stop(&nb, sample->start_ns,
				sample->start_ns + sample->wall_ns, view) &&
	    fine)
		fine = say_why(sample->why, sizeof(sample->why),
			       "the other client was not answered");
	return fine;
}

bool rbt_run_idle(const rbt_job *job, unsigned ms, rbt_view *view)
{
	rbt_neighbour nb;
	uint64_t start;

	memset(view, 0, sizeof(*view));
	if (!rbt_neighbour_start(&nb, job->target, job->keys->keys[0]))
		return false;
	start = rbt_now_ns();
	while (!rbt_interrupted() &&
	       rbt_now_ns() < start + (uint64_t)ms * 1000000)
		rbt_sleep_ms(IDLE_STEP_MS);
	return rbt_neighbour_stop(&nb, start, rbt_now_ns(), view);
}

/* --------------------------------------------------- loading and after -- */

typedef struct chore {
	const rbt_job *job;
	bool load;
} chore;

static void run_chore(void *arg, int in, int out)
{
	const chore *c = arg;
	char why[WHY_SIZE] = "";
	redisContext *ctx =
		rbt_target_connect(c->job->target, why, sizeof(why));

	(void)in;
	if (ctx && c->load)
		rbt_load(ctx, c->job->keys, c->job->value_len, why,
			 sizeof(why));
	else if (ctx)
		rbt_unload(ctx, c->job->keys, why, sizeof(why));
	rbt_child_put(out, why, sizeof(why));
}

static bool do_chore(const rbt_job *job, bool load, char *why, size_t size)
{
	chore c = { job, load };
	rbt_child child;
	char said[WHY_SIZE];
	bool fine;

	if (!rbt_child_start(&child, run_chore, &c))
		return say_why(why, size, "no more processes");
	fine = rbt_child_get(child.in, said, sizeof(said));
	rbt_child_end(&child);
	if (!fine)
		return say_gone(why, size);
	return said[0] == '\0' || say_why(why, size, said);
}

bool rbt_run_load(const rbt_job *job, char *why, size_t size)
{
	return do_chore(job, true, why, size);
}

bool rbt_run_unload(const rbt_job *job, char *why, size_t size)
{
	return do_chore(job, false, why, size);
}
