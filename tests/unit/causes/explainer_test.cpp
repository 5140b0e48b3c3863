// Why a packet was late: each cause by itself, from events and kernel context.
#include "analysis/causes/explainer.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/causes/scene.h"

namespace sojourn::causes {
namespace {

using namespace test;

const LatencyPart& part(const Verdict& verdict, CauseKind kind) {
  const auto found = std::ranges::find(verdict.parts, kind, &LatencyPart::kind);
  INFO(words(verdict));
  REQUIRE(found != verdict.parts.end());
  return *found;
}

Verdict only(Scene& scene) {
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 1);
  return verdicts.front();
}

TEST_CASE("a thread that runs for the packet alone is at work") {
  Scene scene;
  scene.in(2000, 1);
  scene.out(2300, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "work 300");
  CHECK(verdict.parts[0].tid == kServer);
}

TEST_CASE("a packet waits while those ahead of it are worked on") {
  Scene scene;
  scene.in(2000, 1);
  scene.in(2010, 2);
  scene.in(2020, 3);
  scene.out(2100, 1);
  scene.out(2200, 2);
  scene.out(2300, 3);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 3);
  CHECK(words(verdicts[0]) == "work 100");
  CHECK(words(verdicts[1]) == "work 100, queue 90 x1");
  CHECK(words(verdicts[2]) == "queue 180 x2, work 100");
  CHECK_FALSE(part(verdicts[2], CauseKind::kQueue).of_flow);
}

TEST_CASE("early in a trace there may have been others ahead, too") {
  Scene scene;
  scene.in(kOpen + 10, 1);
  scene.in(kOpen + 20, 2);
  scene.out(kOpen + 500, 1);
  scene.out(kOpen + 600, 2);
  scene.in(kOpen + 1010, 3);
  scene.in(kOpen + 1020, 4);
  scene.out(kOpen + 1500, 3);
  scene.out(kOpen + 1600, 4);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 4);
  CHECK(part(verdicts[1], CauseKind::kQueue).is_lower_bound);
  CHECK_FALSE(part(verdicts[3], CauseKind::kQueue).is_lower_bound);
}

TEST_CASE("a preempted thread names the thread that had its CPU, and the CPU") {
  Scene scene;
  scene.in(2000, 1);
  scene.on_switch(2100, kServerCpu, kServer, kWanted, 900);
  scene.server_runs(2700, 900);
  scene.out(2800, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "cpu 600, work 200");
  CHECK(verdict.parts[0].by == 900);
  CHECK(verdict.parts[0].cpu == static_cast<std::int32_t>(kServerCpu));
  CHECK(verdict.parts[0].was_running);
}

TEST_CASE("a thread that is woken and has no CPU yet names the thread that has it") {
  Scene scene;
  scene.server_sleeps(1500);
  scene.in(2000, 1);
  scene.server_is_woken(2050);
  scene.server_runs(2500, 900);
  scene.out(2600, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "cpu 450, work 100, handover 50");
  CHECK(verdict.parts[0].by == 900);
  CHECK_FALSE(verdict.parts[0].was_running);
}

TEST_CASE("all threads of the target that had its CPU meanwhile have their part of the wait") {
  Scene scene;
  scene.in(2000, 1);
  scene.on_switch(2100, kServerCpu, kServer, kWanted, kOther);
  scene.on_switch(2600, kServerCpu, kOther, kSleeping, kFeeder);
  scene.server_runs(2700, kFeeder);
  scene.out(2800, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "cpu 500, work 200, cpu 100");
  CHECK(verdict.parts[0].by == kOther);
  CHECK(verdict.parts[2].by == kFeeder);
}

TEST_CASE("a thread that waits for more with the packet in its hands holds it") {
  Scene scene;
  scene.server_sleeps(1500);
  scene.in(2000, 1);
  scene.server_is_woken(2010);
  scene.server_runs(2010);
  scene.on_switch(2020, 0, kFeeder, kSleeping, 0);
  scene.server_sleeps(2030);
  scene.wakeup(6900, kFeeder, kOther);
  scene.on_switch(6900, 0, 0, kSleeping, kFeeder);
  scene.server_is_woken(7000);
  scene.server_runs(7000);
  scene.out(7010, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "held 4970, work 30, handover 10");
  CHECK(verdict.parts[0].tid == kServer);
}

TEST_CASE("a thread that has gone on to other things has handed the packet over") {
  Scene scene;
  scene.server_sleeps(1500);
  scene.in(2000, 1);
  scene.on_switch(2100, 0, kFeeder, kSleeping, 0);
  scene.wakeup(6900, kFeeder, kOther);
  scene.on_switch(6900, 0, 0, kSleeping, kFeeder);
  scene.server_is_woken(7000);
  scene.server_runs(7000);
  scene.out(7010, 1);
  CHECK(words(only(scene)) == "held 4900, handover 100, work 10");
}

TEST_CASE("a sleep in the midst of work is a sleep, with its system call") {
  Scene scene;
  scene.in(2000, 1);
  scene.server_sleeps(3000);
  scene.server_is_woken(9000, 900, 2);
  scene.server_runs(9100);
  scene.add(9200, kServerCpu, kServer, kSyscall, {230, 6300, 0});
  scene.out(9300, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "blocked 6000, work 1200, cpu 100");
  CHECK(verdict.parts[0].by_interrupt);
  CHECK(verdict.parts[0].by == 0);
  CHECK(verdict.parts[0].number == 230);
}

TEST_CASE("packets that come while the thread sleeps wait for its sleep to end") {
  Scene scene;
  scene.in(2000, 1);
  scene.server_sleeps(2100);
  scene.in(2500, 2);
  scene.server_is_woken(9000, 900, 2);
  scene.server_runs(9000);
  scene.out(9100, 1);
  scene.out(9200, 2);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 2);
  CHECK(words(verdicts[1]) == "blocked 6500, queue 100 x1, work 100");
}

TEST_CASE("a lock belongs to the thread that released it") {
  Scene scene;
  scene.in(2000, 1);
  scene.server_sleeps(2100);
  scene.server_is_woken(2900, kOther);
  scene.server_runs(2900);
  scene.out(3000, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "blocked 800, work 200");
  CHECK(verdict.parts[0].by == kOther);
  CHECK_FALSE(verdict.parts[0].by_interrupt);
}

TEST_CASE("the previous thread's actions until it handed over count as the cause") {
  Scene scene;
  scene.server_sleeps(1500);
  scene.in(2000, 1);
  scene.on_switch(2100, 0, kFeeder, kWanted, 900);
  scene.on_switch(2500, 0, 900, kSleeping, kFeeder);
  scene.server_is_woken(2600);
  scene.server_runs(2600);
  scene.out(2650, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "cpu 400, handover 200, work 50");
  CHECK(verdict.parts[0].tid == kFeeder);
  CHECK(verdict.parts[0].by == 900);
  CHECK(part(verdict, CauseKind::kHandover).tid == kFeeder);
}

TEST_CASE("interrupts are subtracted from the time that the thread ran") {
  Scene scene;
  scene.in(2000, 1);
  scene.add(2300, kServerCpu, kServer, kSoftirq, {3, 200});
  scene.add(2320, kServerCpu, kServer, kIrq, {9, 10, 1});
  scene.out(2500, 1);
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "work 300, interrupted 200 x1");
  CHECK(verdict.parts[1].number == 3);
  CHECK(verdict.parts[1].is_softirq);
}

TEST_CASE("page faults during the work are counted") {
  Scene scene;
  scene.in(2000, 1);
  scene.add(2100, kServerCpu, kServer, kFault, {0x1000, 0x2000, 6});
  scene.add(2200, kServerCpu, kServer, kFault, {0x3000, 0x2000, 6});
  scene.out(2500, 1);
  CHECK(only(scene).parts[0].faults == 2);
}

TEST_CASE("a packet that had to let a later one of its flow go first was held for order") {
  Scene scene;
  scene.in(2000, 2);
  scene.in(2500, 1);
  scene.out(2600, 1);
  scene.out(2610, 2);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 2);
  CHECK(words(verdicts[0]) == "order 500 x1, queue 100, work 10");
  CHECK(words(verdicts[1]) == "work 100");
}

TEST_CASE("a later unit of another flow delays no unit") {
  Scene scene;
  scene.in(2000, 2, 1);
  scene.in(2500, 1, 2);
  scene.out(2600, 1, 2);
  scene.out(2610, 2, 1);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 2);
  CHECK(std::ranges::count(verdicts[0].parts, CauseKind::kReordering, &LatencyPart::kind) == 0);
}

// The server sleeps from slot to slot, 1000 ns each, and sends one packet a slot.
void run_slots(Scene& scene, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t slot = from; slot < to; ++slot) {
    const std::uint64_t begin_ns = slot * 1000;
    scene.server_is_woken(begin_ns, 900, 2);
    scene.server_runs(begin_ns);
    scene.hit(begin_ns + 10, kServer, kGrant, {100, 1, slot, slot});
    scene.hit(begin_ns + 20, kServer, kSent, {100, 1, slot, slot});
    scene.server_sleeps(begin_ns + 30);
  }
}

TEST_CASE("the packet whose turn it is waits for the next slot, others wait in line") {
  Scene scene;
  // Packet n goes out in slot n: the first ones wait for their slot alone, the last two come at
  // once.
  scene.server_sleeps(1990);
  for (std::uint64_t slot = 2; slot < 22; ++slot) {
    scene.hit(slot * 1000 - 500, kFeeder, kToLine, {100, 1, slot});
    if (slot == 21) scene.hit(slot * 1000 - 490, kFeeder, kToLine, {100, 1, 22});
    run_slots(scene, slot, slot + 1);
  }
  run_slots(scene, 22, 23);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 21);
  const Verdict& alone = verdicts[19];
  CHECK(words(alone).starts_with("slot 500 x1"));
  CHECK(alone.parts[0].number == 21);
  const Verdict& behind = verdicts[20];
  INFO(words(behind));
  CHECK(part(behind, CauseKind::kSlot).ns == 980);
  CHECK(part(behind, CauseKind::kQueue).ns == 500);
  CHECK(part(behind, CauseKind::kQueue).count == 1);
  CHECK(part(behind, CauseKind::kQueue).is_paced);
}

TEST_CASE("a paced thread that sleeps through slots was asleep") {
  Scene scene;
  scene.server_sleeps(1990);
  for (std::uint64_t slot = 2; slot < 20; ++slot) {
    scene.hit(slot * 1000 - 500, kFeeder, kToLine, {100, 1, slot});
    run_slots(scene, slot, slot + 1);
  }
  scene.hit(19'500, kFeeder, kToLine, {100, 1, 30});
  run_slots(scene, 30, 31);
  const Verdict verdict = scene.explain().back();
  CHECK(part(verdict, CauseKind::kBlocked).ns == 30'000 - 20'030);
  CHECK(part(verdict, CauseKind::kBlocked).tid == kServer);
}

TEST_CASE("an uplink packet waits for a repeat over the air, and for its last piece") {
  Scene scene;
  scene.hit(2000, kFeeder, kAntenna, {500, 0, 1, 0, 10});
  scene.hit(2010, kServer, kDecoded, {400, 1, 0, 10, 5, 0});
  scene.hit(3000, kFeeder, kAntenna, {500, 0, 1, 1, 18});
  scene.hit(5000, kFeeder, kAntenna, {500, 1, 1, 1, 26});
  scene.hit(5010, kServer, kDecoded, {600, 1, 1, 26, 5, 400});
  scene.hit(5020, kServer, kWhole, {1000, 1, 5});
  const Verdict verdict = only(scene);
  CHECK(words(verdict) == "again 2000, pieces 1000 x2, work 10, work 10");
  CHECK(verdict.parts[0].number == 1);
  const journeys::Topology topology = scene.topology();
  CHECK(topology.places[verdict.parts[0].place].name == "phy");
  CHECK(topology.places[verdict.parts[1].place].name == "rlc");
}

TEST_CASE("without the scheduler's events only the queue is known") {
  Scene scene;
  scene.context.families.clear();
  scene.in(2000, 1);
  scene.in(2010, 2);
  scene.out(2100, 1);
  scene.out(2300, 2);
  const auto verdicts = scene.explain();
  REQUIRE(verdicts.size() == 2);
  CHECK(words(verdicts[1]) == "unknown 200, queue 90 x1");
}

TEST_CASE("times that are forgotten are not explained, and counted") {
  Scene scene;
  scene.in(2000, 1);
  scene.out(2300, 1);
  scene.in(9'000'000, 2);
  scene.out(9'000'100, 2);
  const auto verdicts = scene.explain({.span_ns = 1'000'000, .entries = 1000});
  CHECK(verdicts.size() == 1);
  CHECK(scene.forgotten == 1);
  CHECK(scene.explain({.span_ns = UINT64_MAX, .entries = 1}).empty());
  CHECK(scene.forgotten == 2);
}

}  // namespace
}  // namespace sojourn::causes
