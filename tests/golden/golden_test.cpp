#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/report/journey_text.h"
#include "analysis/report/rebuild.h"
#include "analysis/report/report.h"
#include "tests/golden/fixture.h"
#include "tests/support/child.h"

namespace sojourn::golden {
namespace {

const std::string kFolder = SJ_GOLDEN;

trace::Reader open_fixture(const std::string& name) {
  const test::TemporaryDirectory directory;
  const auto trace = directory.path(name + ".sjt");
  const auto written = write_trace(kFolder + "/" + name + ".events", trace);
  if (!written) FAIL(written.error().text());
  auto reader = trace::Reader::open(trace);
  if (!reader) FAIL(reader.error().text());
  return std::move(*reader);
}

class JourneyWords : public journeys::Observer {
 public:
  explicit JourneyWords(const trace::Reader& reader) : schema_(reader.schema()) {
    for (const auto& stream : reader.streams()) cpus_[stream.id] = stream.cpu;
  }
  void on_journey(const journeys::Journey& journey) override {
    text += report::to_text(journey, schema_) + "\n";
    json += report::to_json_line(journey, schema_, cpus_) + "\n";
  }

  std::string text;
  std::string json;

 private:
  const model::Schema& schema_;
  report::CpuOfStream cpus_;
};

journeys::Totals rebuild(trace::Reader& reader, journeys::Observer& observer) {
  auto totals =
      report::rebuild(reader, {}, observer, [](auto, auto) {}, [](auto&) { return true; });
  if (!totals) FAIL(totals.error().text());
  return *totals;
}

enum class Threads : std::uint8_t { kOne, kEachDirection };

// `threads`: that rebuild.
void check_report(const std::string& name, Threads threads) {
  auto reader = open_fixture(name);
  const journeys::Rules rules;
  const auto topology = *journeys::Topology::derive(reader.schema(), rules);
  report::Summary summary(topology, reader.capture().open_ns);
  journeys::Totals totals;
  if (threads == Threads::kOne) {
    totals = rebuild(reader, summary);
  } else {
    REQUIRE(report::can_partition(reader));
    const auto parts = report::partitions_of(topology, reader.events(), 2);
    REQUIRE(parts.size() == 2);
    auto done = report::rebuild_partitioned(
        reader, rules, parts, summary, [](auto, auto) {}, [](auto&) { return true; });
    if (!done) FAIL(done.error().text());
    totals = std::move(*done);
  }
  summary.finish(reader.capture().close_ns);
  const std::string path = "run.sjt";
  const report::Facts facts = {path,
                               reader.schema(),
                               reader.targets(),
                               reader.host(),
                               reader.capture(),
                               reader.ledger(),
                               trace::completeness_of(reader)};
  const report::ReportContent content = {facts, topology, totals, summary};
  compare(kFolder + "/" + name + ".report.txt", report::to_text(content, true));
  compare(kFolder + "/" + name + ".report.json", report::to_json(content).dump(2) + "\n");
}

void check(const std::string& name) {
  check_report(name, Threads::kOne);
  auto reader = open_fixture(name);
  JourneyWords words(reader);
  rebuild(reader, words);
  compare(kFolder + "/" + name + ".journeys.txt", words.text);
  compare(kFolder + "/" + name + ".journeys.jsonl", words.json);
}

TEST_CASE("a radio with losses, repeats and drops is reported as it was") {
  check("radio");
  check_report("radio", Threads::kEachDirection);
}

TEST_CASE("a trace that lost events says what it cannot know") {
  check("lossy");
}

}  // namespace
}  // namespace sojourn::golden
