// Losses, forced by buffers that are too small and looked into too seldom.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/live/point_counts.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

TEST_CASE("every hit is in the trace or in the ledger, point by point") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--air-loss", "0.1"});
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--attach", attach, "--ring-size", "64K", "--poll", "100"});
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  REQUIRE(counts.lost_in_all > 1000);
  check_counts(counts, truth, reader.capture());
}

TEST_CASE("each stream's missing sequence numbers are the ledger's losses of that stream") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--ring-size", "64K", "--poll", "100"});
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.merge([](const model::EventBatch&) { return true; }));
  REQUIRE(!reader.ledger().empty());
  check_gaps(reader);
}

}  // namespace
}  // namespace sojourn::live
