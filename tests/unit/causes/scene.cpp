#include "tests/unit/causes/scene.h"

#include <algorithm>
#include <iterator>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "analysis/journeys/rebuilder.h"

namespace sojourn::causes::test {

namespace {

constexpr std::uint64_t kBytes = 100;

model::Point point(const char* where, const char* fields) {
  auto parsed = model::parse_point(where, fields);
  REQUIRE(parsed);
  return *parsed;
}

// Each instant of the latency belongs to one part.
void check_times(const Verdict& verdict) {
  std::vector<Stretch> all;
  for (const LatencyPart& part : verdict.parts) {
    std::uint64_t sum_ns = 0;
    for (const Stretch& stretch : part.stretches) sum_ns += stretch.end_ns - stretch.begin_ns;
    CHECK(sum_ns == part.ns);
    std::ranges::copy(part.stretches, std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &Stretch::begin_ns);
  std::uint64_t until_ns = verdict.start_ns;
  for (const Stretch& stretch : all) {
    CHECK(stretch.begin_ns == until_ns);
    until_ns = stretch.end_ns;
  }
  CHECK(until_ns == verdict.end_ns);
}

}  // namespace

Scene::Scene() {
  for (auto& made :
       {point("D in--stage", "len:rnti:sn"), point("D stage--out", "len:rnti:sn"),
        point("D in--line", "len:rnti:sn"), point("D line--mac", "len:rnti:sn.slot"),
        point("D mac--out", "len:rnti:sn.slot"), point("U ant--phy", "len.round:rnti:harq.slot"),
        point("U phy--rlc", "len:rnti:harq.slot.rsn.so"), point("U rlc--ip", "len:rnti:rsn")})
    schema.points.push_back(made);
  capture.close_ns = 0;
  is_thread(kFeeder, "R");
  is_thread(kServer, "R");
  is_thread(kOther, "S");
  context.names.push_back(
      {.kind = model::NameKind::kThread, .id = 900, .name = "neighbour", .pid = 900, .state = ""});
  context.names.push_back({.kind = model::NameKind::kSyscall,
                           .id = 230,
                           .name = "clock_nanosleep",
                           .pid = 0,
                           .state = ""});
}

void Scene::hit(std::uint64_t ts_ns, std::uint32_t tid, model::PointId point,
                std::initializer_list<std::uint64_t> values) {
  add(ts_ns, 0, tid, point, values);
}

void Scene::in(std::uint64_t ts_ns, std::uint64_t sn, std::uint64_t rnti) {
  hit(ts_ns, kFeeder, kIn, {kBytes, rnti, sn});
}

void Scene::out(std::uint64_t ts_ns, std::uint64_t sn, std::uint64_t rnti) {
  hit(ts_ns, kServer, kOut, {kBytes, rnti, sn});
}

void Scene::server_sleeps(std::uint64_t ts_ns) {
  on_switch(ts_ns, kServerCpu, kServer, kSleeping, 0);
}

void Scene::server_is_woken(std::uint64_t ts_ns, std::uint32_t waker, std::uint64_t from) {
  wakeup(ts_ns, kServer, waker, from, kServerCpu);
}

void Scene::server_runs(std::uint64_t ts_ns, std::uint32_t instead_of) {
  on_switch(ts_ns, kServerCpu, instead_of, kSleeping, kServer);
}

journeys::Topology Scene::topology() const {
  auto derived = journeys::Topology::derive(schema, rules);
  REQUIRE(derived);
  return *derived;
}

std::vector<Verdict> Scene::explain(Timeline::Limits limits) {
  const journeys::Topology topology = this->topology();
  const ContextNameTable names = this->names();
  std::vector<model::Target> targets(1);
  targets[0].pid = kPid;
  const model::QueueChanges queues;
  std::vector<Verdict> verdicts;
  Explainer explainer(
      {schema, context, capture, streams, queues, targets}, topology, rules, names,
      {.down_ns = 0, .up_ns = 0}, [](const journeys::Journey&) { return true; },
      [&](const Verdict& verdict) { verdicts.push_back(verdict); }, limits);
  explainer.keep_stretches();
  auto rebuilder = journeys::Rebuilder::create(schema, rules, {.open_ns = kOpen}, explainer);
  REQUIRE(rebuilder);
  rebuilder->consume(events);
  explainer.consume(events);
  rebuilder->finish();
  explainer.finish();
  forgotten = explainer.forgotten();
  for (const Verdict& verdict : verdicts) check_times(verdict);
  std::ranges::sort(verdicts, {}, &Verdict::start_ns);
  return verdicts;
}

std::string words(const Verdict& verdict) {
  std::string text;
  for (const LatencyPart& part : verdict.parts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(part.kind), part.ns);
    if (part.count != 0) text += fmt::format(" x{}", part.count);
  }
  return text;
}

}  // namespace sojourn::causes::test
