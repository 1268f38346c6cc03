/*
 * The n-th allocation fails, for every n, alone and with all that follow; and
 * the same while the connection ends in the middle of the second command.
 */
#include "program.h"

static void fail_each_allocation(torture *t)
{
	torture_point points[] = {
		{ .fail_on = false },
		{ .fail_on = true },
		{ .fail_on = false, .fault = fault_cut_send(), .fault_at = 2 },
		{ .fail_on = true, .fault = fault_cut_send(), .fault_at = 2 },
	};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		program_count(t, &points[i], &points[i].fail_at);
}

int main(int argc, char **argv)
{
	return program_main(argc, argv, fail_each_allocation, 4, 2000);
}
