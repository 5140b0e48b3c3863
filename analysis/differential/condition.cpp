#include "analysis/differential/condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "analysis/base/time_text.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::differential {
namespace {

struct Figure {
  std::string_view name;
  double share;
};
constexpr std::array kFigures = {Figure{"mean", kMean}, Figure{"p50", 0.5},  Figure{"p90", 0.9},
                                 Figure{"p95", 0.95},   Figure{"p99", 0.99}, Figure{"p999", 0.999}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string_view name_of(double share) {
  return std::ranges::find(kFigures, share, &Figure::share)->name;
}

Result<void> read_limit(std::string_view words, Condition& condition) {
  const bool has_sign = words.starts_with('+') || words.starts_with('-');
  if (!has_sign || words.starts_with('-') == condition.is_more)
    return fail("\"{}\": the limit is a change, such as \"> +5%\" or \"< -200us\"", condition.text);
  const double sign = words.front() == '-' ? -1 : 1;
  words = trimmed(words.substr(1));
  if (!words.ends_with('%')) {
    auto ns = parse_time(words);
    if (!ns) return std::unexpected(std::move(ns).error().within(condition.text));
    condition.is_percent = false;
    condition.by = sign * static_cast<double>(*ns);
    return {};
  }
  words = trimmed(words.substr(0, words.size() - 1));
  double percent = 0;
  const auto [rest, code] = std::from_chars(words.data(), words.data() + words.size(), percent);
  if (code != std::errc() || rest != words.data() + words.size() || !(percent >= 0) ||
      !(percent < 1e9))
    return fail("\"{}\": \"{}\" is no number of percent", condition.text, words);
  condition.by = sign * percent / 100;
  return {};
}

std::string signed_duration(double ns) {
  return (ns < 0 ? "-" : "+") + present::duration(std::abs(ns));
}

// A side of too few packets has no blocks. Then the numbers are of packets, as in the heading.
std::string too_few(const Comparison& found) {
  const bool has_units = found.base_units != 0 && found.now_units != 0;
  const auto base = has_units ? found.base_units : static_cast<std::size_t>(found.base_effective);
  const auto now = has_units ? found.now_units : static_cast<std::size_t>(found.now_effective);
  return fmt::format("{} and {} {} are too few for an interval", base, now,
                     has_units ? "runs" : "independent packets");
}

}  // namespace

Result<Condition> parse_condition(std::string_view text) {
  Condition condition = {.text = std::string(trimmed(text)), .place = {}};
  const std::string_view words = condition.text;
  const auto open = words.find('(');
  const auto close = words.find(')');
  const auto figure = std::ranges::find(kFigures, trimmed(words.substr(0, open)), &Figure::name);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      figure == kFigures.end())
    return fail(
        "\"{}\" is not like \"p99(D) > +5%\" or \"mean(U pdcp.rx) > +20us\", with mean, p50, p90, "
        "p95, p99 or p999",
        condition.text);
  condition.share = figure->share;
  const std::string_view of = trimmed(words.substr(open + 1, close - open - 1));
  if (of.empty() || (of.front() != 'D' && of.front() != 'U') || (of.size() > 1 && of[1] != ' '))
    return fail("\"{}\": \"{}\" is not D or U, or one of them and a place", condition.text, of);
  condition.direction = of.front();
  condition.place = trimmed(of.substr(1));
  const std::string_view rest = trimmed(words.substr(close + 1));
  if (!rest.starts_with('>') && !rest.starts_with('<'))
    return fail("\"{}\": behind the figure comes \"> +LIMIT\" or \"< -LIMIT\"", condition.text);
  condition.is_more = rest.front() == '>';
  SJ_CHECK(read_limit(trimmed(rest.substr(1)), condition));
  return condition;
}

Checked check(const Condition& condition, std::span<const Comparison> all) {
  const auto what = fmt::format("{} of {}{}", name_of(condition.share), condition.direction,
                                condition.place.empty() ? "" : " " + condition.place);
  const auto found = std::ranges::find_if(all, [&](const Comparison& each) {
    return each.direction == condition.direction && each.is_latency == condition.place.empty() &&
           (each.is_latency || each.name == condition.place);
  });
  const Shift* const shift = found == all.end() ? nullptr : found->shift(condition.share);
  if (shift == nullptr)
    return {.finding = Finding::kTooLittle, .why = what + ": not on both sides"};
  if (!shift->half) return {.finding = Finding::kTooLittle, .why = what + ": " + too_few(*found)};
  const double limit = condition.is_percent ? condition.by * shift->base : condition.by;
  const double low = shift->by() - *shift->half;
  const double high = shift->by() + *shift->half;
  const auto percent = [&](double ns) { return shift->base == 0 ? 0 : 100 * ns / shift->base; };
  const std::string why =
      condition.is_percent
          ? fmt::format("{} changed by {:+.1f} % [{:+.1f}, {:+.1f}]", what, percent(shift->by()),
                        percent(low), percent(high))
          : fmt::format("{} changed by {} [{}, {}]", what, signed_duration(shift->by()),
                        signed_duration(low), signed_duration(high));
  const bool surely = condition.is_more ? low > limit : high < limit;
  const bool surely_not = condition.is_more ? high <= limit : low >= limit;
  return {.finding = surely       ? Finding::kHolds
                     : surely_not ? Finding::kDoesNotHold
                                  : Finding::kTooLittle,
          .why = why};
}

}  // namespace sojourn::differential
