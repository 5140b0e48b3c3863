#include "analysis/metrics/exposition.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::metrics {
namespace {

Family counter() {
  return {.name = "sojourn_events",
          .help = "Events\nof \"all\" kinds.",
          .type = MetricType::kCounter,
          .unit = {},
          .samples = {{.labels = {{"place", "a\"b\\c\nd"}, {"n", "1"}}, .value = 12.0}}};
}

Family histogram() {
  LatencyHistogram times;
  times.add(Exemplar{.journey = 7, .value_ns = 10'000, .at_ns = 5'000'000'000});
  times.add(10'001);
  times.add(2'000'000'000'000);
  return {.name = "sojourn_latency_seconds",
          .help = "Time.",
          .type = MetricType::kHistogram,
          .unit = "seconds",
          .samples = {{.labels = {{"direction", "D"}}, .value = times}}};
}

TEST_CASE("labels and help are escaped, and a counter's sample has its ending") {
  const std::vector<Family> families = {counter()};
  CHECK(exposition(families, Format::kPrometheus, {}) ==
        "# HELP sojourn_events_total Events\\nof \"all\" kinds.\n"
        "# TYPE sojourn_events_total counter\n"
        "sojourn_events_total{place=\"a\\\"b\\\\c\\nd\",n=\"1\"} 12\n");
  CHECK(exposition(families, Format::kOpenMetrics, {}) ==
        "# HELP sojourn_events Events\\nof \\\"all\\\" kinds.\n"
        "# TYPE sojourn_events counter\n"
        "sojourn_events_total{place=\"a\\\"b\\\\c\\nd\",n=\"1\"} 12\n"
        "# EOF\n");
}

TEST_CASE("a histogram's buckets add up, and a time at a bound is below it") {
  const std::vector<Family> families = {histogram()};
  const std::string text = exposition(families, Format::kPrometheus, {});
  CHECK(text.contains("sojourn_latency_seconds_bucket{direction=\"D\",le=\"1e-05\"} 1\n"));
  CHECK(text.contains("sojourn_latency_seconds_bucket{direction=\"D\",le=\"2e-05\"} 2\n"));
  CHECK(text.contains("sojourn_latency_seconds_bucket{direction=\"D\",le=\"10\"} 2\n"));
  CHECK(text.contains("sojourn_latency_seconds_bucket{direction=\"D\",le=\"+Inf\"} 3\n"));
  CHECK(text.contains("sojourn_latency_seconds_count{direction=\"D\"} 3\n"));
  CHECK(text.contains("sojourn_latency_seconds_sum{direction=\"D\"} 2000.000020001\n"));
  CHECK_FALSE(text.contains(" # {"));
  CHECK_FALSE(text.contains("# UNIT"));
}

TEST_CASE("OpenMetrics has units, and exemplars at their time on the wall") {
  const std::vector<Family> families = {histogram()};
  const std::string text =
      exposition(families, Format::kOpenMetrics,
                 model::ClockPair{.monotonic_ns = 1'000'000'000, .realtime_ns = 101'250'000'000});
  CHECK(text.contains("# UNIT sojourn_latency_seconds seconds\n"));
  CHECK(text.contains("le=\"1e-05\"} 1 # {journey=\"7\"} 1e-05 105.250\n"));
  CHECK(text.contains("le=\"10.0\"} 2\n"));
  CHECK(text.ends_with("# EOF\n"));
}

TEST_CASE("a family without samples is left out") {
  Family empty = counter();
  empty.samples.clear();
  const std::vector<Family> families = {empty};
  CHECK(exposition(families, Format::kPrometheus, {}).empty());
}

TEST_CASE("the client chooses the format") {
  CHECK(format_for("text/plain") == Format::kPrometheus);
  CHECK(format_for("") == Format::kPrometheus);
  CHECK(format_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5") ==
        Format::kOpenMetrics);
  const std::string protobuf =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  CHECK(format_for(protobuf + ",application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1") ==
        Format::kProtobuf);
  CHECK(format_for(protobuf + ";q=0.2,application/openmetrics-text;q=0.8") == Format::kOpenMetrics);
  CHECK(format_for("application/vnd.google.protobuf") == Format::kPrometheus);
  CHECK(format_for("application/openmetrics-text;q=oops,text/html") == Format::kPrometheus);
}

}  // namespace
}  // namespace sojourn::metrics
