#include "analysis/metrics/exposition.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace sojourn::metrics {

namespace {

double in_seconds(double ns) {
  return ns / 1e9;
}

void append_escaped(std::string& text, std::string_view words, bool is_label) {
  for (const char letter : words) {
    if (letter == '\\')
      text += "\\\\";
    else if (letter == '\n')
      text += "\\n";
    else if (letter == '"' && is_label)
      text += "\\\"";
    else
      text += letter;
  }
}

class Text {
 public:
  Text(Format format, const std::optional<model::ClockPair>& clock)
      : is_open_(format == Format::kOpenMetrics), clock_(clock) {}

  void add(const Family& family) {
    const bool is_counter = family.type == MetricType::kCounter;
    // For a counter, OpenMetrics describes the family, and Prometheus the sample.
    const std::string described = family.name + (is_counter && !is_open_ ? "_total" : "");
    text_ += fmt::format("# HELP {} ", described);
    append_escaped(text_, family.help, is_open_);
    text_ += fmt::format("\n# TYPE {} {}\n", described, name_of(family.type));
    if (is_open_ && !family.unit.empty())
      text_ += fmt::format("# UNIT {} {}\n", described, family.unit);
    for (const Sample& sample : family.samples) {
      if (const auto* const histogram = std::get_if<LatencyHistogram>(&sample.value))
        add(family.name, sample.labels, *histogram);
      else
        add(family.name + (is_counter ? "_total" : ""), sample.labels, {},
            std::get<double>(sample.value));
    }
  }

  std::string finish() {
    if (is_open_) text_ += "# EOF\n";
    return std::move(text_);
  }

 private:
  static std::string_view name_of(MetricType type) {
    switch (type) {
      case MetricType::kCounter:
        return "counter";
      case MetricType::kGauge:
        return "gauge";
      case MetricType::kHistogram:
        return "histogram";
    }
    return "";
  }

  void add(std::string_view name, const Labels& labels, std::string_view bound, double value,
           const std::optional<Exemplar>& exemplar = {}) {
    text_ += name;
    char between = '{';
    const auto label = [&](std::string_view key, std::string_view words) {
      text_ += between;
      between = ',';
      text_ += key;
      text_ += "=\"";
      append_escaped(text_, words, true);
      text_ += '"';
    };
    for (const auto& [key, words] : labels) label(key, words);
    if (!bound.empty()) label("le", bound);
    if (between == ',') text_ += '}';
    fmt::format_to(std::back_inserter(text_), " {}", value);
    if (exemplar && is_open_) add(*exemplar);
    text_ += '\n';
  }

  void add(const Exemplar& exemplar) {
    fmt::format_to(std::back_inserter(text_), " # {{journey=\"{}\"}} {}", exemplar.journey,
                   in_seconds(static_cast<double>(exemplar.value_ns)));
    if (!clock_) return;
    const std::uint64_t at_ns = exemplar.at_ns + (clock_->realtime_ns - clock_->monotonic_ns);
    fmt::format_to(std::back_inserter(text_), " {}.{:03}", at_ns / 1'000'000'000,
                   at_ns / 1'000'000 % 1000);
  }

  // A bucket counts all times up to its bound.
  void add(const std::string& name, const Labels& labels, const LatencyHistogram& histogram) {
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
      below += histogram.in_bucket(bucket);
      add(name + "_bucket", labels, bound_text(bucket), static_cast<double>(below),
          histogram.exemplar(bucket));
    }
    add(name + "_sum", labels, {}, in_seconds(histogram.sum_ns()));
    add(name + "_count", labels, {}, static_cast<double>(histogram.count()));
  }

  // OpenMetrics wants a point in them.
  std::string bound_text(std::size_t bucket) const {
    if (bucket == LatencyHistogram::kBoundsNs.size()) return "+Inf";
    const double bound = in_seconds(static_cast<double>(LatencyHistogram::kBoundsNs[bucket]));
    std::string text = fmt::format("{}", bound);
    if (is_open_ && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }

  bool is_open_;
  const std::optional<model::ClockPair>& clock_;
  std::string text_;
};

std::optional<Format> named_by(std::string_view range) {
  if (range.contains("application/vnd.google.protobuf") &&
      range.contains("io.prometheus.client.MetricFamily") && range.contains("delimited"))
    return Format::kProtobuf;
  if (range.contains("application/openmetrics-text")) return Format::kOpenMetrics;
  if (range.contains("text/plain") || range.contains("*/*")) return Format::kPrometheus;
  return std::nullopt;
}

// "...;q=0.5"; 1 without it, 0 if it is no number.
double quality_of(std::string_view range) {
  const auto at = range.find("q=");
  if (at == std::string_view::npos) return 1;
  double quality = 0;
  std::from_chars(range.data() + at + 2, range.data() + range.size(), quality);
  return quality;
}

}  // namespace

Format format_for(std::string_view accept) {
  Format liked = Format::kPrometheus;
  double most = 0;
  while (!accept.empty()) {
    const std::string_view range = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(range.size() + 1, accept.size()));
    const std::optional<Format> format = named_by(range);
    const double quality = quality_of(range);
    if (!format || quality <= most) continue;
    most = quality;
    liked = *format;
  }
  return liked;
}

std::string_view content_type(Format format) {
  switch (format) {
    case Format::kOpenMetrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case Format::kProtobuf:
      return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
             "encoding=delimited";
    case Format::kPrometheus:
      break;
  }
  return "text/plain; version=0.0.4; charset=utf-8";
}

std::string exposition(std::span<const Family> families, Format format,
                       const std::optional<model::ClockPair>& clock) {
  if (format == Format::kProtobuf) return protobuf_exposition(families, clock);
  Text text(format, clock);
  for (const Family& family : families)
    if (!family.samples.empty()) text.add(family);
  return text.finish();
}

}  // namespace sojourn::metrics
