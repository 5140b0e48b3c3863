#include "analysis/metrics/line_protocol.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::metrics {
namespace {

TEST_CASE("tags are escaped as the line protocol wants it, and those without a value left out") {
  const std::vector<Family> families = {
      {.name = "sojourn_queue_depth",
       .help = {},
       .type = MetricType::kGauge,
       .unit = {},
       .samples = {{.labels = {{"queue", "rx, a=b\\\n"}, {"id", ""}}, .value = 3.0}}}};
  CHECK(LineProtocol().lines(families, 17) ==
        "sojourn_queue_depth,queue=rx\\,\\ a\\=b/? value=3 17\n");
}

TEST_CASE("a histogram has its quantiles since the lines before, and none without samples") {
  LatencyHistogram times;
  const auto families = [&times] {
    return std::vector<Family>{{.name = "sojourn_latency_seconds",
                                .help = {},
                                .type = MetricType::kHistogram,
                                .unit = "seconds",
                                .samples = {{.labels = {{"direction", "D"}}, .value = times}}}};
  };
  LineProtocol protocol;
  times.add(1'000'000'000);
  CHECK(protocol.lines(families(), 1) ==
        "sojourn_latency_seconds,direction=D count=1i,sum=1,p50=1,p90=1,p99=1,p999=1 1\n");
  CHECK(protocol.lines(families(), 2) == "sojourn_latency_seconds,direction=D count=1i,sum=1 2\n");
  times.add(2'000'000'000);
  CHECK(protocol.lines(families(), 3) ==
        "sojourn_latency_seconds,direction=D count=2i,sum=3,p50=2,p90=2,p99=2,p999=2 3\n");
}

TEST_CASE("all lines have the writer's tags before their own") {
  LatencyHistogram times;
  times.add(1'000'000'000);
  const std::vector<Family> families = {
      {.name = "sojourn_events",
       .help = {},
       .type = MetricType::kCounter,
       .unit = {},
       .samples = {{.labels = {}, .value = 5.0}}},
      {.name = "sojourn_latency_seconds",
       .help = {},
       .type = MetricType::kHistogram,
       .unit = "seconds",
       .samples = {{.labels = {{"direction", "D"}}, .value = times}}}};
  CHECK(LineProtocol({{"host", "gnb 1"}, {"site", ""}}).lines(families, 9) ==
        "sojourn_events,host=gnb\\ 1 value=5 9\n"
        "sojourn_latency_seconds,host=gnb\\ 1,direction=D "
        "count=1i,sum=1,p50=1,p90=1,p99=1,p999=1 9\n");
}

}  // namespace
}  // namespace sojourn::metrics
