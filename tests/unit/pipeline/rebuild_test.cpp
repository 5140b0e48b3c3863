#include "analysis/pipeline/rebuild.h"

#include <array>
#include <cmath>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/partitions.h"
#include "analysis/present/report/report_content.h"
#include "analysis/report/summary.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "tests/unit/pipeline/radio_trace.h"
#include "userspace/base/thread_executor.h"
#include "userspace/files/trace_file.h"

namespace sojourn::pipeline {
namespace {

constexpr std::uint64_t kPackets = 3000;

using Json = nlohmann::ordered_json;

struct Told {
  Json words;
  std::uint64_t seen = 0;
  std::uint64_t progressed = 0;
  std::uint64_t peak_units = 0;
};

// The last digits depend on the order in which samples are added up.
void round_deviations(Json& words) {
  for (auto& [name, each] : words.items())
    if (name == "stdev")
      each = std::round(each.get<double>() * 1000) / 1000;
    else if (each.is_structured())
      round_deviations(each);
}

// The output of `sojourn report --json`; without parts one thread rebuilds all.
Told tell(Executor& executor, const std::string& path,
          const std::vector<journeys::Partition>& parts) {
  auto input = *TraceInput::create(*files::open_trace(path), {});
  const trace::Reader& reader = input.reader();
  report::Summary summary(input.topology(), reader.capture().open_ns,
                          report::TracingCost(reader.schema(), reader.capture()));
  Told told;
  const Listeners listeners = {
      .progress = [&](std::uint64_t done, std::uint64_t) { told.progressed = done; },
      .consume =
          [&](const model::EventBatch& batch) {
            told.seen += batch.size();
            return true;
          }};
  const auto totals = parts.empty() ? *rebuild(executor, input, {}, summary, listeners)
                                    : *rebuild_divided(executor, input, parts, summary, listeners);
  summary.finish(reader.capture().close_ns);
  told.peak_units = totals.peak_units;
  const present::Facts facts = {path,
                                reader.schema(),
                                reader.targets(),
                                reader.host(),
                                reader.capture(),
                                reader.ledger(),
                                trace::completeness_of(reader)};
  told.words = present::report_json({facts, input.topology(), totals, summary});
  round_deviations(told.words);
  return told;
}

TEST_CASE("threads for directions and shares find the same as one thread") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  const auto events = write_radio(path, kPackets);
  PlainExecutor plain;
  base::ThreadExecutor threads;
  const auto alone = tell(plain, path, {});
  CHECK(alone.seen == events);
  CHECK(alone.progressed == events);
  CHECK(alone.words["lost"] > 100);
  CHECK(alone.words["journeys"]["D"]["count"] >= kPackets);
  CHECK(alone.words["journeys"]["U"]["count"] > 1000);

  CHECK(Json::diff(alone.words, tell(threads, path, {}).words) == Json::array());
  const auto shared = tell(plain, path, parts_for(kWorthSharing, 1));
  for (const unsigned processors : {1, 2, 4, 8})
    for (int turn = 0; turn < 4; ++turn) {
      INFO(processors << " processors");
      Executor& executor = turn == 0 ? static_cast<Executor&>(plain) : threads;
      const auto directions = tell(executor, path, parts_for(events, processors));
      CHECK(directions.seen == events);
      CHECK(directions.progressed == events);
      CHECK(Json::diff(alone.words, directions.words) == Json::array());
      const auto shares = tell(executor, path, parts_for(kWorthSharing, processors));
      CHECK(shares.seen == events);
      CHECK(shares.progressed == events);
      CHECK(shares.peak_units == shared.peak_units);
      CHECK(Json::diff(shared.words, shares.words) == Json::array());
    }
  // A share must learn by itself when a lost unit is given up, and when it is in doubt.
  for (const auto* const direction : {"D", "U"}) {
    auto one = alone.words["journeys"][direction];
    auto several = shared.words["journeys"][direction];
    one.erase("ambiguous");
    several.erase("ambiguous");
    CHECK(several == one);
  }
  CHECK(shared.words["hops"] == alone.words["hops"]);
}

TEST_CASE("the time of tracing does not depend on how the rebuild is divided") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  const auto events = write_radio(path, kPackets, 500'000);
  PlainExecutor plain;
  base::ThreadExecutor threads;
  const auto alone = tell(plain, path, {});
  const auto& down = alone.words["journeys"]["D"];
  CHECK(down["tracing_share"] > 0);
  CHECK(down["net_latency_us"]["p50"] < down["latency_us"]["p50"]);
  CHECK(Json::diff(alone.words, tell(threads, path, parts_for(events, 2)).words) == Json::array());
  const auto shared = tell(threads, path, parts_for(kWorthSharing, 8));
  CHECK(shared.words["hops"] == alone.words["hops"]);
}

TEST_CASE("a long trace is divided alike everywhere, by threads as there are processors") {
  const auto shares_of_threads = [](std::uint64_t events, unsigned processors) {
    std::vector<std::string> words;
    for (const auto& part : parts_for(events, processors))
      words.push_back(
          fmt::format("{} {}-{}/{}", letter(part.direction), part.begin, part.end, part.shares));
    return words;
  };
  using Words = std::vector<std::string>;
  for (const unsigned processors : {0, 1, 2, 64})
    CHECK(shares_of_threads(kWorthSharing - 1, processors) == Words{"D 0-1/1", "U 0-1/1"});
  for (const unsigned processors : {0, 1, 2, 3})
    CHECK(shares_of_threads(kWorthSharing, processors) == Words{"D 0-4/4", "U 0-4/4"});
  CHECK(shares_of_threads(kWorthSharing, 4) == Words{"D 0-2/4", "D 2-4/4", "U 0-2/4", "U 2-4/4"});
  CHECK(shares_of_threads(kWorthSharing, 8) == Words{"D 0-1/4", "D 1-2/4", "D 2-3/4", "D 3-4/4",
                                                     "U 0-1/4", "U 1-2/4", "U 2-3/4", "U 3-4/4"});
}

TEST_CASE("units without ids are not divided, and absent directions have no thread") {
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D a--b", "len::sn"));
  schema.points.push_back(*model::parse_point("I depth", "len"));
  const auto parts = partitions_of(*journeys::Topology::derive(schema, {}), kWorthSharing, 64);
  REQUIRE(parts.size() == 1);
  CHECK(parts.front().direction == model::Direction::kDownlink);
  CHECK(parts.front().shares == 1);
}

// The facts about journeys besides their steps.
class Plain : public journeys::Observer {
 public:
  explicit Plain(bool wants_steps) : wants_steps_(wants_steps) {}

  bool wants_steps() const override { return wants_steps_; }
  void on_journey(const journeys::Journey& journey) override {
    note({journey.id, static_cast<std::uint64_t>(journey.outcome), journey.start_ns, journey.end_ns,
          journey.last_ns, journey.last_out_ns, journey.segments, journey.retransmissions,
          journey.harq_retransmissions, journey.drops, journey.end_step, journey.inside_until_ns,
          journey.ambiguous ? 1U : 0U});
    for (const auto& leg : journey.critical_path) note({leg.place, leg.ns});
    for (const auto& inside : journey.inside) note({inside.place, inside.since_ns});
    legs += journey.critical_path.size();
    were_inside += journey.inside.size();
    steps += journey.steps.size();
  }

  std::vector<std::uint64_t> numbers;
  std::size_t legs = 0;
  std::size_t were_inside = 0;
  std::size_t steps = 0;

 private:
  void note(std::initializer_list<std::uint64_t> more) {
    numbers.insert(numbers.end(), more.begin(), more.end());
  }

  bool wants_steps_;
};

TEST_CASE("an observer without steps gets everything else of each journey") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kPackets);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  Plain with(true);
  Plain without(false);
  PlainExecutor executor;
  for (auto* const plain : {&with, &without}) REQUIRE(rebuild(executor, input, {}, *plain, {}));
  CHECK(with.steps > 10 * kPackets);
  CHECK(without.steps == 0);
  CHECK(with.legs > 5 * kPackets);
  CHECK(with.were_inside > 0);
  CHECK(without.numbers == with.numbers);
}

TEST_CASE("an observer that has seen enough ends all threads, and gets no more calls") {
  constexpr std::uint64_t kMany = 30'000;
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kMany);
  for (const unsigned processors : {1, 8}) {
    auto input = *TraceInput::create(*files::open_trace(path), {});
    report::Summary summary(input.topology(), input.reader().capture().open_ns);
    int batches = 0;
    const auto some = [&](const model::EventBatch&) { return ++batches < 3; };
    const auto parts = parts_for(kWorthSharing, processors);
    base::ThreadExecutor threads;
    REQUIRE(rebuild_divided(threads, input, parts, summary, {.consume = some}));
    CHECK(batches == 3);
    // Others may be a few batches ahead.
    for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink})
      CHECK(summary.direction(direction).count() < kMany / 4);
  }
}

TEST_CASE("an observer that fails early ends all threads, and its failure is returned") {
  constexpr std::uint64_t kMany = 30'000;
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kMany);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  const Listeners full = {
      .consume = [](const model::EventBatch&) -> bool { throw std::runtime_error("no space"); }};
  report::Summary summary(input.topology(), input.reader().capture().open_ns);
  base::ThreadExecutor threads;
  CHECK_THROWS_AS(rebuild(threads, input, {}, summary, full).has_value(), std::runtime_error);
  CHECK_THROWS_AS(rebuild_here(threads, input, summary, full).has_value(), std::runtime_error);
  for (const unsigned processors : {1, 8}) {
    const auto parts = parts_for(kWorthSharing, processors);
    CHECK_THROWS_AS(rebuild_divided(threads, input, parts, summary, full).has_value(),
                    std::runtime_error);
  }
}

}  // namespace
}  // namespace sojourn::pipeline
