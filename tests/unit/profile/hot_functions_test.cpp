// The sums of a profile's stacks.
#include "analysis/profile/hot_functions.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::profile {
namespace {

constexpr model::PointId kEnter = 0;
constexpr model::PointId kLeave = 1;
constexpr model::PointId kSample = 2;

model::Frame frame(std::uint32_t id, std::vector<model::FrameFunction> calls,
                   bool is_kernel = false) {
  return {.id = id,
          .module = is_kernel ? "[kernel]" : "/opt/bin/gnb",
          .build_id = {},
          .address = 0x1000 + id,
          .is_kernel = is_kernel,
          .calls = std::move(calls)};
}

model::FrameFunction call(const char* function) {
  return {.function = function, .file = {}, .line = 0};
}

// Stack 1: main > work > inlined; 2: main > work > work > copy [k]; 3: an address without a name.
struct World {
  model::Schema schema;
  model::Profile profile;
  journeys::Topology topology;
  std::optional<SampledWork> work;
  std::uint64_t now_ns = 0;

  World() {
    schema.points = {*model::parse_point("D ip.in--work", "::psn"),
                     *model::parse_point("D work--ip.out", "::psn"), model::profile_point()};
    profile.counters = {{.name = "profile", .period = 1000, .user_only = false, .missing = {}}};
    profile.frames = {frame(1, {}),
                      frame(2, {call("work")}),
                      frame(3, {call("copy")}, true),
                      frame(4, {call("inlined"), call("work")}),
                      frame(5, {}),
                      frame(1, {call("main")})};  // the later word on a frame counts
    profile.stacks = {{.id = 1, .frames = {4, 1}},
                      {.id = 2, .frames = {3, 2, 2, 1}},
                      {.id = 3, .frames = {5}},
                      {.id = 4, .frames = {2, 99}}};  // 99 is not there
    auto derived = journeys::Topology::derive(schema, {});
    REQUIRE(derived);
    topology = std::move(*derived);
    work.emplace(schema, topology, profile);
  }
  void add(std::uint32_t tid, model::PointId point, std::vector<std::uint64_t> values) {
    model::EventBatch batch;
    batch.append({.ts_ns = ++now_ns, .tid = tid, .point = point, .values = values});
    work->consume(batch);
  }
  void sample(std::uint32_t tid, std::uint64_t stack) { add(tid, kSample, {stack, 1000}); }
  HotFunctions hot() {
    work->finish();
    return hot_functions(*work, StackNames(profile), [](const ThreadLocation&) { return true; });
  }
};

SampleSum amount_of(const World& world, const HotFunctions& hot, const std::string& name,
                    bool total) {
  const StackNames names(world.profile);
  for (const HotFunction& function : hot.functions)
    if (function.function != kNoFunction && names.function(function.function).name == name)
      return total ? function.total : function.self;
  return {};
}

TEST_CASE("a function's own time is where stacks end, its total where they go through") {
  World world;
  for (int i = 0; i < 3; ++i) world.sample(7, 1);
  world.sample(7, 2);
  const HotFunctions hot = world.hot();
  CHECK(hot.all.samples == 4);
  CHECK(hot.all.weight == 4000);
  CHECK(amount_of(world, hot, "inlined", false).samples == 3);
  CHECK(amount_of(world, hot, "work", false).samples == 0);
  CHECK(amount_of(world, hot, "work", true).samples ==
        4);  // once a stack, though it is there twice
  CHECK(amount_of(world, hot, "main", true).samples == 4);
  CHECK(amount_of(world, hot, "copy", false).weight == 1000);
  CHECK(hot.in_kernel.samples == 1);
  CHECK(StackNames(world.profile).function(hot.functions.front().function).name == "inlined");
}

TEST_CASE("samples without a stack, and stacks that end early, are distinguished") {
  World world;
  world.sample(7, 0);
  world.sample(7, 4711);
  world.sample(7, 3);
  world.sample(7, 2);
  const HotFunctions hot = world.hot();
  CHECK(hot.with_stack.samples == 2);
  CHECK(hot.short_ones.samples == 1);  // stack 3; stack 2 has three user frames
  CHECK(amount_of(world, hot, "gnb+0x1005", false).samples == 1);
  SampleSum without;
  for (const HotFunction& function : hot.functions)
    if (function.function == kNoFunction) without = function.self;
  CHECK(without.samples == 2);
}

TEST_CASE("a profile has the hop in which a thread was at work") {
  World world;
  world.add(7, kEnter, {1});
  world.sample(7, 1);
  world.add(7, kLeave, {1});
  world.sample(7, 2);
  world.work->finish();
  const HotFunctions in_hop =
      hot_functions(*world.work, StackNames(world.profile),
                    [](const ThreadLocation& at) { return at.place != kBetweenUnits; });
  CHECK(in_hop.all.samples == 1);
  CHECK(amount_of(world, in_hop, "inlined", false).samples == 1);
}

TEST_CASE("folded lines keep their form for any names") {
  World world;
  world.profile.frames.push_back(frame(2, {call("evil;name\n")}));
  world.sample(7, 2);
  world.sample(7, 2);
  world.work->finish();
  const std::string text = folded(
      *world.work, StackNames(world.profile), [](const ThreadLocation&) { return true; },
      [](std::uint32_t) { return std::string("rx;thread"); },
      [](std::uint16_t) { return std::string("between units"); });
  CHECK(text == "rx:thread;between units;main;evil:name:;evil:name:;copy_[k] 2\n");
}

TEST_CASE("a sample's point of another version is no sample") {
  World world;
  world.schema.points[kSample].fields.pop_back();
  world.work.emplace(world.schema, world.topology, world.profile);
  world.add(7, kSample, {1});
  CHECK(world.hot().all.samples == 0);
}

}  // namespace
}  // namespace sojourn::profile
