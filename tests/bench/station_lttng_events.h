/* Tracepoints of three to six integers, as LTTng's own documentation defines them. LTTng's headers
 * include this file several times over. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sj_station
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/station_lttng_events.h"

#if !defined(STATION_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define STATION_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(sj_station, three,
    LTTNG_UST_TP_ARGS(uint32_t, a, uint32_t, b, uint32_t, c),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, a, a) lttng_ust_field_integer(uint32_t, b, b)
                        lttng_ust_field_integer(uint32_t, c, c)))
LTTNG_UST_TRACEPOINT_EVENT(sj_station, four,
    LTTNG_UST_TP_ARGS(uint32_t, a, uint32_t, b, uint32_t, c, uint32_t, d),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, a, a) lttng_ust_field_integer(uint32_t, b, b)
                        lttng_ust_field_integer(uint32_t, c, c) lttng_ust_field_integer(uint32_t, d, d)))
LTTNG_UST_TRACEPOINT_EVENT(sj_station, five,
    LTTNG_UST_TP_ARGS(uint32_t, a, uint32_t, b, uint32_t, c, uint32_t, d, uint32_t, e),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, a, a) lttng_ust_field_integer(uint32_t, b, b)
                        lttng_ust_field_integer(uint32_t, c, c) lttng_ust_field_integer(uint32_t, d, d)
                        lttng_ust_field_integer(uint32_t, e, e)))
LTTNG_UST_TRACEPOINT_EVENT(sj_station, six,
    LTTNG_UST_TP_ARGS(uint32_t, a, uint32_t, b, uint32_t, c, uint32_t, d, uint32_t, e, uint32_t, f),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, a, a) lttng_ust_field_integer(uint32_t, b, b)
                        lttng_ust_field_integer(uint32_t, c, c) lttng_ust_field_integer(uint32_t, d, d)
                        lttng_ust_field_integer(uint32_t, e, e) lttng_ust_field_integer(uint32_t, f, f)))
/* clang-format on */

#endif
#include <lttng/tracepoint-event.h>
