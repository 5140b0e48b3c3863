// The messages of OpenAirInterface's T tracer. Each recording begins with their list: `ID = NAME`,
// then `FORMAT = int,frame : int,rnti : buffer,data` and more. A message's number is its position
// in the list. Plain data.
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
  model::Point point;       // a scalar, since T's messages name no places
  std::vector<Type> types;  // of the values of a record, in order
  // By value: the field that it becomes. Strings and buffers give their length. Floats, and values
  // beyond the sixteenth field, become none.
  std::vector<int> fields;
};

inline constexpr int kNoField = -1;

Result<std::vector<Message>> parse_messages(std::string_view text);

}  // namespace sojourn::oai_t
