#include "analysis/metrics/line_protocol.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sojourn::metrics {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> kQuantiles = {
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}};

// Commas, blanks and equals signs are escaped. A backslash may escape what follows it and cannot be
// escaped itself, and controls end lines: both are replaced.
void append_tag(std::string& text, std::string_view words) {
  for (const char letter : words) {
    if (letter == ',' || letter == ' ' || letter == '=') text += '\\';
    if (letter == '\\')
      text += '/';
    else
      text += static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f ? '?' : letter;
  }
}

// A tag without a value is not allowed.
void append_tags(std::string& text, const Labels& tags) {
  for (const auto& [name, value] : tags) {
    if (value.empty()) continue;
    text += ',';
    append_tag(text, name);
    text += '=';
    append_tag(text, value);
  }
}

}  // namespace

// "sojourn_stay_seconds,host=gnb1,direction=D,place=rlc.tx"
std::string LineProtocol::series_of(const Family& family, const Labels& labels) const {
  std::string text = family.name;
  append_tags(text, tags_);
  append_tags(text, labels);
  return text;
}

std::string LineProtocol::lines(std::span<const Family> families, std::uint64_t unix_ns) {
  std::string text;
  for (const Family& family : families)
    for (const Sample& sample : family.samples) {
      const std::string series = series_of(family, sample.labels);
      text += series;
      const auto* const times = std::get_if<LatencyHistogram>(&sample.value);
      if (times == nullptr) {
        fmt::format_to(std::back_inserter(text), " value={} {}\n", std::get<double>(sample.value),
                       unix_ns);
        continue;
      }
      fmt::format_to(std::back_inserter(text), " count={}i,sum={}", times->count(),
                     times->sum_ns() / 1e9);
      const NativeBuckets newer = times->native().since(before_[series]);
      before_[series] = times->native();
      if (newer.count() != 0)
        for (const auto& [name, share] : kQuantiles)
          fmt::format_to(std::back_inserter(text), ",{}={}", name, newer.quantile_seconds(share));
      fmt::format_to(std::back_inserter(text), " {}\n", unix_ns);
    }
  return text;
}

}  // namespace sojourn::metrics
