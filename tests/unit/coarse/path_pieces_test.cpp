// Which pieces of ways are joined, and what a proposed map says of it.
#include "userspace/coarse/suggest/path_pieces.h"

#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include "userspace/coarse/map/map_file.h"
#include "userspace/coarse/suggest/map_suggestion.h"

namespace sojourn::coarse {
namespace {

using Steps = std::vector<std::optional<DataFlowStep>>;
using Pieces = std::vector<PathPiece>;

constexpr std::uint64_t kTop = 0x7ffc'0001'0000;

// Functions 0 and 1 are on one way, 2 and 3 on another.
Steps two_ways() {
  return {DataFlowStep{.watched = 1}, DataFlowStep{.watched = 1, .from = 0, .share = 1},
          DataFlowStep{.watched = 5}, DataFlowStep{.watched = 5, .from = 2, .share = 1}};
}

// Calls whose stack pointers are so far below the top of their thread's stack.
class Calls {
 public:
  void call(std::size_t function, std::uint64_t depth, std::uint32_t tid = 1) {
    now_ns_ += 100;
    all_.push_back({.ts_ns = now_ns_,
                    .function = function,
                    .values = {},
                    .tid = tid,
                    .stack = kTop * tid - depth});
  }
  Steps joined(Steps ways) const {
    join_nested(all_, ways);
    return ways;
  }

 private:
  std::uint64_t now_ns_ = 0;
  std::vector<WatchedCall> all_;
};

TEST_CASE("what is called within the last call of a way goes on with it") {
  Calls calls;
  for (int packet = 0; packet < 20; ++packet)
    for (std::size_t function = 0; function < 4; ++function) calls.call(function, 100 * function);
  const auto ways = calls.joined(two_ways());
  REQUIRE(ways[2]);
  CHECK(ways[2]->from == 1);
  CHECK(ways[2]->is_nested);
  CHECK(ways[2]->share == 1);
  CHECK(ways[2]->watched == 5);
  CHECK_FALSE(ways[3]->is_nested);
  CHECK(pieces_of(ways) == Pieces{{.first = 0, .last = 3, .functions = 4}});
}

TEST_CASE("calls that are over, or another thread's, have nothing to do with it") {
  Calls calls;
  for (int packet = 0; packet < 20; ++packet) {
    calls.call(0, 100);
    calls.call(1, 200);
    if (packet % 2 == 0) calls.call(2, 200);
    if (packet % 2 == 1) calls.call(2, 300, 2);
    calls.call(3, 300, 2);
  }
  const auto ways = calls.joined(two_ways());
  CHECK_FALSE(ways[2]->from);
  CHECK(pieces_of(ways) ==
        Pieces{{.first = 0, .last = 1, .functions = 2}, {.first = 2, .last = 3, .functions = 2}});
}

TEST_CASE("a call on no way shows that another one has returned") {
  Calls calls;
  auto three = two_ways();
  three.emplace_back();
  for (int packet = 0; packet < 20; ++packet) {
    calls.call(0, 100);
    calls.call(1, 200);
    calls.call(4, 50);
    calls.call(2, 300);
  }
  CHECK_FALSE(calls.joined(three)[2]->from);
}

TEST_CASE("what is seldom called within another, or hardly ever, is not joined") {
  for (const int calls_in_all : {7, 100}) {
    Calls calls;
    for (int packet = 0; packet < calls_in_all; ++packet) {
      calls.call(1, 200);
      calls.call(2, calls_in_all > 7 && packet % 2 == 0 ? 200 : 300);
    }
    CHECK_FALSE(calls.joined(two_ways())[2]->from);
  }
}

// As a worker's tasks: the one returns unseen, and the other's call is deeper on the same stack.
TEST_CASE("what is called behind another by chance, deeper on the stack, is not joined") {
  for (const int every : {1, 2}) {
    Calls calls;
    for (int packet = 0; packet < 40; ++packet) {
      calls.call(1, 200);
      if (packet % every == 0) calls.call(2, 300);
      if (packet % every == 0) calls.call(2, 300);
    }
    CHECK(calls.joined(two_ways())[2]->from.has_value() == (every == 1));
  }
}

TEST_CASE("a function that passes its unit on is not left for what it calls besides") {
  Calls calls;
  for (int packet = 0; packet < 20; ++packet) {
    calls.call(0, 100);
    calls.call(2, 200);
    calls.call(1, 200);
  }
  CHECK_FALSE(calls.joined(two_ways())[2]->from);
}

TEST_CASE("a way does not begin within itself") {
  Calls calls;
  for (int packet = 0; packet < 20; ++packet) {
    calls.call(1, 100);
    calls.call(0, 200);
  }
  const auto ways = calls.joined(two_ways());
  CHECK_FALSE(ways[0]->from);
  CHECK(pieces_of(ways).size() == 2);
}

FoundPoints found_functions(std::size_t count) {
  FoundPoints found;
  found.points.files.push_back({.name = "/usr/bin/gnb"});
  for (std::size_t at = 0; at < count; ++at) {
    const auto point = static_cast<model::PointId>(at);
    found.points.schema.points.push_back({.src = fmt::format("f{}", at)});
    found.points.sites.push_back({.file = 0, .point = point});
    found.mapped.push_back({.site = at, .function = fmt::format("ns::f{}(int)", at)});
  }
  return found;
}

std::string map_of(const Steps& ways) {
  std::vector<CallRate> calls;
  for (const auto& way : ways) calls.push_back({.a_second = 100, .watched_s = 1, .way = way});
  return suggested_map(found_functions(ways.size()), calls, "proposed");
}

TEST_CASE("a map has a link where two ways are joined, and another name for the copy") {
  auto ways = two_ways();
  ways[2]->from = 1;
  ways[2]->is_nested = true;
  const std::string text = map_of(ways);
  CAPTURE(text);
  CHECK_FALSE(text.contains("paths, or pieces"));
  CHECK(text.contains("#   ns::f0 -> ns::f3, 4 functions\n"));
  const auto map = parse_map(text, "my.toml");
  REQUIRE(map);
  REQUIRE(map->points.size() == 4);
  CHECK(map->needs_calls);
  using model::Life;
  using model::Link;
  using model::LinkEnd;
  CHECK(map->points[0].links.empty());
  CHECK(map->points[1].links == std::vector<MapLink>{{Link::kCall, "ns::f1", LinkEnd::kGives}});
  CHECK(map->points[2].links == std::vector<MapLink>{{Link::kCall, "ns::f1", LinkEnd::kTakes}});
  CHECK(map->points[3].links.empty());
  for (const std::size_t at : {0, 1, 2, 3}) {
    CAPTURE(at);
    const MapPoint& point = map->points[at];
    REQUIRE(point.fields.size() == 1);
    CHECK(point.fields[0].name == (at < 2 ? "item" : "item2"));
    CHECK(point.lives.size() == (at % 2 == 0 ? 1 : 0));
  }
}

TEST_CASE("a map says of paths in pieces that it does not know what joins them") {
  const std::string text = map_of(two_ways());
  CAPTURE(text);
  CHECK(text.contains("There are 2 paths, or pieces of fewer: what joins them is not known"));
  CHECK(text.contains("#   ns::f0 -> ns::f1, 2 functions\n"));
  CHECK(text.contains("#   ns::f2 -> ns::f3, 2 functions\n"));
  CHECK(parse_map(text, "my.toml"));
  CHECK(map_of(Steps(2)).contains("there is no path"));
}

}  // namespace
}  // namespace sojourn::coarse
