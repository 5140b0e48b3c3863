/* The base station's points as LTTng-UST's tracepoints: included before every file of it, in the
 * place of <sojourn/point.h>. A hit records the same integers; which point it was needs no field,
 * so LTTng is spared that. */
#ifndef STATION_LTTNG_H
#define STATION_LTTNG_H

#define SOJOURN_POINT_H /* no source includes the other one any more */

#include "tests/bench/station_lttng_events.h"

#define SJ_POINT(where, fields, ...) \
  SJ_LTTNG_PICK_(__VA_ARGS__, six, five, four, three, two, one)(__VA_ARGS__)
#define SJ_LTTNG_PICK_(a, b, c, d, e, f, arity, ...) SJ_LTTNG_##arity##_
#define SJ_LTTNG_three_(...) lttng_ust_tracepoint(sj_station, three, __VA_ARGS__)
#define SJ_LTTNG_four_(...) lttng_ust_tracepoint(sj_station, four, __VA_ARGS__)
#define SJ_LTTNG_five_(...) lttng_ust_tracepoint(sj_station, five, __VA_ARGS__)
#define SJ_LTTNG_six_(...) lttng_ust_tracepoint(sj_station, six, __VA_ARGS__)

#endif
