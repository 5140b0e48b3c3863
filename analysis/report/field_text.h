// An event's values in words and in JSON, the same wherever they are shown. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include "analysis/model/schema.h"

namespace sojourn::report {

// How a field's values are written, looked up once where many are: in the base in which people know
// them (model::is_hexadecimal), below zero in decimal. The filter language reads it back as it is.
struct ValueForm {
  bool is_signed = false;
  bool is_hexadecimal = false;
};
ValueForm form_of(const model::Point& point, std::size_t field);
void append_value(fmt::memory_buffer& out, ValueForm form, std::uint64_t value);

// "?" where the target's memory could not be read.
std::string value_text(const model::Point& point, std::size_t field,
                       std::span<const std::uint64_t> values);

// " rnti 0x4601 drb 2", without the fields that people do not name.
std::string ids_text(const model::Point& point, std::span<const std::uint64_t> values);

// {name: value}, of the point's properties or of its ids; a name that it has several times has an
// array. null where it could not be read.
nlohmann::ordered_json values_json(const model::Point& point, std::span<const std::uint64_t> values,
                                   bool properties);

}  // namespace sojourn::report
