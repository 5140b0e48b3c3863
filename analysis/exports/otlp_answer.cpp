#include "analysis/exports/otlp_answer.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <exception>

#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>

#include "analysis/base/printable.h"

namespace sojourn::exports {

namespace {

using nlohmann::json;
using protozero::pbf_reader;

constexpr std::size_t kMaxShown = 200;

// One line of it.
std::string shown(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \r\n\t"), text.size());
  text.remove_prefix(begin);
  text = text.substr(0, text.find_first_of("\r\n"));
  std::string line = printable(text.substr(0, kMaxShown));
  if (text.size() > kMaxShown) line += "...";
  return line;
}

// Numbers of 64 bits may be texts in JSON.
std::uint64_t number_of(const json& value) {
  std::uint64_t number = 0;
  if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? shown(found->get_ref<const std::string&>())
                                                     : std::string();
}

OtlpAnswer json_answer(std::string_view body) {
  OtlpAnswer answer;
  const json read = json::parse(body, nullptr, false);
  if (!read.is_object() || !read.contains("partialSuccess")) return answer;
  const json& partial = read["partialSuccess"];
  if (!partial.is_object()) return answer;
  if (partial.contains("rejectedSpans"))
    answer.rejected_spans = number_of(partial["rejectedSpans"]);
  answer.message = text_of(partial, "errorMessage");
  return answer;
}

void read_partial_success(pbf_reader partial, OtlpAnswer& answer) {
  while (partial.next()) {
    if (partial.tag() == 1 && partial.wire_type() == protozero::pbf_wire_type::varint)
      answer.rejected_spans =
          static_cast<std::uint64_t>(std::max<std::int64_t>(partial.get_int64(), 0));
    else if (partial.tag() == 2 &&
             partial.wire_type() == protozero::pbf_wire_type::length_delimited)
      answer.message = shown(partial.get_string());
    else
      partial.skip();
  }
}

// The text field of this number, or nothing.
std::string protobuf_text(std::string_view body, protozero::pbf_tag_type field) {
  try {
    pbf_reader message(body.data(), body.size());
    while (message.next()) {
      if (message.tag() == field &&
          message.wire_type() == protozero::pbf_wire_type::length_delimited)
        return shown(message.get_string());
      message.skip();
    }
  } catch (const std::exception&) {  // protozero's way to say that a message is malformed
    return "";
  }
  return "";
}

OtlpAnswer protobuf_answer(std::string_view body) {
  OtlpAnswer answer;
  try {
    pbf_reader message(body.data(), body.size());
    while (message.next()) {
      if (message.tag() == 1 && message.wire_type() == protozero::pbf_wire_type::length_delimited)
        read_partial_success(message.get_message(), answer);
      else
        message.skip();
    }
  } catch (const std::exception&) {
    return answer;
  }
  return answer;
}

}  // namespace

OtlpAnswer otlp_answer(std::string_view body, bool is_json) {
  return is_json ? json_answer(body) : protobuf_answer(body);
}

std::string otlp_error(std::string_view body, std::string_view content_type) {
  if (content_type.starts_with("application/x-protobuf")) return protobuf_text(body, 2);
  if (content_type.starts_with("application/json")) {
    const json read = json::parse(body, nullptr, false);
    if (read.is_object()) return text_of(read, "message");
  }
  return shown(body);
}

}  // namespace sojourn::exports
