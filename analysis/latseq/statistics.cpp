// The figures of latseq_stats, with the roundings of the libraries that it uses.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/latseq/texts.h"

namespace sojourn::latseq {

namespace {

constexpr std::array kQuantiles = {0.05, 0.25, 0.5, 0.75, 0.95};

// std::from_chars would be shorter, but libc++ does not have it for doubles.
double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

// Rounds the exact value to six decimals, as Python's round().
double rounded(double value) {
  return number(fmt::format("{:.6f}", value));
}

// Rounds as numpy.around() does.
double around(double value) {
  return std::rint(value * 1e6) / 1e6;
}

// The shortest text that is read as the same number, always with a point or an exponent.
std::string text_of(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

double duration_ms(const Journey& journey) {
  return rounded((number(seconds(journey.out_ns)) - number(seconds(journey.in_ns))) * 1000);
}

// Interpolates between neighbours, as numpy.quantile().
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double low = sorted[below];
  const double high = sorted[std::min(below + 1, sorted.size() - 1)];
  const double part = at - static_cast<double>(below);
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

std::string statistics_json(std::vector<double> times_ms) {
  // An empty list counts as one journey of no duration.
  if (times_ms.empty())
    return "{\"size\": 1, \"min\": 0, \"max\": 0, \"mean\": 0.0, \"stdev\": 0.0, "
           "\"quantiles\": [0.0, 0.0, 0.0, 0.0, 0.0]}";
  const auto size = static_cast<double>(times_ms.size());
  const double mean = std::accumulate(times_ms.begin(), times_ms.end(), 0.0) / size;
  double squares = 0;
  for (const double time : times_ms) squares += (time - mean) * (time - mean);
  std::ranges::sort(times_ms);
  std::vector<std::string> quantiles;
  quantiles.reserve(kQuantiles.size());
  for (const double share : kQuantiles)
    quantiles.push_back(text_of(around(quantile(times_ms, share))));
  return fmt::format(
      "{{\"size\": {}, \"min\": {}, \"max\": {}, \"mean\": {}, \"stdev\": {}, \"quantiles\": "
      "[{}]}}",
      times_ms.size(), text_of(rounded(times_ms.front())), text_of(rounded(times_ms.back())),
      text_of(around(mean)), text_of(around(std::sqrt(squares / size))),
      fmt::join(quantiles, ", "));
}

struct Duration {
  double in_s = 0;
  std::string line;
};

}  // namespace

Result<void> print_statistics(const Recording& /*recording*/, const Journeys& all,
                              const Print& print) {
  std::array<std::vector<double>, 2> times_ms;
  for (const Journey& journey : all.journeys)
    times_ms[journey.direction()].push_back(duration_ms(journey));
  return print(fmt::format("{{\"D\": {}, \"U\": {}}}\n", statistics_json(std::move(times_ms[0])),
                           statistics_json(std::move(times_ms[1]))));
}

Result<void> print_durations(const Recording& recording, const Journeys& all, const Print& print) {
  std::array<std::vector<Duration>, 2> lines;
  for (const Journey& journey : all.journeys) {
    const double in_s = number(seconds(journey.in_ns));
    lines[journey.direction()].push_back(
        {in_s, fmt::format("{}{};{};{};\n", journey.direction(), uid(recording, journey),
                           text_of(in_s), text_of(duration_ms(journey)))});
  }
  std::vector<Duration> sorted;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    if (lines[direction].empty())
      lines[direction].push_back({0, fmt::format("{}0;0;0;\n", direction)});
    std::ranges::move(lines[direction], std::back_inserter(sorted));
  }
  std::ranges::stable_sort(sorted, {}, &Duration::in_s);
  SJ_CHECK(print("jid;timestamp;duration;\n"));
  for (const Duration& duration : sorted) SJ_CHECK(print(duration.line));
  return {};
}

}  // namespace sojourn::latseq
