// A hit of a point as a general tracer writes it: an event's name, its thread, and named numbers.
// Views are valid until the next hit is read. Plain data.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sojourn::hits {

struct HitField {
  std::string_view name = {};
  std::uint64_t value = 0;  // a signed one is extended to 64 bits
  bool is_signed = false;
};

struct Hit {
  std::uint64_t ts_ns = 0;  // by the recording's clock
  std::string_view event;   // "gnb:pdcp_in": the provider and the name, where there is a provider
  std::uint32_t tid = 0;    // 0: not known
  std::string_view thread;  // empty: not known
  std::vector<HitField> fields;
};

}  // namespace sojourn::hits
