#include "userspace/cli/checks.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "userspace/base/count_text.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

template <typename Number>
std::optional<Number> parse(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

Check whole_number(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) -> std::string {
    const auto number = parse<std::uint64_t>(text);
    if (number && *number >= least && *number <= most) return "";
    if (most == kUnbounded)
      return fmt::format("\"{}\" is not a whole number from {} on", text, least);
    return fmt::format("\"{}\" is not a whole number from {} to {}", text, least,
                       base::grouped(most));
  };
}

Check number_above(double least, double most) {
  return [least, most](const std::string& text) -> std::string {
    const auto number = parse<double>(text);
    if (number && std::isfinite(*number) && *number > least && *number <= most) return "";
    return fmt::format("\"{}\" is not a number above {}{}", text, least,
                       std::isfinite(most) ? fmt::format(" and at most {}", most) : "");
  };
}

std::string check_output_name(const std::string& name) {
  return name.empty() ? "a name is wanted, and this one is empty" : "";
}

std::string check_output_file(const std::string& name) {
  return name == "-" ? "this goes to a file, not to standard output" : check_output_name(name);
}

std::string check_process_id(const std::string& text) {
  constexpr std::uint64_t kMax = 999'999'999;
  return whole_number(1, kMax)(text).empty()
             ? ""
             : fmt::format("\"{}\" is not a process id such as 4242", text);
}

std::string check_duration(const std::string& text) {
  const auto span = parse_duration(text);
  if (!span) return span.error().text();
  return span->count() > 0 ? "" : fmt::format("\"{}\": a time above 0 is wanted", text);
}

std::string check_bytes(const std::string& text) {
  const auto size = parse_bytes(text);
  return size ? "" : size.error().text();
}

std::string check_ring_bytes(const std::string& text) {
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  const auto size = parse_bytes(text);
  if (!size) return size.error().text();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::has_single_bit(*size) && *size >= page && *size <= kLargest
             ? ""
             : fmt::format("a power of two from {} to 1G is wanted", buffer_bytes(page));
}

}  // namespace sojourn::cli
