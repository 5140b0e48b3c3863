#include "analysis/oai_t/messages.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sojourn::oai_t {
namespace {

using model::Role;

constexpr std::size_t kMaxMessages = 20'000;  // there are some 800
constexpr std::size_t kMaxValues = 64;        // T's own limit is 16
constexpr std::size_t kMaxName = 128;

constexpr std::array kTypes = {std::pair{std::string_view("int"), Type::kInt},
                               std::pair{std::string_view("ulong"), Type::kUlong},
                               std::pair{std::string_view("float"), Type::kFloat},
                               std::pair{std::string_view("string"), Type::kString},
                               std::pair{std::string_view("buffer"), Type::kBuffer}};

// The ids of a unit, in any layer. Other values are properties.
constexpr std::array<std::string_view, 2> kGlobals = {"rnti", "ue_id"};
constexpr std::array<std::string_view, 16> kLocals = {
    "eNB_ID", "gNB_ID", "CC_id", "frame",    "subframe", "slot", "lcid",    "rb_id",
    "drb_id", "srb_id", "sn",    "harq_pid", "round",    "ndi",  "antenna", "module_id"};

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

Role role_of(std::string_view name) {
  if (std::ranges::find(kGlobals, name) != kGlobals.end()) return Role::kGlobal;
  return std::ranges::find(kLocals, name) != kLocals.end() ? Role::kLocal : Role::kProperty;
}

// Makes a name that a point or a field may have of a name in the file.
Result<std::string> plain(std::string_view name, std::size_t line) {
  const auto known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || name.size() > kMaxName || !std::ranges::all_of(name, known))
    return fail("line {} of its list of messages: not a name", line);
  return std::string(name);
}

// "int,frame : int,rnti : buffer,data"
Result<void> read_format(std::string_view format, std::size_t line, Message& message) {
  while (!format.empty()) {
    const auto end = std::min(format.find(':'), format.size());
    const auto one = format.substr(0, end);
    format.remove_prefix(std::min(end + 1, format.size()));
    const auto comma = std::min(one.find(','), one.size());
    const auto type = std::ranges::find(kTypes, trimmed(one.substr(0, comma)),
                                        &std::pair<std::string_view, Type>::first);
    if (type == kTypes.end() || comma == one.size() || message.types.size() == kMaxValues)
      return fail("line {} of its list of messages: not a format of T's", line);
    SJ_TRY(name, plain(trimmed(one.substr(comma + 1)), line));
    message.types.push_back(type->second);
    message.fields.push_back(kNoField);
    auto& fields = message.point.fields;
    if (type->second == Type::kFloat || fields.size() == model::kMaxFields) continue;
    message.fields.back() = static_cast<int>(fields.size());
    const bool counted = type->second == Type::kString || type->second == Type::kBuffer;
    if (counted)
      fields.push_back({.name = name + "_len", .role = Role::kProperty, .bytes = 4});
    else
      fields.push_back({.name = name,
                        .role = role_of(name),
                        .bytes = static_cast<std::uint8_t>(type->second == Type::kInt ? 4 : 8),
                        .is_signed = type->second == Type::kInt});
  }
  return {};
}

}  // namespace

Result<std::vector<Message>> parse_messages(std::string_view text) {
  std::vector<Message> messages;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto words = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = words.find('=');
    if (words.empty() || words.starts_with('#') || equals == std::string_view::npos) continue;
    const auto key = trimmed(words.substr(0, equals));
    const auto value = trimmed(words.substr(equals + 1));
    if (key == "ID") {
      if (messages.size() == kMaxMessages)
        return fail("its list has more than {} messages", kMaxMessages);
      Message message;
      message.point.direction = model::Direction::kScalar;
      SJ_TRY(name, plain(value, line));
      message.point.src = name;
      messages.push_back(std::move(message));
    } else if (key == "FORMAT") {
      if (messages.empty() || !messages.back().types.empty())
        return fail("line {} of its list of messages: a format without a message", line);
      SJ_CHECK(read_format(value, line, messages.back()));
      SJ_CHECK(model::check(messages.back().point));
    }
  }
  if (messages.empty()) return fail("its list of messages is empty");
  return messages;
}

}  // namespace sojourn::oai_t
