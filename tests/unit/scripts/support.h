// Helpers for tests of scripts: a trace of a few points, and events that go through a script.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "userspace/scripts/script_stage.h"

namespace sojourn::scripts::test {

constexpr std::uint64_t kOpenNs = 1'000'000;

// 0: D a--b len:rnti, 1: D b--c len:rnti:sn, 2: I mutex.lock mutex, 3: I mutex.unlock mutex,
// 4: K sched--switch next.
inline model::Schema schema() {
  const auto parse = [](const char* where, const char* format) {
    auto point = model::parse_point(where, format);
    REQUIRE(point);
    return *point;
  };
  model::Schema made{{parse("D a--b", "len:rnti"), parse("D b--c", "len:rnti:sn"),
                      parse("I mutex.lock", "::mutex"), parse("I mutex.unlock", "::mutex")}};
  made.points.push_back({.direction = model::Direction::kContext,
                         .src = "sched",
                         .dest = "switch",
                         .fields = {{.name = "next"}},
                         .file = {}});
  return made;
}

struct Event {
  std::uint64_t ts_ns = 0;
  std::uint64_t seq = 0;
  model::PointId point = 0;
  std::vector<std::uint64_t> values;
  std::uint32_t tid = 7;
  std::uint32_t stream = 0;

  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;

inline model::EventBatch to_batch(const Events& events) {
  model::EventBatch batch;
  for (const Event& event : events)
    batch.append({.ts_ns = event.ts_ns,
                  .seq = event.seq,
                  .stream = event.stream,
                  .tid = event.tid,
                  .point = event.point,
                  .values = event.values});
  return batch;
}

inline Events to_events(const model::EventBatch& batch) {
  Events events;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const model::EventView event = batch[row];
    events.push_back({.ts_ns = event.ts_ns,
                      .seq = event.seq,
                      .point = event.point,
                      .values = {event.values.begin(), event.values.end()},
                      .tid = event.tid,
                      .stream = event.stream});
  }
  return events;
}

inline Result<std::shared_ptr<ScriptStage>> stage_of(const std::string& text,
                                                     Worker::Say say = nullptr) {
  return ScriptStage::create({.name = "test.lua", .text = text}, schema(), kOpenNs, std::move(say));
}

// Through a script that must work.
inline Events pass(ScriptStage& stage, const Events& events) {
  model::EventBatch batch = to_batch(events);
  const auto passed = stage.pass(batch);
  INFO((passed ? "" : passed.error().text()));
  REQUIRE(passed);
  return to_events(batch);
}

inline std::shared_ptr<ScriptStage> begun(const std::string& text, Worker::Say say = nullptr) {
  auto stage = stage_of(text, std::move(say));
  INFO((stage ? "" : stage.error().text()));
  REQUIRE(stage);
  const std::vector<model::Stream> streams = {
      {.id = 0, .engine = model::Engine::kBpf, .cpu = 3, .tid = -1, .pid = 1}};
  REQUIRE((*stage)->begin(streams));
  return *stage;
}

inline Events passed(const std::string& text, const Events& events) {
  return pass(*begun(text), events);
}

// The error of a script that fails while it is read.
inline std::string error_of(const std::string& text) {
  const auto stage = stage_of(text);
  REQUIRE_FALSE(stage);
  return stage.error().text();
}

// The error of a script that fails at the first event.
inline std::string error_at_event(const std::string& text) {
  const auto stage = begun(text);
  model::EventBatch batch =
      to_batch({{.ts_ns = kOpenNs, .seq = 0, .point = 0, .values = {100, 5}}});
  const auto done = stage->pass(batch);
  REQUIRE_FALSE(done);
  return done.error().text();
}

}  // namespace sojourn::scripts::test
