// Matching ends with calls, for every way of leaving a call.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/links/resolver.h"

namespace sojourn::links {
namespace {

using model::Inherits;
using model::Link;
using model::LinkEnd;
using model::Role;

constexpr std::uint64_t kGives = static_cast<std::uint64_t>(LinkEnd::kGives);
constexpr std::uint64_t kTakes = static_cast<std::uint64_t>(LinkEnd::kTakes);
constexpr std::uint64_t kTop = 0x7fff'0000;
constexpr std::uint64_t kUnread = 1;  // the bit of the first field

enum : model::PointId {
  kBegin,
  kEnd,
  kOtherBegin,
  kOtherEnd,
  kInside,
  kExit,
  kHold,
  kHeld,
  kUse,
  kGiven
};

model::Schema schema() {
  const model::Field stack{.name = std::string(model::kStackPointerField)};
  const model::Field exit_stack{.name = std::string(model::kExitStackField)};
  const model::Field unread{.name = std::string(model::kUnreadField), .bytes = 2};
  const auto local = [](std::string name) {
    return model::Field{.name = std::move(name), .role = Role::kLocal};
  };
  const auto point = [](std::vector<model::Field> fields) {
    return model::Point{.direction = model::Direction::kDownlink,
                        .src = "a",
                        .dest = "b",
                        .fields = std::move(fields),
                        .file = {}};
  };
  const model::Field span = local(model::link_field(Link::kSpan, "f"));
  const model::Field other = local(model::link_field(Link::kSpan, "g::h"));
  const model::Field held = local(model::link_field(Link::kSpan, "hold"));
  const model::Field inherited{.name = "inherited-sn"};
  const model::Field life{.name = "life-bb"};
  return {{point({local("sn"), span, stack}),
           point({local("sn"), span, inherited, exit_stack, unread}), point({other, stack}),
           point({other, exit_stack}), point({local("sn"), inherited, stack, unread}),
           point({local("sn"), inherited, exit_stack, unread}), point({local("bb"), held, stack}),
           point({local("bb"), held, {.name = "inherited-bb"}, life, exit_stack, unread}),
           point({local("bb")}), point({local("bb"), life})}};
}

class Scene {
 public:
  explicit Scene(const std::vector<model::ShedSpan>& shed = {})
      : resolver_(schema(), std::vector<model::Stream>{{.id = 0, .pid = 7}}, shed) {}

  std::vector<std::uint64_t> hit(model::PointId point, std::vector<std::uint64_t> values,
                                 std::uint32_t tid = 1) {
    now_ns_ += 10;
    model::EventBatch batch;
    batch.append({.ts_ns = now_ns_,
                  .seq = seq_++,
                  .stream = 0,
                  .tid = tid,
                  .point = point,
                  .values = values});
    resolver_.resolve(batch);
    REQUIRE(batch.size() == 1);
    return {batch[0].values.begin(), batch[0].values.end()};
  }
  struct End {
    std::uint64_t span = 0;
    std::uint64_t sn = 0;
    bool is_unread = false;
    bool operator==(const End&) const = default;
  };
  // The number of the call.
  std::uint64_t begin(std::uint64_t depth, std::uint64_t sn = 1, std::uint32_t tid = 1) {
    return hit(kBegin, {sn, kGives, kTop - depth}, tid)[1];
  }
  End end(std::uint64_t depth, std::uint32_t tid = 1) {
    const auto values =
        hit(kEnd, {0, kTakes, static_cast<std::uint64_t>(Inherits::kOwn), kTop - depth, 0}, tid);
    return {values[1], values[0], (values[4] & kUnread) != 0};
  }
  // The number of the address's life at the beginning and the end of a call that ends it.
  std::uint64_t hold(std::uint64_t depth, std::uint64_t address) {
    return hit(kHold, {address, kGives, kTop - depth})[0];
  }
  std::uint64_t held(std::uint64_t depth) {
    return hit(kHeld, {0, kTakes, static_cast<std::uint64_t>(Inherits::kOwn),
                       static_cast<std::uint64_t>(model::Life::kEnds), kTop - depth, 0})[0];
  }
  std::uint64_t use(std::uint64_t address, std::uint32_t tid = 1) {
    return hit(kUse, {address}, tid)[0];
  }
  void wait_ns(std::uint64_t span) { now_ns_ += span; }
  void lose() { ++seq_; }

 private:
  Resolver resolver_;
  std::uint64_t now_ns_ = 1000;
  std::uint64_t seq_ = 0;
};

TEST_CASE("a call ends where its thread has the stack that it began with") {
  Scene scene;
  const auto first = scene.begin(100, 5);
  CHECK(scene.end(100) == Scene::End{first, 5, false});
  const auto second = scene.begin(100, 6);
  CHECK(second != first);
  CHECK(scene.end(100) == Scene::End{second, 6, false});
}

TEST_CASE("calls within each other end from within") {
  Scene scene;
  std::vector<std::uint64_t> calls;
  for (std::uint64_t depth = 0; depth < 500; ++depth) calls.push_back(scene.begin(depth, depth));
  for (std::uint64_t depth = 500; depth-- > 0;)
    CHECK(scene.end(depth) == Scene::End{calls[depth], depth, false});
}

TEST_CASE("threads end their own calls") {
  Scene scene;
  const auto one = scene.begin(100, 1, 1);
  const auto two = scene.begin(100, 2, 2);
  CHECK(scene.end(100, 1) == Scene::End{one, 1, false});
  CHECK(scene.end(100, 2) == Scene::End{two, 2, false});
  CHECK(scene.end(100, 3).is_unread);
}

TEST_CASE("a call that was left unseen ends nowhere") {
  Scene scene;
  const auto thrown = scene.begin(100);
  const auto again = scene.begin(100, 2);
  CHECK(scene.end(100) == Scene::End{again, 2, false});
  CHECK(scene.end(100).span != thrown);
  // An exception went through the inner one, and its caller returns.
  const auto outer = scene.begin(100, 3);
  const auto inner = scene.begin(200, 4);
  CHECK(scene.end(100) == Scene::End{outer, 3, false});
  CHECK(scene.end(200).span != inner);
}

TEST_CASE(
    "an end without a beginning belongs to no call, and takes nothing from a call around it") {
  Scene scene;
  const auto outer = scene.begin(100, 9);
  const auto stray = scene.end(200);
  CHECK(stray.span != outer);
  CHECK(stray.is_unread);
  CHECK(scene.end(100) == Scene::End{outer, 9, false});
  scene.begin(100, 9);
  scene.lose();
  CHECK(scene.end(100).is_unread);
}

TEST_CASE("calls from before points were off have no end") {
  for (const std::uint64_t at_ns : {std::uint64_t{1015}, std::uint64_t{1020}}) {
    Scene scene({{.point = kBegin, .from_ns = at_ns, .until_ns = 0}});
    scene.begin(100);  // at 1010
    CHECK(scene.end(100).is_unread);
  }
  Scene scene({{.point = kEnd, .from_ns = 5, .until_ns = 1015}});
  scene.begin(100);
  CHECK(scene.end(100).is_unread);
  const auto call = scene.begin(100, 4);
  CHECK(scene.end(100) == Scene::End{call, 4, false});
}

TEST_CASE("another function's end is not this one's") {
  Scene scene;
  const auto call = scene.begin(100);
  CHECK(scene.hit(kOtherEnd, {kTakes, kTop - 100})[0] != call);
  // f() jumps to g(), which returns in its place.
  const auto first = scene.begin(100, 3);
  CHECK(scene.end(100).span == first);
  const auto next = scene.hit(kOtherBegin, {kGives, kTop - 100})[0];
  CHECK(scene.hit(kOtherEnd, {kTakes, kTop - 100})[0] == next);
}

TEST_CASE("a call may take long") {
  Scene scene;
  const auto call = scene.begin(100, 8);
  scene.wait_ns(100'000'000'000);
  CHECK(scene.end(100) == Scene::End{call, 8, false});
}

TEST_CASE("at a function's exit its own call is still open") {
  Scene scene;
  const std::uint64_t around = static_cast<std::uint64_t>(Inherits::kAround);
  scene.begin(100, 1);
  scene.begin(200, 2);
  CHECK(scene.hit(kInside, {0, around, kTop - 300, 0})[0] == 2);
  CHECK(scene.hit(kExit, {0, around, kTop - 200, 0})[0] == 2);
  CHECK(scene.hit(kExit, {0, around, kTop - 100, 0})[0] == 1);
  CHECK((scene.hit(kExit, {0, around, kTop - 100, 0})[3] & kUnread) != 0);
}

TEST_CASE("an address may end with the call that was given it, and not before") {
  Scene scene;
  constexpr std::uint64_t kAddress = 0x1000;
  const auto unit = scene.use(kAddress);
  CHECK(scene.hold(100, kAddress) == unit);
  CHECK(scene.use(kAddress) == unit);
  CHECK(scene.use(kAddress, 2) == unit);
  CHECK(scene.held(100) == unit);
  CHECK(scene.use(kAddress) != unit);
}

TEST_CASE("an address that was given out again within the call lives on behind it") {
  Scene scene;
  constexpr std::uint64_t kAddress = 0x1000;
  const auto unit = scene.hold(100, kAddress);
  const auto next =
      scene.hit(kGiven, {kAddress, static_cast<std::uint64_t>(model::Life::kBegins)}, 2)[0];
  CHECK(next != unit);
  CHECK(scene.held(100) == unit);
  CHECK(scene.use(kAddress, 2) == next);
}

}  // namespace
}  // namespace sojourn::links
