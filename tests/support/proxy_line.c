#include "proxy_line.h"

#include <stdlib.h>
#include <string.h>

struct rbt_block {
	rbt_block *next;
	uint64_t due_us;
	size_t at;
	size_t len;
	char bytes[];
};

void rbt_line_init(rbt_line *line)
{
	memset(line, 0, sizeof(*line));
}

static void drop_first(rbt_line *line)
{
	rbt_block *block = line->first;

	line->first = block->next;
	if (!line->first)
		line->last = NULL;
	free(block);
}

void rbt_line_clear(rbt_line *line)
{
	while (line->first)
		drop_first(line);
	line->bytes = 0;
}

bool rbt_line_push(rbt_line *line, const char *bytes, size_t n, uint64_t due_us)
{
	rbt_block *block = malloc(sizeof(*block) + n);

	if (!block)
		return false;
	block->next = NULL;
	block->due_us = due_us;
	block->at = 0;
	block->len = n;
	memcpy(block->bytes, bytes, n);
	if (line->last)
		line->last->next = block;
	else
		line->first = block;
	line->last = block;
	line->bytes += n;
	return true;
}

size_t rbt_line_due(const rbt_line *line, uint64_t now_us, const char **bytes)
{
	const rbt_block *block = line->first;

	if (!block || block->due_us > now_us)
		return 0;
	*bytes = block->bytes + block->at;
	return block->len - block->at;
}

void rbt_line_pop(rbt_line *line, size_t n)
{
	line->first->at += n;
	line->bytes -= n;
	if (line->first->at == line->first->len)
		drop_first(line);
}

uint64_t rbt_line_next(const rbt_line *line)
{
	return line->first ? line->first->due_us : UINT64_MAX;
}
