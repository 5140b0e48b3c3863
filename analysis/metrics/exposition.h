// Metrics as Prometheus and others scrape them: its own text format 0.0.4; OpenMetrics 1.0, which
// has units and exemplars as well; or its protobuf messages, which have native histograms, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/metrics/latency_histogram.h"
#include "analysis/model/capture_info.h"

namespace sojourn::metrics {

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  Labels labels;
  std::variant<double, LatencyHistogram> value;
};

// All samples of one name, which ends with the unit where there is one. A counter's name is without
// "_total", which the text adds.
struct Family {
  std::string name;
  std::string help;
  MetricType type = MetricType::kGauge;
  std::string unit;  // "seconds"; empty: none
  std::vector<Sample> samples;
};

enum class Format : std::uint8_t { kPrometheus, kOpenMetrics, kProtobuf };

// The format that a client likes best, by the Accept header of its request.
Format format_for(std::string_view accept);
std::string_view content_type(Format format);

// The clock pair says when exemplars were; without it they have no time.
std::string exposition(std::span<const Family> families, Format format,
                       const std::optional<model::ClockPair>& clock);
// The protobuf form alone; families without samples are left out.
std::string protobuf_exposition(std::span<const Family> families,
                                const std::optional<model::ClockPair>& clock);

}  // namespace sojourn::metrics
