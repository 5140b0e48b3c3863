#include "analysis/exports/safe_text.h"

#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace sojourn::exports {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool continues(char byte) {
  return (static_cast<std::uint8_t>(byte) & 0xC0U) == 0x80U;
}

// Unicode's controls, marks of direction, separators and characters without width, which can make
// one name look like another.
bool is_deceptive(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C ||
         code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

template <typename IsWanted>
std::string copied(std::string_view text, const IsWanted& is_wanted) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character first = first_character(text);
    if (first.is_valid && is_wanted(first.code))
      result += text.substr(0, first.bytes);
    else
      result += kReplacement;
    text.remove_prefix(first.bytes);
  }
  return result;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  if (lead < 0x80) return {.code = lead, .bytes = 1, .is_valid = true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t at = 1; at < bytes; ++at) {
    if (!continues(text[at])) return {};
    code = code << 6U | (static_cast<std::uint8_t>(text[at]) & 0x3FU);
  }
  const bool is_too_long = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (is_too_long || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {.code = code, .bytes = bytes, .is_valid = true};
}

std::string utf8_text(std::string_view text) {
  return copied(text, [](char32_t) { return true; });
}

std::string shown_text(std::string_view text) {
  return copied(text, [](char32_t code) { return !is_deceptive(code); });
}

void append_json_text(std::string& out, std::string_view text) {
  const auto into = std::back_inserter(out);
  out += '"';
  while (!text.empty()) {
    const Character first = first_character(text);
    const char32_t code = first.is_valid ? first.code : 0xFFFD;
    text.remove_prefix(first.bytes);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code >= 0x20 && code < 0x7F) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      fmt::format_to(into, "\\u{:04x}", static_cast<std::uint32_t>(code));
    } else {
      const auto beyond = static_cast<std::uint32_t>(code) - 0x10000U;
      fmt::format_to(into, "\\u{:04x}\\u{:04x}", 0xD800U + (beyond >> 10U),
                     0xDC00U + (beyond & 0x3FFU));
    }
  }
  out += '"';
}

}  // namespace sojourn::exports
