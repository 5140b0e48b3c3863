// Recorded events compared with the base station's own record.
#include <algorithm>
#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/live/programs.h"
#include "tests/live/truth_pairing.h"

namespace sojourn::live {
namespace {

// The number of times that PDCP gave one sequence number to a bearer's downlink packets: more than
// once if they wrap.
std::size_t most_hits_of_a_number(const truth::Truth& truth) {
  std::map<std::vector<std::uint64_t>, std::size_t> hits;
  for (const truth::Hit& hit : truth.hits)
    // len:rnti:drb.gsn.psn
    if (truth.points[hit.point].where == "D pdcp.in--pdcp.tx")
      ++hits[{hit.values[1], hit.values[2], hit.values[4]}];
  std::size_t most = 0;
  for (const auto& [number, count] : hits) most = std::max(most, count);
  return most;
}

TEST_CASE("every hit between the marks is in the trace, and every journey is rebuilt as it was") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  // Few bearers and short numbers: they wrap.
  Station station({"--air-loss", "0.1", "--drop", "pdcp.rx:0.01", "--drop", "rlc.tx:0.01",
                   "--pdcp-sn", "12", "--ues", "1", "--bearers", "2"});
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "2s", "-o", trace,
                "--attach", attach, "--budget", "none"});
  const truth::Truth truth = station.finish();

  const journeys::Comparison compared = require_equal(trace, truth);
  // The run had what this is about.
  CHECK(compared.expected > 10'000);
  CHECK(compared.repeats > 100);
  CHECK(compared.segments > 100);
  CHECK(compared.dropped > 10);
  CHECK(most_hits_of_a_number(truth) > 1);
}

TEST_CASE("a command that is started by the tracer is traced from its first instruction on") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const std::string truth_path = directory.path("truth");
  sojourn_done({"record", "--budget", "none", "-o", trace, "--", SJ_BASESTATION, "--duration", "1",
                "--truth", truth_path});
  auto truth = truth::read_truth(truth_path);
  if (!truth) FAIL(truth.error().text());

  require_equal(trace, *truth);
  trace::Reader reader = open_trace(trace);
  CHECK(reader.events() == truth->hits.size());
  CHECK(reader.capture().ended_by == "target exit");
  CHECK(reader.target().name == "sj-basestation");
}

TEST_CASE("a command that ends at once is recorded whole") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  sojourn_done({"record", "--budget", "none", "-o", trace, "--", SJ_PIPELINE, "50"});
  trace::Reader reader = open_trace(trace);
  CHECK(reader.events() == 100);
  CHECK(reader.capture().ended_by == "target exit");
}

TEST_CASE("two base stations from one file: only the chosen one is in the trace") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station chosen;
  Station other;
  sojourn_done({"record", "-p", std::to_string(chosen.pid()), "--for", "1s", "-o", trace,
                "--attach", attach, "--budget", "none"});
  require_equal(trace, chosen.finish());
  CHECK(other.running());
}

}  // namespace
}  // namespace sojourn::live
