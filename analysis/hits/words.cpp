#include "analysis/hits/words.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace sojourn::hits {

namespace {

std::optional<std::uint64_t> number_of(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (digits.empty() || code != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return number;
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  return number_of(text, 10);
}

std::optional<HitField> parse_number(std::string_view text) {
  HitField field;
  if (text.starts_with('-')) {
    const auto size = number_of(text.substr(1), 10);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + 1;
    if (!size || *size > kMost) return std::nullopt;
    field.value = ~*size + 1;
    field.is_signed = true;
    return field;
  }
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const auto value = is_hex ? number_of(text.substr(2), 16) : number_of(text, 10);
  if (!value) return std::nullopt;
  field.value = *value;
  return field;
}

std::optional<HitField> parse_field(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  std::string_view value = word.substr(equals + 1);
  if (value.ends_with(',')) value.remove_suffix(1);
  auto field = parse_number(value);
  if (field) field->name = word.substr(0, equals);
  return field;
}

std::optional<std::uint64_t> parse_seconds(std::string_view text) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(point + 1);
  const auto seconds = number_of(text.substr(0, point), 10);
  auto fraction = number_of(digits, 10);
  if (!seconds || !fraction || digits.size() > 9 || *seconds > 9 * kNsPerSecond)
    return std::nullopt;
  for (std::size_t at = digits.size(); at < 9; ++at) *fraction *= 10;
  return *seconds * kNsPerSecond + *fraction;
}

}  // namespace sojourn::hits
