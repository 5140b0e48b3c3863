/* Definitions that LTTng's headers make once in a program. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/station_lttng_events.h"
