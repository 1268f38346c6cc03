/*
 * The n-th send, recv or poll goes wrong, for every n and in every way.
 */
#include "program.h"

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
		if (program_is_long()) {
			program_count(t, &p, &p.fault_at);
		} else {
			p.fault_at = 1;
			(void)torture_run(t, &p);
		}
	}
}

int main(int argc, char **argv)
{
	return program_main(argc, argv, fail_each_system_call, 2, 1500);
}
