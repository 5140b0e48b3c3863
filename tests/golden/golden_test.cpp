#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/present/journeys/journey_json.h"
#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/report/report_content.h"
#include "analysis/report/rebuild.h"
#include "tests/golden/fixture.h"
#include "tests/support/child.h"
#include "userspace/base/thread_executor.h"
#include "userspace/files/trace_file.h"

namespace sojourn::golden {
namespace {

const std::string kFolder = SJ_GOLDEN;

trace::Reader open_fixture(const std::string& name) {
  const test::TemporaryDirectory directory;
  const auto trace = directory.path(name + ".sjt");
  const auto written = write_trace(kFolder + "/" + name + ".events", trace);
  if (!written) FAIL(written.error().text());
  auto reader = files::open_trace(trace);
  if (!reader) FAIL(reader.error().text());
  return std::move(*reader);
}

class JourneyWords : public journeys::Observer {
 public:
  explicit JourneyWords(const trace::Reader& reader) : schema_(reader.schema()) {
    for (const auto& stream : reader.streams()) cpus_[stream.id] = stream.cpu;
  }
  void on_journey(const journeys::Journey& journey) override {
    text += present::journey_text(journey, schema_) + "\n";
    json += present::journey_json(journey, schema_, cpus_) + "\n";
  }

  std::string text;
  std::string json;

 private:
  const model::Schema& schema_;
  present::CpuOfStream cpus_;
};

journeys::Totals rebuild(Executor& executor, trace::Reader& reader, journeys::Observer& observer) {
  auto totals = report::rebuild(
      executor, reader, {}, observer, [](auto, auto) {}, [](auto&) { return true; });
  if (!totals) FAIL(totals.error().text());
  return *totals;
}

enum class Apart : std::uint8_t { kNot, kEachDirection };

// `apart`: what is rebuilt by itself.
void check_report(Executor& executor, const std::string& name, Apart apart) {
  auto reader = open_fixture(name);
  const journeys::Rules rules;
  const auto topology = *journeys::Topology::derive(reader.schema(), rules);
  report::Summary summary(topology, reader.capture().open_ns);
  journeys::Totals totals;
  if (apart == Apart::kNot) {
    totals = rebuild(executor, reader, summary);
  } else {
    REQUIRE(report::can_partition(reader));
    const auto parts = report::partitions_of(topology, reader.events(), 2);
    REQUIRE(parts.size() == 2);
    auto done = report::rebuild_partitioned(
        executor, reader, rules, parts, summary, [](auto, auto) {}, [](auto&) { return true; });
    if (!done) FAIL(done.error().text());
    totals = std::move(*done);
  }
  summary.finish(reader.capture().close_ns);
  const std::string path = "run.sjt";
  const present::Facts facts = {path,
                                reader.schema(),
                                reader.targets(),
                                reader.host(),
                                reader.capture(),
                                reader.ledger(),
                                trace::completeness_of(reader)};
  const present::ReportContent content = {facts, topology, totals, summary};
  compare(kFolder + "/" + name + ".report.txt", present::report_text(content, true));
  compare(kFolder + "/" + name + ".report.json", present::report_json(content).dump(2) + "\n");
}

void check(const std::string& name) {
  PlainExecutor plain;
  base::ThreadExecutor threads;
  for (Executor* const executor : std::initializer_list<Executor*>{&plain, &threads})
    check_report(*executor, name, Apart::kNot);
  auto reader = open_fixture(name);
  JourneyWords words(reader);
  rebuild(plain, reader, words);
  compare(kFolder + "/" + name + ".journeys.txt", words.text);
  compare(kFolder + "/" + name + ".journeys.jsonl", words.json);
}

TEST_CASE("a radio with losses, repeats and drops is reported as it was") {
  check("radio");
  PlainExecutor plain;
  base::ThreadExecutor threads;
  check_report(plain, "radio", Apart::kEachDirection);
  check_report(threads, "radio", Apart::kEachDirection);
}

TEST_CASE("a trace that lost events says what it cannot know") {
  check("lossy");
}

}  // namespace
}  // namespace sojourn::golden
