/* Made by `sojourn schema` from typed.pleco: change that, not this. */
#ifndef SJ_SCHEMA_TYPED_PLECO_405E4C83
#define SJ_SCHEMA_TYPED_PLECO_405E4C83

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

#define SJ_SUBSYS_PDCP 0

/* PDCP to RLC */
#define SJ_EVENT_ID_PDCP_TX 0
#define SJ_EVENT_PDCP_TX(sj_len, sj_margin, sj_rnti, sj_drb, sj_psn) \
  SJ_POINT("D pdcp.tx--rlc.tx.am", "len.margin:rnti:drb.psn", \
           SJ_EVENT_AS_(uint32_t, sj_len), \
           SJ_EVENT_AS_(int8_t, sj_margin), \
           SJ_EVENT_AS_(uint16_t, sj_rnti), \
           SJ_EVENT_AS_(uint8_t, sj_drb), \
           SJ_EVENT_AS_(uint64_t, sj_psn))
#define SJ_EVENT_pdcp_tx SJ_EVENT_PDCP_TX
#define SJ_EVENT_pdcp_TX SJ_EVENT_PDCP_TX
#define SJ_EVENT_PDCP_tx SJ_EVENT_PDCP_TX

/* Left the reordering window * / at once */
#define SJ_EVENT_ID_PDCP_REORDER 1
#define SJ_EVENT_PDCP_REORDER(sj_count) \
  SJ_POINT("U pdcp.rx--pdcp.reorder", "::count", \
           SJ_EVENT_AS_(int32_t, sj_count))
#define SJ_EVENT_pdcp_REORDER SJ_EVENT_PDCP_REORDER

/* depth */
#define SJ_EVENT_ID_PDCP_DEPTH 2
#define SJ_EVENT_PDCP_DEPTH(sj_items, sj_change) \
  SJ_POINT("I pdcp--depth", "items.change::", \
           SJ_EVENT_AS_(int64_t, sj_items), \
           SJ_EVENT_AS_(int16_t, sj_change))
#define SJ_EVENT_pdcp_depth SJ_EVENT_PDCP_DEPTH
#define SJ_EVENT_pdcp_DEPTH SJ_EVENT_PDCP_DEPTH
#define SJ_EVENT_PDCP_depth SJ_EVENT_PDCP_DEPTH

/* stall */
#define SJ_EVENT_ID_PDCP_STALL 3
#define SJ_EVENT_PDCP_STALL() \
  SJ_POINT("S pdcp.rx--gtp.tx", "::")
#define SJ_EVENT_pdcp_stall SJ_EVENT_PDCP_STALL
#define SJ_EVENT_pdcp_STALL SJ_EVENT_PDCP_STALL
#define SJ_EVENT_PDCP_stall SJ_EVENT_PDCP_STALL

/* MARK */
#define SJ_EVENT_ID_PDCP_MARK 4
#define SJ_EVENT_PDCP_MARK(sj_arg) \
  SJ_POINT("I pdcp--mark", "arg::", \
           SJ_EVENT_AS_(uint32_t, sj_arg))
#define SJ_EVENT_pdcp_MARK SJ_EVENT_PDCP_MARK

#endif
