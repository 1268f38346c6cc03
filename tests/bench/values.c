#include "values.h"

#include "load.h"

#include <stdlib.h>
#include <string.h>

bool rbt_values_init(rbt_values *values, size_t n, size_t len)
{
	memset(values, 0, sizeof(*values));
	values->values = calloc(n + 1, sizeof(*values->values));
	values->lens = calloc(n + 1, sizeof(*values->lens));
	values->bytes = malloc(n * len + 1);
	if (!values->values || !values->lens || !values->bytes) {
		rbt_values_fini(values);
		return false;
	}
	values->n = n;
	for (size_t i = 0; i < n; i++) {
		rbt_value_fill(values->bytes + i * len, len, i);
		values->values[i] = values->bytes + i * len;
		values->lens[i] = len;
	}
	return true;
}

void rbt_values_fini(rbt_values *values)
{
	free(values->values);
	free(values->lens);
	free(values->bytes);
	memset(values, 0, sizeof(*values));
}
