#include "allocations.h"

#include "count.h"
#include "reads.h"
#include "series.h"

#include <stdio.h>

static void print_counts(const rbt_job *job, const rbt_count *count)
{
	printf("%9s values: %6s allocs, %6s reallocs; at most %.1f MB\n",
	       rbt_series_grouped(job->keys->n),
	       rbt_series_grouped(count->allocs),
	       rbt_series_grouped(count->reallocs),
	       (double)count->peak_bytes / 1e6);
	fflush(stdout);
}

bool rbt_allocations_print(const rbt_job *job)
{
	rbt_count count;
	rbt_sample sample;
	rb_options options = *job->options;
	rbt_job counted = *job;

	rbt_count_init(&count);
	options.allocator = &count.allocator;
	counted.options = &options;
	rbt_method_measure(&rbt_read_library, &counted, NULL, NULL, &sample);
	if (!sample.done) {
		fprintf(stderr, "bench: %s\n", sample.why);
		return false;
	}
	print_counts(job, &count);
	if (count.live_blocks > 0)
		fprintf(stderr, "bench: %zu blocks were never freed\n",
			count.live_blocks);
	return count.live_blocks == 0 && sample.right == job->keys->n;
}
