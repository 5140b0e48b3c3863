#include "analysis/pipeline/trace_pass.h"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>

#include "analysis/report/summary.h"
#include "tests/support/child.h"
#include "tests/unit/pipeline/radio_trace.h"
#include "userspace/base/thread_executor.h"
#include "userspace/files/trace_file.h"

namespace sojourn::pipeline {
namespace {

constexpr std::uint64_t kPackets = 2'000;

class Counter : public journeys::Observer {
 public:
  void on_journey(const journeys::Journey& journey) override {
    ++journeys;
    if (journey.direction == model::Direction::kUplink) ++uplink;
  }
  void on_stay(const journeys::Stay& /*stay*/) override { ++stays; }

  std::uint64_t journeys = 0;
  std::uint64_t uplink = 0;
  std::uint64_t stays = 0;
};

TEST_CASE("a pass without observers reads all events and rebuilds nothing") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  const auto events = write_radio(path, kPackets);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  base::ThreadExecutor threads;
  TracePass pass(threads, input);
  std::uint64_t seen = 0;
  std::uint64_t shown = 0;
  pass.consume([&](const model::EventBatch& batch) {
    seen += batch.size();
    return true;
  });
  pass.show([&](std::uint64_t done, std::uint64_t of) {
    CHECK(of == events);
    shown = done;
  });
  const auto totals = pass.run();
  REQUIRE(totals);
  CHECK(totals->events == events);
  CHECK(totals->points.empty());
  CHECK(totals->last_ns > totals->first_ns);
  CHECK(seen == events);
  CHECK(shown == events);
}

TEST_CASE("all observers of a pass get the same calls, and so does one that divides itself") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kPackets);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  const auto open_ns = input.reader().capture().open_ns;
  base::ThreadExecutor threads;
  report::Summary alone(input.topology(), open_ns);
  TracePass first(threads, input);
  first.observe(alone);
  REQUIRE(first.run());
  report::Summary beside(input.topology(), open_ns);
  Counter counter;
  TracePass second(threads, input);
  second.observe(beside);
  second.observe(counter);
  REQUIRE(second.run());
  const auto of = [](const report::Summary& summary, model::Direction direction) {
    return summary.direction(direction).count();
  };
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink}) {
    CHECK(of(alone, direction) > kPackets / 2);
    CHECK(of(alone, direction) == of(beside, direction));
  }
  CHECK(counter.journeys >= of(alone, model::Direction::kDownlink));
  CHECK(counter.stays > counter.journeys);
}

TEST_CASE("a pass with a filter reports the journeys that it keeps, and counts all") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kPackets);
  auto input = *TraceInput::create(*files::open_trace(path), {});
  base::ThreadExecutor threads;
  Counter counter;
  TracePass pass(threads, input);
  pass.observe(counter);
  pass.keep([](const journeys::Journey& journey) {
    return journey.direction == model::Direction::kUplink;
  });
  REQUIRE(pass.run());
  CHECK(counter.journeys == counter.uplink);
  CHECK(pass.kept() == counter.journeys);
  CHECK(pass.seen() > pass.kept());
  CHECK(counter.stays > 0);
}

struct Told {
  bool ran = false;
  bool tries_together = false;
  std::uint64_t crowded = 0;
  std::uint64_t journeys = 0;
  std::uint64_t stays = 0;
};

TEST_CASE(
    "both directions are rebuilt together where no more units than a direction's share wait") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("radio.sjt");
  write_radio(path, kPackets);
  PlainExecutor here;
  const auto told_by = [&](std::size_t max_units, bool is_tried) {
    journeys::Rules rules;
    rules.max_units = max_units;
    auto input = *TraceInput::create(*files::open_trace(path), rules);
    input.try_together(is_tried);
    Counter counter;
    TracePass pass(here, input);
    pass.observe(counter);
    const auto totals = pass.run();
    return Told{.ran = totals.has_value(),
                .tries_together = input.tries_together(),
                .crowded = totals ? totals->crowded : 0,
                .journeys = counter.journeys,
                .stays = counter.stays};
  };
  constexpr std::size_t kMany =
      28'000;  // half of it: more than there are at once, fewer than events
  constexpr std::size_t kFew = 100;
  const auto apart = told_by(kMany, false);
  CHECK(apart.crowded == 0);
  CHECK(apart.journeys > kPackets);
  const auto together = told_by(kMany, true);
  CHECK(together.ran);
  CHECK(together.tries_together);
  CHECK(together.journeys == apart.journeys);
  CHECK(together.stays == apart.stays);
  // Too few: it says so, and does not tell what another division would find otherwise.
  const auto crowded = told_by(kFew, true);
  CHECK_FALSE(crowded.ran);
  CHECK_FALSE(crowded.tries_together);
  CHECK(told_by(kFew, false).crowded > 0);
}

}  // namespace
}  // namespace sojourn::pipeline
