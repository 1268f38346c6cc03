/*
 * The n-th allocation fails, for every n, alone and with all that follow.
 */
#include "program.h"

static void fail_each_allocation(torture *t)
{
	torture_point p = { .fail_on = false };

	program_count(t, &p, &p.fail_at);
	p.fail_on = true;
	program_count(t, &p, &p.fail_at);
}

int main(int argc, char **argv)
{
	return program_main(argc, argv, fail_each_allocation, 4, 2000);
}
