// Times in the form that people type: options, filters, triggers and rule files all use this. A
// time has a unit, "5s" or "1.5 ms"; only 0 needs none. Times are not rounded. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/base/result.h"

namespace sojourn {

struct TimeUnit {
  std::string_view name;
  std::uint64_t ns = 0;
};

// No "m": one reads it as minutes, another as milliseconds, a third as a million.
inline constexpr std::array kTimeUnits = {
    TimeUnit{"ns", 1},
    TimeUnit{"us", 1'000},
    TimeUnit{"ms", 1'000'000},
    TimeUnit{"s", 1'000'000'000},
    TimeUnit{"min", 60'000'000'000},
    TimeUnit{"h", 3'600'000'000'000},
};

inline const TimeUnit* find_time_unit(std::string_view name) {
  const auto found = std::ranges::find(kTimeUnits, name, &TimeUnit::name);
  return found == kTimeUnits.end() ? nullptr : &*found;
}

// The error for a time that is a bare number, with the words to type instead.
inline std::string unit_wanted(std::string_view number) {
  return fmt::format("a time wants a unit: {0}s, {0}ms, {0}us", number);
}

// A number as it is written: whole + fraction / divisor.
struct Decimal {
  static constexpr __int128 kMax = UINT64_MAX;

  __int128 whole = 0;  // kMax + 1: more than 64 bits
  __int128 fraction = 0;
  __int128 divisor = 1;
  bool is_too_fine = false;  // there are more digits behind the point than any unit has
  std::size_t length = 0;    // characters of the text; 0: there is no number

  bool is_zero() const { return whole == 0 && fraction == 0 && !is_too_fine; }

  // Nothing if the result is no whole number.
  std::optional<__int128> times(std::uint64_t factor) const {
    if (is_too_fine || fraction * factor % divisor != 0) return std::nullopt;
    return whole * factor + fraction * factor / divisor;
  }
};

// The number that the text begins with. A point without a digit behind it does not belong to it.
inline Decimal read_decimal(std::string_view text) {
  const auto digit = [text](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9' ? text[at] - '0' : -1;
  };
  Decimal number;
  std::size_t& end = number.length;
  for (; digit(end) >= 0; ++end)
    number.whole = std::min(number.whole * 10 + digit(end), Decimal::kMax + 1);
  if (end == 0 || !text.substr(end).starts_with('.') || digit(end + 1) < 0) return number;
  for (++end; digit(end) >= 0; ++end) {
    if (number.divisor > Decimal::kMax) {
      number.is_too_fine |= digit(end) != 0;
      continue;
    }
    number.fraction = number.fraction * 10 + digit(end);
    number.divisor *= 10;
  }
  return number;
}

// Nanoseconds.
inline Result<std::uint64_t> parse_time(std::string_view text) {
  const Decimal number = read_decimal(text);
  std::string_view unit = text.substr(number.length);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (number.length == 0) return fail("\"{}\" is not a time such as 10s, 500ms or 2min", text);
  if (unit.empty() && number.is_zero()) return 0;
  if (unit.empty()) return fail("\"{}\": {}", text, unit_wanted(text.substr(0, number.length)));
  const TimeUnit* const known = find_time_unit(unit);
  if (known == nullptr) {
    std::array<std::string_view, kTimeUnits.size()> names;
    std::ranges::transform(kTimeUnits, names.begin(), &TimeUnit::name);
    return fail("\"{}\": \"{}\" is no unit of time: {} are", text, unit, fmt::join(names, ", "));
  }
  const std::optional<__int128> ns = number.times(known->ns);
  if (!ns) return fail("\"{}\": a time has whole nanoseconds", text);
  if (*ns > INT64_MAX) return fail("\"{}\" is too long: more than 292 years", text);
  return static_cast<std::uint64_t>(*ns);
}

// A text that parse_time reads back, in the largest unit up to a second that needs no fraction.
inline std::string exact_time(std::uint64_t ns) {
  constexpr std::size_t kSeconds = 3;
  static_assert(kTimeUnits[kSeconds].name == "s");
  std::size_t best = 0;
  while (best < kSeconds && ns % kTimeUnits[best + 1].ns == 0) ++best;
  return fmt::format("{}{}", ns / kTimeUnits[best].ns, kTimeUnits[best].name);
}

}  // namespace sojourn
