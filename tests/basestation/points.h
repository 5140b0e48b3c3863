// Every point of the base station and, for each, one way to hit it: SJ_HIT stamps, hits the point,
// stamps again and gives the hit to the thread's truth log. A site that disagrees with this table
// does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <sojourn/point.h>

namespace sojourn::basestation {

struct PointWords {
  std::string_view where;
  std::string_view fields;
};

inline constexpr PointWords kPoints[] = {
    {"D ip.in--pdcp.in", "len:rnti:drb.gsn"},
    {"D pdcp.in--pdcp.tx", "len:rnti:drb.gsn.psn"},
    {"D pdcp.in--drop", "len:rnti:drb.gsn"},
    {"D pdcp.tx--rlc.tx.um", "len:rnti:drb.psn"},
    {"D pdcp.tx--rlc.tx.am", "len:rnti:drb.psn"},
    {"D rlc.tx.um--drop", "len:rnti:drb.psn"},
    {"D rlc.tx.am--drop", "len:rnti:drb.psn"},
    {"D rlc.tx.um--rlc.seg.um", "len:rnti:drb.psn.rsn.so"},
    {"D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.rsn.so"},
    {"D rlc.tx.am--rlc.ack", "len:rnti:drb.psn.rsn"},
    {"D rlc.seg.um--mac.mux", "len:rnti:drb.rsn.so.slot"},
    {"D rlc.seg.am--mac.mux", "len:rnti:drb.rsn.so.slot"},
    {"D rlc.ctrl.am--mac.mux", "len:rnti:drb.slot"},
    {"D mac.mux--mac.harq.down", "len:rnti:harq.slot"},
    {"D mac.harq.down--phy.out.proc", "len.round:rnti:harq.slot"},
    {"D mac.harq.down--drop", "len:rnti:harq.slot"},
    {"D phy.out.proc--phy.out.ant", "len:rnti:slot"},
    {"U phy.in.ant--phy.in.proc", "len.round:rnti:harq.slot"},
    {"U phy.in.proc--mac.demux", "len:rnti:harq.slot"},
    {"U phy.in.proc--drop", "len:rnti:harq.slot"},
    {"U mac.demux--rlc.rx.um", "len:rnti:drb.rsn.so.slot"},
    {"U mac.demux--rlc.rx.am", "len:rnti:drb.rsn.so.slot"},
    {"U mac.demux--rlc.ctrl.am", "len:rnti:drb.slot"},
    {"U rlc.rx.um--pdcp.rx", "len:rnti:drb.rsn.psn"},
    {"U rlc.rx.am--pdcp.rx", "len:rnti:drb.rsn.psn"},
    {"U rlc.rx.um--drop", "len:rnti:drb.rsn"},
    {"U rlc.rx.am--drop", "len:rnti:drb.rsn.so"},
    {"U pdcp.rx--gtp.tx", "len:rnti:drb.psn.gsn"},
    {"U pdcp.rx--drop", "len:rnti:drb.psn"},
    {"U gtp.tx--ip.out", "len:rnti:drb.gsn"},
};

// An unknown point is a compile error: the look-up is not a constant expression.
consteval std::uint16_t point_index(std::string_view where, std::string_view fields) {
  for (std::size_t index = 0; index < std::size(kPoints); ++index) {
    if (kPoints[index].where == where && kPoints[index].fields == fields) {
      return static_cast<std::uint16_t>(index);
    }
  }
  throw "this point is not in kPoints";
}

consteval std::size_t field_count(std::string_view fields) {
  return 1 + static_cast<std::size_t>(
                 std::ranges::count_if(fields, [](char c) { return c == '.' || c == ':'; }));
}

template <typename... Values>
std::array<std::uint32_t, sizeof...(Values)> as_values(Values... values) {
  return {static_cast<std::uint32_t>(values)...};
}

}  // namespace sojourn::basestation

// The value is the hit's id, 0 without truth. `origin` is evaluated only with truth.
#define SJ_HIT(log, origin, where, fields, ...)                                         \
  [&]() -> ::sojourn::truth::HitId {                                                    \
    constexpr auto sj_point_index = ::sojourn::basestation::point_index(where, fields); \
    const auto sj_before_ns = (log).stamp();                                            \
    SJ_POINT(where, fields, __VA_ARGS__);                                               \
    const auto sj_after_ns = (log).stamp();                                             \
    if (!(log).active()) return 0;                                                      \
    const auto sj_values = ::sojourn::basestation::as_values(__VA_ARGS__);              \
    static_assert(sj_values.size() == ::sojourn::basestation::field_count(fields));     \
    return (log).hit(sj_point_index, sj_before_ns, sj_after_ns, sj_values, origin);     \
  }()
