/*
 * A program with functions of its own that have names a Redis client might
 * have, and that do something else: to call one by mistake ends it. It needs
 * no header of hiredis, and its batches must work whichever way the library is
 * linked.
 *
 *	clash URI
 *
 * hiredis before 1.0 exports its strings as sds*, and would itself call those
 * of the program if the linker saw them: they are hidden from it.
 */
#include <redisbatch/redisbatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define TRAP(name)       \
	void name(void); \
	void name(void)  \
	{                \
		abort(); \
	}

TRAP(crc16)
TRAP(crc16tab)
TRAP(keyHashSlot)
TRAP(key_slot)
TRAP(slot_of)
TRAP(version)
TRAP(encode)
TRAP(plan)
TRAP(reader)
TRAP(reader_feed)
TRAP(client_open)
TRAP(client_free)
TRAP(result_free)
TRAP(pipeline_new)
TRAP(parse_uri)
TRAP(clock_now)
TRAP(now_ms)
TRAP(say)
TRAP(report)
TRAP(spawn)
TRAP(die)
TRAP(dictAdd)
TRAP(dictFind)
TRAP(dictRelease)
TRAP(listAddNodeTail)
HIDDEN TRAP(sdsnew)
HIDDEN TRAP(sdsnewlen)
HIDDEN TRAP(sdsempty)
HIDDEN TRAP(sdscatlen)
HIDDEN TRAP(sdsfree)

	static const char *const names[] = { "clash:1", "clash:2", "clash:3" };

enum { nnames = sizeof(names) / sizeof(names[0]) };

/* Each key is its own value. */
static int write_and_read(rb_client *rb)
{
	const char *list[nnames];
	rb_result *res = NULL;
	int good;

	memcpy(list, names, sizeof(list));
	good = rb_mset_chunked(rb, list, NULL, list, NULL, nnames, NULL,
			       &res) == RB_OK;
	rb_result_free(res);
	res = NULL;
	good = good &&
	       rb_mget_chunked(rb, list, NULL, nnames, NULL, &res) == RB_OK;
	for (size_t i = 0; good && i < nnames; i++)
		good = strcmp(rb_result_value(res, i).data, names[i]) == 0;
	rb_result_free(res);
	return good;
}

int main(int argc, char **argv)
{
	rb_client *rb;
	int good;

	if (argc != 2 || rb_client_open(&rb, argv[1], NULL) != RB_OK)
		return 2;
	good = write_and_read(rb);
	if (!good)
		fprintf(stderr, "clash: %s\n", rb_client_error(rb));
	rb_client_free(rb);
	return good ? 0 : 1;
}
