// Converts structs to JSON and back by one table of members for each (kFields). Data from a file is
// not trusted: members of the wrong kind or out of range are errors, and texts lose their control
// characters. Members that are not in the table are skipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"

namespace sojourn::trace {

using nlohmann::json;

enum class Presence : std::uint8_t {
  kOptional,  // always written; where it is missing, the member keeps its default
  kIfSet,     // written where it is not the default
  kRequired,
};

template <typename Member>
struct JsonField {
  const char* name;
  Member member;  // a pointer to one, or a function that gives a reference to it
  Presence presence = Presence::kOptional;
};

// The table of a struct: a tuple of JsonFields.
template <typename T>
inline constexpr std::nullptr_t kFields{};

// The function that makes an enum's value from its name in JSON. Without one, the number is stored.
template <typename Enum>
inline constexpr std::nullptr_t kFromName{};

// The maximum length of a list of T.
template <typename T>
inline constexpr std::size_t kMaxItems = SIZE_MAX;

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

// True if one of the templates above is specialized for a type.
template <typename Said>
inline constexpr bool kIsSaid = !std::is_null_pointer_v<std::remove_cvref_t<Said>>;

// A file may be forged: its texts must not move a terminal's cursor or change its colours.
inline std::string printable(std::string text) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

// A value as an enum's name in JSON; the name that the model has for it.
template <typename Enum>
std::string enum_text(Enum value) {
  return std::string(name(value));
}
inline std::string enum_text(model::Direction direction) {
  return {letter(direction)};
}

template <typename T>
json to_value(const T& value) {
  if constexpr (kIsSaid<decltype(kFields<T>)>) {
    json object = json::object();
    const auto write = [&](const auto& field) {
      const auto& member = std::invoke(field.member, value);
      if (field.presence != Presence::kIfSet || member != std::remove_cvref_t<decltype(member)>())
        object[field.name] = to_value(member);
    };
    std::apply([&](const auto&... field) { (write(field), ...); }, kFields<T>);
    return object;
  } else if constexpr (kIsList<T>) {
    json list = json::array();
    for (const auto& item : value) list.push_back(to_value(item));
    return list;
  } else if constexpr (!std::is_enum_v<T>) {
    return value;
  } else if constexpr (kIsSaid<decltype(kFromName<T>)>) {
    return enum_text(value);
  } else {
    return std::to_underlying(value);
  }
}

template <typename T>
Result<void> read_value(const json& value, std::string_view what, T& into);

template <typename T>
Result<void> read_object(const json& object, std::string_view what, T& into) {
  if (!object.is_object()) return fail("\"{}\" is not an object", what);
  const auto read = [&](const auto& field) -> Result<void> {
    const auto found = object.find(field.name);
    if (found != object.end())
      return read_value(*found, field.name, std::invoke(field.member, into));
    if (field.presence == Presence::kRequired) return fail("\"{}\" is missing", field.name);
    return {};
  };
  Result<void> done;
  std::apply([&](const auto&... field) { (void)((done = read(field)).has_value() && ...); },
             kFields<T>);
  if constexpr (requires { check(into); })
    if (done) done = check(into);
  return done;
}

template <typename Item>
Result<void> read_list(const json& list, std::string_view what, std::vector<Item>& into) {
  if (!list.is_array()) return fail("\"{}\" is not a list", what);
  if (list.size() > kMaxItems<Item>)
    return fail("\"{}\" has {} items: at most {} are allowed", what, list.size(), kMaxItems<Item>);
  into.clear();
  for (const json& item : list) SJ_CHECK(read_value(item, what, into.emplace_back()));
  return {};
}

template <typename Int>
Result<void> read_integer(const json& value, std::string_view what, Int& into) {
  using Wide = std::conditional_t<std::is_signed_v<Int>, std::int64_t, std::uint64_t>;
  if (!value.is_number_integer() || (std::is_unsigned_v<Int> && !value.is_number_unsigned()))
    return fail("\"{}\" is not a whole number", what);
  const Wide wide = value.get<Wide>();
  if (!std::in_range<Int>(wide)) return fail("\"{}\" is out of range", what);
  into = static_cast<Int>(wide);
  return {};
}

template <typename T>
Result<void> read_value(const json& value, std::string_view what, T& into) {
  if constexpr (kIsSaid<decltype(kFields<T>)>) {
    return read_object(value, what, into);
  } else if constexpr (kIsList<T>) {
    return read_list(value, what, into);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) return fail("\"{}\" is neither true nor false", what);
    into = value.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    return read_integer(value, what, into);
  } else if constexpr (std::is_enum_v<T> && !kIsSaid<decltype(kFromName<T>)>) {
    std::underlying_type_t<T> number{};
    SJ_CHECK(read_integer(value, what, number));
    into = static_cast<T>(number);
  } else {
    if (!value.is_string()) return fail("\"{}\" is not a text", what);
    std::string text = printable(value.get<std::string>());
    if constexpr (std::is_enum_v<T>) {
      const std::optional<T> known = kFromName<T>(text);
      if (!known) return fail("\"{}\" is \"{}\", which means nothing", what, text);
      into = *known;
    } else {
      into = std::move(text);
    }
  }
  return {};
}

// Texts come from a target's files and may be invalid UTF-8. Invalid bytes are replaced, and
// nothing is thrown.
inline std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Returns whether it is nested no deeper than our own JSON. Deeper nesting is an attack on the
// stack.
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

template <typename T>
Result<void> read_text(std::span<const std::uint8_t> text, T& into) {
  SJ_TRY(value, parse(text, kIsList<T> ? json::value_t::array : json::value_t::object));
  T read{};
  SJ_CHECK(read_value(value, "all of it", read));
  into = std::move(read);
  return {};
}

}  // namespace sojourn::trace
