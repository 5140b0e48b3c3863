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
#include "userspace/base/words.h"

namespace sojourn::cli {

// "10s", "500ms", "1.5s", "2min". Not "4", which one means as seconds and another as milliseconds.
inline Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  double number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (code == std::errc() && unit.empty())
    return fail("\"{}\" needs a unit, e.g. {}ms or {}s", text, text, text);
  double unit_ns = 0;
  if (unit == "ns") unit_ns = 1;
  if (unit == "us") unit_ns = 1e3;
  if (unit == "ms") unit_ns = 1e6;
  if (unit == "s") unit_ns = 1e9;
  if (unit == "m" || unit == "min") unit_ns = 60e9;
  if (unit == "h") unit_ns = 3600e9;
  const double duration_ns = number * unit_ns;
  if (code != std::errc() || !(duration_ns >= 1) || duration_ns > 1e18)
    return fail("\"{}\" is not a duration such as 10s, 500ms or 2min", text);
  return std::chrono::nanoseconds(std::llround(duration_ns));
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

// Of buffers, which are powers of two: "256K", as parse_bytes reads it.
inline std::string buffer_bytes(std::uint64_t count) {
  if (count != 0 && count % (1 << 20) == 0) return fmt::format("{}M", count >> 20);
  if (count != 0 && count % (1 << 10) == 0) return fmt::format("{}K", count >> 10);
  return std::to_string(count);
}

}  // namespace sojourn::cli
