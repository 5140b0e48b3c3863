// Causes of many packets.
#include "analysis/causes/cause_totals.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/causes/scene.h"

namespace sojourn::causes {
namespace {

Verdict verdict(std::vector<LatencyPart> parts) {
  Verdict made;
  for (const LatencyPart& part : parts) made.end_ns += part.ns;
  made.parts = std::move(parts);
  return made;
}

TEST_CASE("a thread in the way of one of its own name is named by its number") {
  test::Scene scene;
  scene.context.names.push_back(
      {.kind = model::NameKind::kThread, .id = 901, .name = "neighbour", .pid = 901, .state = ""});
  const ContextNameTable names = scene.names();
  CauseTotals tally;
  tally.add(verdict({{.kind = CauseKind::kCpu, .ns = 30, .tid = 900, .by = 901, .cpu = 1}}), names);
  CHECK(tally.rows().front().cause.by == "another neighbour (901)");
}

TEST_CASE("a packet counts for its longest part, time for every cause") {
  const test::Scene scene;
  const ContextNameTable names = scene.names();
  CauseTotals tally;
  tally.add(verdict({{.kind = CauseKind::kQueue, .ns = 70, .tid = 102, .count = 4},
                     {.kind = CauseKind::kCpu, .ns = 30, .tid = 102, .by = 900, .cpu = 1}}),
            names);
  tally.add(verdict({{.kind = CauseKind::kQueue, .ns = 50, .tid = 103, .count = 2}}), names);
  tally.add(verdict({{.kind = CauseKind::kCpu, .ns = 20, .tid = 102, .by = 900, .cpu = 1}}), names);
  CHECK(tally.packets() == 3);
  CHECK(tally.ns() == 170);
  const auto rows = tally.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].cause.kind == CauseKind::kQueue);
  CHECK(rows[0].packets == 2);
  CHECK(rows[0].ns == 120);
  CHECK(rows[0].mean_count() == 3);
  CHECK(rows[1].cause.by == "neighbour");
  CHECK(rows[1].cause.thread == "thread 102");
  CHECK(rows[1].packets == 1);
  CHECK(rows[1].ns == 50);
}

TEST_CASE("threads of one name are one cause") {
  test::Scene scene;
  scene.context.names.push_back(
      {.kind = model::NameKind::kThread, .id = 901, .name = "neighbour", .pid = 901, .state = ""});
  const ContextNameTable names = scene.names();
  CauseTotals tally;
  for (const std::uint32_t by : {900U, 901U})
    tally.add(verdict({{.kind = CauseKind::kCpu, .ns = 20, .tid = 102, .by = by, .cpu = 1}}),
              names);
  CHECK(tally.rows().size() == 1);
}

TEST_CASE("numbers without a name are shown as they are") {
  const test::Scene scene;
  const ContextNameTable names = scene.names();
  CHECK(names.thread(0) == "the idle CPU");
  CHECK(names.thread(77) == "thread 77");
  CHECK(names.known(77).empty());
  CHECK(names.syscall(230) == "clock_nanosleep");
  CHECK(names.syscall(231) == "system call 231");
  CHECK(names.syscall(-1).empty());
  CHECK(names.interrupt(3, true) == "softirq 3");
}

}  // namespace
}  // namespace sojourn::causes
