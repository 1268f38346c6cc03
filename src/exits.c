#include "exits.h"

exits exits_of(rb_status status)
{
	switch (status) {
	case RB_OK:
	case RB_ERR_PARTIAL:
		return EXITS_FINE;
	case RB_ERR_NOMEM:
		return EXITS_LOCAL;
	case RB_ERR_INVALID:
	case RB_ERR_LIMIT:
		return EXITS_USAGE;
	case RB_ERR_TIMEOUT:
	case RB_ERR_CONNECT:
	case RB_ERR_IO:
	case RB_ERR_PROTOCOL:
	case RB_ERR_SERVER:
	case RB_ERR_CANCELLED:
	case RB_ERR_BUSY:
	case RB_ERR_SKIPPED:
	case RB_ERR_UNSUPPORTED:
		break;
	}
	return EXITS_SERVER;
}
