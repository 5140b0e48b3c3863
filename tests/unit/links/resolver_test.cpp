// Hits that belong together on their threads, and the lives of an address.
#include "analysis/links/resolver.h"

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::links {
namespace {

using model::Life;
using model::Link;
using model::LinkEnd;
using model::Role;

constexpr std::uint64_t kGives = static_cast<std::uint64_t>(LinkEnd::kGives);
constexpr std::uint64_t kTakes = static_cast<std::uint64_t>(LinkEnd::kTakes);
constexpr std::uint64_t kBegins = static_cast<std::uint64_t>(Life::kBegins);
constexpr std::uint64_t kEnds = static_cast<std::uint64_t>(Life::kEnds);
constexpr std::uint64_t kTop = 0x7fff'0000;

model::Point point(const std::string& src, std::vector<model::Field> fields) {
  return {.direction = model::Direction::kDownlink,
          .src = src,
          .dest = "next",
          .fields = std::move(fields),
          .file = {}};
}

// Points whose fields are links' ends, and the stack addresses of their calls.
enum : model::PointId { kOuter, kInner, kOther, kSlot, kPull, kBegin, kUse, kFree };

model::Schema schema() {
  const model::Field stack{.name = std::string(model::kStackPointerField)};
  const model::Field unread{.name = std::string(model::kUnreadField), .bytes = 2};
  const auto local = [](std::string name) {
    return model::Field{.name = std::move(name), .role = Role::kLocal};
  };
  const model::Field call = local(model::link_field(Link::kCall, "rlc.rx"));
  const model::Field last = local(model::link_field(Link::kLast, "a"));
  const model::Field turn = local(model::link_field(Link::kTurn, "a"));
  return {{point("outer", {call, last, turn, stack}), point("inner", {call, last, turn, stack}),
           point("other", {stack}), point("slot", {local("slot"), stack}),
           point("pull", {local("slot"), {.name = "inherited-slot"}, stack, unread}),
           point("begin", {local("bb"), {.name = "life-bb"}}), point("use", {local("bb")}),
           point("free", {local("bb"), {.name = "life-bb"}})}};
}

// Hits in order, as the resolver gets them, and the ids that it made of each.
class Scene {
 public:
  Scene()
      : resolver_(schema(), std::vector<model::Stream>{
                                {.id = 0, .pid = 7}, {.id = 1, .pid = 7}, {.id = 2, .pid = 8}}) {}

  std::vector<std::uint64_t> hit(model::PointId point, std::vector<std::uint64_t> values,
                                 std::uint32_t tid = 1, std::uint32_t stream = 0) {
    if (stream >= seqs_.size()) seqs_.resize(stream + 1);
    now_ns_ += 10;
    model::EventBatch batch;
    batch.append({.ts_ns = now_ns_,
                  .seq = seqs_[stream]++,
                  .stream = stream,
                  .tid = tid,
                  .point = point,
                  .values = values});
    resolver_.resolve(batch);
    REQUIRE(batch.size() == 1);
    return {batch[0].values.begin(), batch[0].values.end()};
  }
  // The number of a call, of the last hit, and of a gathered one.
  std::uint64_t outer(std::uint64_t depth, std::uint32_t tid = 1, std::uint32_t stream = 0) {
    return hit(kOuter, {kGives, kGives, kGives, kTop - depth}, tid, stream)[0];
  }
  std::uint64_t inner(std::uint64_t depth, std::uint32_t tid = 1, std::uint32_t stream = 0) {
    return hit(kInner, {kTakes, kTakes, kTakes, kTop - depth}, tid, stream)[0];
  }
  void other(std::uint64_t depth) { hit(kOther, {kTop - depth}); }
  void wait_ns(std::uint64_t span) { now_ns_ += span; }
  void lose(std::uint32_t stream) { ++seqs_.at(stream); }

 private:
  Resolver resolver_;
  std::uint64_t now_ns_ = 1000;
  std::vector<std::uint64_t> seqs_;
};

TEST_CASE("a hit during an open call on its thread belongs to that call") {
  Scene scene;
  const auto first = scene.outer(100);
  CHECK(scene.inner(200) == first);
  CHECK(scene.inner(300) == first);
  const auto second = scene.outer(100);
  CHECK(second != first);
  CHECK(scene.inner(200) == second);
}

TEST_CASE("in nested calls the innermost counts, and the outer one again afterwards") {
  Scene scene;
  const auto outer = scene.outer(100);
  const auto middle = scene.outer(200);
  CHECK(scene.inner(300) == middle);
  scene.other(150);  // the middle one has returned
  CHECK(scene.inner(300) == outer);
}

TEST_CASE("a call is over when its thread is hit as high as it, or higher") {
  Scene scene;
  for (const std::uint64_t depth : {100U, 50U}) {
    const auto outer = scene.outer(100);
    scene.other(depth);
    CHECK(scene.inner(200) != outer);
  }
  const auto outer = scene.outer(100);
  CHECK(scene.inner(100) != outer);
}

TEST_CASE("threads have their own calls, on whichever CPU they are") {
  Scene scene;
  const auto one = scene.outer(100, 1, 0);
  const auto two = scene.outer(100, 2, 1);
  CHECK(scene.inner(200, 1, 1) == one);
  CHECK(scene.inner(200, 2, 0) == two);
  CHECK(scene.inner(200, 3, 0) != one);
}

TEST_CASE("a hit without a call around it has a number of its own") {
  Scene scene;
  const auto first = scene.inner(200);
  CHECK(first != scene.inner(200));
  CHECK(first > kTakes);
}

TEST_CASE("a call that has been open for very long, or on another stack, is not believed") {
  Scene scene;
  const auto first = scene.outer(100);
  scene.wait_ns(2'000'000'000);
  CHECK(scene.inner(200) != first);
  const auto second = scene.outer(100);
  CHECK(scene.inner(std::uint64_t{1} << 30) != second);
}

TEST_CASE("after lost hits nothing belongs to earlier calls") {
  Scene scene;
  const auto call = scene.outer(100);
  const auto bb = scene.hit(kBegin, {0x1000, kBegins})[0];
  scene.lose(0);
  CHECK(scene.inner(200) != call);
  CHECK(scene.hit(kUse, {0x1000})[0] != bb);
}

TEST_CASE("a link by order takes the last hit on the thread") {
  Scene scene;
  const auto give = [&](std::uint32_t tid) {
    return scene.hit(kOuter, {kGives, kGives, kGives, kTop}, tid)[1];
  };
  const auto take = [&](std::uint32_t tid) {
    return scene.hit(kInner, {kTakes, kTakes, kTakes, kTop}, tid)[1];
  };
  const auto first = give(1);
  const auto second = give(1);
  const auto elsewhere = give(2);
  CHECK(first != second);
  CHECK(take(1) == second);
  CHECK(take(1) == second);
  CHECK(take(2) == elsewhere);
  CHECK(take(3) != second);
}

TEST_CASE("all that came since the last were taken belong together") {
  Scene scene;
  const auto give = [&](std::uint32_t tid) {
    return scene.hit(kOuter, {kGives, kGives, kGives, kTop}, tid)[2];
  };
  const auto take = [&](std::uint32_t tid) {
    return scene.hit(kInner, {kTakes, kTakes, kTakes, kTop}, tid)[2];
  };
  const auto first = give(1);
  CHECK(give(2) != first);
  CHECK(give(1) == first);
  CHECK(take(1) == first);
  CHECK(take(1) == first);
  const auto second = give(1);
  CHECK(second != first);
  CHECK(take(1) == second);
}

TEST_CASE("a field that a point lacks has the value of the call around it") {
  Scene scene;
  const auto pull = [&](std::uint64_t depth, std::uint32_t tid = 1) {
    return scene.hit(kPull, {0, 1, kTop - depth, 0}, tid);
  };
  CHECK(pull(300)[3] == 1);  // unread
  scene.hit(kSlot, {17, kTop - 100});
  scene.outer(200);
  CHECK(pull(300)[0] == 17);
  CHECK(pull(300)[3] == 0);
  CHECK(pull(300, 2)[3] == 1);
  scene.hit(kSlot, {18, kTop - 100});
  CHECK(pull(300)[0] == 18);
  scene.other(0);
  CHECK(pull(300)[0] == 0);
  CHECK(pull(300)[3] == 1);
}

TEST_CASE("an address that is used again is another unit") {
  Scene scene;
  const auto begin = [&](std::uint64_t at, std::uint32_t stream = 0) {
    return scene.hit(kBegin, {at, kBegins}, 1, stream)[0];
  };
  const auto use = [&](std::uint64_t at, std::uint32_t stream = 0) {
    return scene.hit(kUse, {at}, 1, stream)[0];
  };
  const auto end = [&](std::uint64_t at) { return scene.hit(kFree, {at, kEnds})[0]; };
  const auto before = use(0x1000);  // from before the capture: known by its address all the same
  CHECK(use(0x1000) == before);
  const auto first = begin(0x1000);
  CHECK(first != before);
  CHECK(use(0x1000) == first);
  const auto other = begin(0x2000);
  CHECK(other != first);
  CHECK(begin(0x1000, 2) != first);  // of another process
  CHECK(use(0x1000, 1) == first);    // of the same
  CHECK(end(0x1000) == first);
  CHECK(use(0x1000) != first);
  CHECK(use(0x2000) == other);
  CHECK(begin(0x1000) != first);
  CHECK(use(0) == 0);
}

TEST_CASE("a schema without links has nothing to resolve") {
  const model::Schema plain{{point("a", {{.name = "sn", .role = Role::kLocal}})}};
  Resolver resolver(plain, {});
  CHECK_FALSE(resolver.is_needed());
  // A property with the name of a link is not a link.
  const model::Schema odd{{point("a", {{.name = "call-x"}})}};
  CHECK_FALSE(Resolver(odd, {}).is_needed());
}

TEST_CASE("the resolved fields of a schema are found in a time that grows with its points") {
  model::Schema schema;
  for (int i = 0; i < 60'000; ++i)
    schema.points.push_back(point("a" + std::to_string(i), {{.name = "sn", .role = Role::kLocal},
                                                            {.name = "buf", .role = Role::kLocal},
                                                            {.name = "len"}}));
  schema.points.back().fields.push_back({.name = "life-buf"});
  const auto begin = std::chrono::steady_clock::now();
  CHECK(Resolver(schema, {}).is_needed());
  // It takes some 50 ms; with the square of the points it would be minutes.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("for any file, memory stays bounded and rows keep their values") {
  std::mt19937_64 random(7);
  Resolver resolver(schema(), {});
  std::uint64_t ts_ns = 0;
  for (int round = 0; round < 200; ++round) {
    model::EventBatch batch;
    for (int row = 0; row < 500; ++row) {
      std::vector<std::uint64_t> values(random() % 6);
      for (auto& value : values) value = random() % 4 == 0 ? random() : random() % 4;
      batch.append({.ts_ns = ts_ns += random() % 100,
                    .seq = random() % 8,
                    .stream = static_cast<std::uint32_t>(random() % 3),
                    .tid = static_cast<std::uint32_t>(random()),
                    .point = static_cast<model::PointId>(random() % 12),
                    .values = values});
    }
    const std::vector<std::uint32_t> first(batch.first_value().begin(), batch.first_value().end());
    resolver.resolve(batch);
    REQUIRE(batch.size() == 500);
    REQUIRE(std::ranges::equal(batch.first_value(), first));
  }
}

TEST_CASE("a table that became large forgets values that were not asked for") {
  AgingMap<int, int> table(100);
  table[-1] = 5;
  for (int key = 0; key < 1000; ++key) {
    table[key] = key;
    REQUIRE(table.find(-1) != nullptr);
    REQUIRE(table.size() <= 201);
  }
  CHECK(table.find(0) == nullptr);
  CHECK(*table.find(999) == 999);
  CHECK(*table.find(-1) == 5);
  table.erase(-1);
  CHECK(table.find(-1) == nullptr);
}

}  // namespace
}  // namespace sojourn::links
