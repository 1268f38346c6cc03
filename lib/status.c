#include "status.h"

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *rb_version(void)
{
	return VERSION(RB_VERSION_MAJOR, RB_VERSION_MINOR, RB_VERSION_PATCH);
}

const char *rb_status_text(rb_status status)
{
	switch (status) {
	case RB_OK:
		return "ok";
	case RB_ERR_INVALID:
		return "invalid argument";
	case RB_ERR_NOMEM:
		return "out of memory";
	case RB_ERR_TIMEOUT:
		return "deadline passed";
	case RB_ERR_CONNECT:
		return "cannot connect";
	case RB_ERR_IO:
		return "connection lost";
	case RB_ERR_PROTOCOL:
		return "unexpected answer";
	case RB_ERR_SERVER:
		return "server error";
	case RB_ERR_LIMIT:
		return "past a limit";
	case RB_ERR_CANCELLED:
		return "cancelled";
	case RB_ERR_BUSY:
		return "context has unsent or unread data";
	case RB_ERR_SKIPPED:
		return "not tried";
	case RB_ERR_PARTIAL:
		return "some entries failed";
	case RB_ERR_UNSUPPORTED:
		return "not supported";
	}
	return "unknown status";
}

const char *rb_outcome_text(rb_outcome outcome)
{
	switch (outcome) {
	case RB_NOT_SENT:
		return "not sent";
	case RB_ANSWERED:
		return "answered";
	case RB_REJECTED:
		return "rejected";
	case RB_UNKNOWN:
		return "unknown";
	case RB_PARTLY:
		return "partly";
	}
	return "unknown outcome";
}
