// Quantities as people write and read them on the command line.
#pragma once

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "analysis/base/result.h"
#include "analysis/base/time_text.h"
#include "userspace/base/count_text.h"

namespace sojourn::cli {

// Parses "10s", "1.5 ms", 0: a duration, with an upper limit.
inline Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  constexpr std::uint64_t kMaxNs = 1'000'000'000'000'000'000;
  SJ_TRY(ns, parse_time(text));
  if (ns > kMaxNs) return fail("\"{}\" is too long: more than 30 years", text);
  return std::chrono::nanoseconds(ns);
}

// "4096", "64K", "16M", "1G"
inline Result<std::size_t> parse_bytes(std::string_view text) {
  std::size_t number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  unsigned shift = 0;
  if (unit == "K" || unit == "k")
    shift = 10;
  else if (unit == "M" || unit == "m")
    shift = 20;
  else if (unit == "G" || unit == "g")
    shift = 30;
  else if (!unit.empty())
    shift = 64;
  if (code != std::errc() || shift == 64 || number == 0 || number > (SIZE_MAX >> shift))
    return fail("\"{}\" is not a size such as 65536, 64K or 16M", text);
  return number << shift;
}

inline std::string seconds(std::chrono::nanoseconds span) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(span).count());
}

using base::counted;
using base::grouped;

inline std::string bytes(std::uint64_t count) {
  const auto scaled = static_cast<double>(count);
  if (count >= 10'000'000'000) return fmt::format("{:.0f} GB", scaled / 1e9);
  if (count >= 10'000'000) return fmt::format("{:.0f} MB", scaled / 1e6);
  if (count >= 1'000'000) return fmt::format("{:.1f} MB", scaled / 1e6);
  return fmt::format("{:.0f} kB", std::ceil(scaled / 1e3));
}

// The text for a buffer's size, a power of two: "256K", as parse_bytes reads it.
inline std::string buffer_bytes(std::uint64_t count) {
  if (count != 0 && count % (1 << 20) == 0) return fmt::format("{}M", count >> 20);
  if (count != 0 && count % (1 << 10) == 0) return fmt::format("{}K", count >> 10);
  return std::to_string(count);
}

}  // namespace sojourn::cli
