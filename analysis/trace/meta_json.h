// What readers and writers of a trace's JSON share. Nothing in a file is trusted: members of the
// wrong kind or out of range are errors, and texts lose their control characters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/base/result.h"

namespace sojourn::trace {

using nlohmann::json;

// A file may be forged: its texts must not move a terminal's cursor or change its colours.
inline std::string printable(std::string text) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

// Reads one member where it is present and of the right kind; what is absent keeps its default.
template <typename T>
Result<void> read_member(const json& object, const char* member, T& into) {
  const auto found = object.find(member);
  if (found == object.end()) return {};
  if constexpr (std::is_same_v<T, bool>) {
    if (!found->is_boolean()) return fail("\"{}\" is neither true nor false", member);
    into = found->get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    if (!found->is_number_integer() || (std::is_unsigned_v<T> && !found->is_number_unsigned()))
      return fail("\"{}\" is not a whole number", member);
    const Wide value = found->get<Wide>();
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
      return fail("\"{}\" is out of range", member);
    into = static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return fail("\"{}\" is not a text", member);
    into = printable(found->get<std::string>());
  } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
    if (!found->is_array()) return fail("\"{}\" is not a list", member);
    for (const json& item : *found) {
      if (!item.is_number_unsigned()) return fail("\"{}\" is not a list of counts", member);
      into.push_back(item.get<std::uint64_t>());
    }
  } else {
    if (!found->is_array()) return fail("\"{}\" is not a list", member);
    for (const json& item : *found) {
      if (!item.is_string()) return fail("\"{}\" is not a list of texts", member);
      into.push_back(printable(item.get<std::string>()));
    }
  }
  return {};
}

// Texts come from a target's files and may be no UTF-8: what is not is replaced, never thrown over.
inline std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Deeper nesting than any of ours is an attack on the stack.
inline bool is_shallow(std::span<const std::uint8_t> text) {
  constexpr int kMaxDepth = 8;
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::uint8_t c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxDepth) return false;
  }
  return true;
}

// The depth is looked at beforehand: the library's parser with a callback takes quadratic time.
inline Result<json> parse(std::span<const std::uint8_t> text, json::value_t kind) {
  if (!is_shallow(text)) return fail("is JSON nested too deeply");
  const std::string_view chars(reinterpret_cast<const char*>(text.data()), text.size());
  json value = json::parse(chars, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded() || value.type() != kind) return fail("is not the JSON it should be");
  return value;
}

inline Result<json> parse_object(std::span<const std::uint8_t> text) {
  return parse(text, json::value_t::object);
}

}  // namespace sojourn::trace
