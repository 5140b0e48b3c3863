/* Made by `sojourn schema` from plain.pleco: change that, not this. */
#ifndef SJ_SCHEMA_PLAIN_PLECO_92CF04F9
#define SJ_SCHEMA_PLAIN_PLECO_92CF04F9

#include <stdint.h>

#include <sojourn/point.h>

/* SJ_EVENT(subsystem, event, arguments...): both names as declared, or in capitals. */
#ifndef SJ_EVENT
#define SJ_EVENT(subsystem, event, ...) SJ_EVENT_##subsystem##_##event(__VA_ARGS__)
#ifdef __cplusplus
#define SJ_EVENT_AS_(type, value) static_cast<type>(value)
#else
#define SJ_EVENT_AS_(type, value) ((type)(value))
#endif
#endif

#define SJ_SUBSYS_RAIL 0

/* Leaves the station */
#define SJ_EVENT_ID_RAIL_DEPART 0
#define SJ_EVENT_RAIL_DEPART(sj_arg) \
  SJ_POINT("I rail--DEPART", "arg::", \
           SJ_EVENT_AS_(uint32_t, sj_arg))
#define SJ_EVENT_rail_DEPART SJ_EVENT_RAIL_DEPART

/* ARRIVE */
#define SJ_EVENT_ID_RAIL_ARRIVE 1
#define SJ_EVENT_RAIL_ARRIVE(sj_arg) \
  SJ_POINT("I rail--ARRIVE", "arg::", \
           SJ_EVENT_AS_(uint32_t, sj_arg))
#define SJ_EVENT_rail_ARRIVE SJ_EVENT_RAIL_ARRIVE

/* Stops "here" */
#define SJ_EVENT_ID_RAIL_SIGNAL_RED 2
#define SJ_EVENT_RAIL_SIGNAL_RED(sj_arg) \
  SJ_POINT("I rail--SIGNAL_RED", "arg::", \
           SJ_EVENT_AS_(uint32_t, sj_arg))
#define SJ_EVENT_rail_SIGNAL_RED SJ_EVENT_RAIL_SIGNAL_RED

#define SJ_SUBSYS_RAIL_YARD 1

/* shunt */
#define SJ_EVENT_ID_RAIL_YARD_SHUNT 0
#define SJ_EVENT_RAIL_YARD_SHUNT(sj_arg) \
  SJ_POINT("I rail_yard--shunt", "arg::", \
           SJ_EVENT_AS_(uint32_t, sj_arg))
#define SJ_EVENT_rail_yard_shunt SJ_EVENT_RAIL_YARD_SHUNT
#define SJ_EVENT_rail_yard_SHUNT SJ_EVENT_RAIL_YARD_SHUNT
#define SJ_EVENT_RAIL_YARD_shunt SJ_EVENT_RAIL_YARD_SHUNT

#endif
