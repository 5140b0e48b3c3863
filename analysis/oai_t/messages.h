// The messages that OpenAirInterface's T tracer knows, as the list says that stands at the head of
// each of its recordings: `ID = NAME`, then `FORMAT = int,frame : int,rnti : buffer,data` and more.
// A message's number is its place in the list. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"

namespace sojourn::oai_t {

enum class Type : std::uint8_t { kInt, kUlong, kFloat, kString, kBuffer };

struct Message {
  model::Point point;       // a scalar: T's messages tell of no way from place to place
  std::vector<Type> types;  // of what its records hold, in order
  // Of each: the field of the point that it becomes; strings and buffers give their length, floats
  // and what is beyond the sixteenth nothing.
  std::vector<int> fields;
};

inline constexpr int kNoField = -1;

Result<std::vector<Message>> parse_messages(std::string_view text);

}  // namespace sojourn::oai_t
