/*
 * A client for tests of the verbs: its socket and its clock are played by a
 * rig.
 */
#ifndef RBT_VERBS_H
#define RBT_VERBS_H

#include "client.h"
#include "rig.h"

typedef struct verbs {
	rig rig;
	rb_client *client;
	rb_result *res;
} verbs;

static inline void verbs_begin(verbs *v)
{
	rig_init(&v->rig, 3, 1);
	v->client = NULL;
	v->res = NULL;
	assert_status(rb_client_wrap(&v->client, v->rig.pair.ctx, NULL), RB_OK);
	v->client->sys = &rig_sys;
	v->client->clock = &v->rig.clock;
}

static inline void verbs_end(verbs *v)
{
	rb_result_free(v->res);
	rb_client_free(v->client);
	rig_fini(&v->rig);
}

/* Exactly these bytes were sent. */
static inline void verbs_check_sent(verbs *v, const char *want)
{
	if (v->rig.nsent != strlen(want) ||
	    memcmp(v->rig.sent, want, v->rig.nsent) != 0)
		fail_msg("sent was: %.*s", (int)v->rig.nsent, v->rig.sent);
}

static inline void verbs_check_error(const verbs *v, const char *words)
{
	if (strstr(rb_client_error(v->client), words) == NULL)
		fail_msg("\"%s\" is not in: %s", words,
			 rb_client_error(v->client));
}

#endif
