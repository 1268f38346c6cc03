/*
 * The n-th send, recv or poll goes wrong, for every n and in every way.
 */
#include "program.h"

/* From how many calls on it strikes again and again. */
static size_t again(void)
{
	return program_is_long() ? 10 : 1;
}

/* Those that must not be seen come one after another, too. */
static void fail_each_system_call(torture *t)
{
	torture_point p = { .fail_at = 0 };

	for (size_t i = 0; i < fault_count; i++) {
		p.fault = &fault_list[i];
		p.fault_on = false;
		program_count(t, &p, &p.fault_at);
		if (!p.fault->unseen)
			continue;
		p.fault_on = true;
		for (p.fault_at = 1; p.fault_at <= again(); p.fault_at++)
			(void)torture_run(t, &p);
	}
}

int main(int argc, char **argv)
{
	return program_main(argc, argv, fail_each_system_call, 2, 1500);
}
