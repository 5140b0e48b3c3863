#include <type_traits>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/partitions.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/present/journeys/journey_json.h"
#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/report/report_content.h"
#include "analysis/report/summary.h"
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

// The division of the rebuild, and whether the observer is divided among the rebuilders.
enum class How : std::uint8_t { kWhole, kEachDirection, kDivided };

template <typename Observer>
journeys::Totals rebuild(Executor& executor, pipeline::TraceInput& input, How how,
                         Observer& observer) {
  std::vector<journeys::Partition> parts;
  if (how != How::kWhole) {
    REQUIRE(pipeline::can_partition(input.reader()));
    parts = pipeline::directions_of(input.topology());
    REQUIRE(parts.size() == 2);
  }
  Result<journeys::Totals> totals = fail("not rebuilt");
  if constexpr (std::is_base_of_v<pipeline::DivisibleObserver, Observer>)
    if (how == How::kDivided)
      totals = pipeline::rebuild_divided(executor, input, parts, observer, {});
  if (how != How::kDivided) totals = pipeline::rebuild(executor, input, parts, observer, {});
  if (!totals) FAIL(totals.error().text());
  return *totals;
}

void check_report(Executor& executor, const std::string& name, How how) {
  auto input = *pipeline::TraceInput::create(open_fixture(name), {});
  const trace::Reader& reader = input.reader();
  report::Summary summary(input.topology(), reader.capture().open_ns,
                          report::TracingCost(reader.schema(), reader.capture()));
  const auto totals = rebuild(executor, input, how, summary);
  summary.finish(reader.capture().close_ns);
  const std::string path = "run.sjt";
  const present::Facts facts = {path,
                                reader.schema(),
                                reader.targets(),
                                reader.host(),
                                reader.capture(),
                                reader.ledger(),
                                trace::completeness_of(reader)};
  const present::ReportContent content = {facts, input.topology(), totals, summary};
  compare(kFolder + "/" + name + ".report.txt", present::report_text(content, true));
  compare(kFolder + "/" + name + ".report.json", present::report_json(content).dump(2) + "\n");
}

void check_journeys(Executor& executor, const std::string& name, How how) {
  auto input = *pipeline::TraceInput::create(open_fixture(name), {});
  JourneyWords words(input.reader());
  rebuild(executor, input, how, words);
  compare(kFolder + "/" + name + ".journeys.txt", words.text);
  compare(kFolder + "/" + name + ".journeys.jsonl", words.json);
}

void check(const std::string& name, std::initializer_list<How> ways) {
  PlainExecutor plain;
  base::ThreadExecutor threads;
  for (Executor* const executor : std::initializer_list<Executor*>{&plain, &threads})
    for (const How how : ways) {
      check_report(*executor, name, how);
      if (how != How::kDivided) check_journeys(*executor, name, how);
    }
}

TEST_CASE("a radio with losses, repeats and drops is reported as it was") {
  check("radio", {How::kWhole, How::kEachDirection, How::kDivided});
}

TEST_CASE("a trace that lost events shows which figures are not known") {
  check("lossy", {How::kWhole});
}

TEST_CASE("times of a trace with costs of hits are net times") {
  check("traced", {How::kWhole});
}

TEST_CASE("a path that lacks points is called by the ends that are there") {
  check("parts", {How::kWhole});
}

}  // namespace
}  // namespace sojourn::golden
