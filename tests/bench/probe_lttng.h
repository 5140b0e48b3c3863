/* The tracepoint that probe_cost.c hits when it measures LTTng-UST: five integers, as LTTng's own
 * documentation defines one. LTTng's headers include this file several times over. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sj_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "probe_lttng.h"

#if !defined(PROBE_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROBE_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    sj_bench, five,
    LTTNG_UST_TP_ARGS(uint32_t, number, uint32_t, rnti, uint32_t, bearer, uint32_t, i, uint32_t,
                      slot),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, number, number)
                            lttng_ust_field_integer(uint32_t, rnti, rnti)
                                lttng_ust_field_integer(uint32_t, bearer, bearer)
                                    lttng_ust_field_integer(uint32_t, i, i)
                                        lttng_ust_field_integer(uint32_t, slot, slot)))

#endif
#include <lttng/tracepoint-event.h>
