// Back-pressure chains.
#include "analysis/queues/pressure.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::queues {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// 0 -> 1 -> 2: items of 0 go on into 1.
struct Line {
  std::vector<Series> series{3};

  // Depth `deep` from..to, else 1.
  void fill(std::size_t node, std::uint64_t from_ms, std::uint64_t to_ms, std::uint64_t deep) {
    for (std::uint64_t ms = 0; ms < 100; ++ms)
      series[node].add(ms >= from_ms && ms < to_ms ? deep : 1, ms * kMs, (ms + 1) * kMs);
  }
  std::vector<PressureNode> nodes() const {
    return {{.series = &series[0], .capacity = 0, .before = {}},
            {.series = &series[1], .capacity = 0, .before = {0}},
            {.series = &series[2], .capacity = 0, .before = {1}}};
  }
};

TEST_CASE("queues that grow one after the other, against the stream, are one chain") {
  Line line;
  line.fill(2, 20, 60, 100);
  line.fill(1, 30, 60, 50);
  line.fill(0, 40, 60, 20);
  const auto found = chains(line.nodes(), 10);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 3);
  CHECK(found[0][0].node == 2);
  CHECK(found[0][0].begin_ns == 20 * kMs);
  CHECK(found[0][0].end_ns == 60 * kMs);
  CHECK(found[0][0].peak == 100);
  CHECK(found[0][1].node == 1);
  CHECK(found[0][2].node == 0);
}

TEST_CASE("a queue that was deep before, or after, is no part of it") {
  Line line;
  line.fill(2, 40, 50, 100);
  line.fill(1, 10, 45, 50);
  line.fill(0, 60, 70, 20);
  const auto found = chains(line.nodes(), 10);
  REQUIRE(found.size() == 3);
  for (const Chain& chain : found) CHECK(chain.size() == 1);
  CHECK(found[0][0].node == 1);
  CHECK(found[2][0].node == 0);
}

TEST_CASE("what is shallow between two deep queues hands the pressure on") {
  Line line;
  line.fill(2, 20, 60, 100);
  line.fill(1, 20, 60, 2);
  line.fill(0, 40, 60, 20);
  const auto found = chains(line.nodes(), 10);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 2);
  CHECK(found[0][0].node == 2);
  CHECK(found[0][1].node == 0);
}

TEST_CASE("a queue that was deep already ends a chain: what is before it waits for it") {
  Line line;
  line.fill(2, 20, 60, 100);
  line.fill(1, 10, 60, 50);
  line.fill(0, 40, 60, 20);
  for (const Chain& chain : chains(line.nodes(), 10))
    CHECK((chain.front().node != 2 || chain.size() == 1));
}

TEST_CASE("a shallow queue is never deep, a full one always") {
  Line line;
  line.fill(0, 10, 20, 7);
  line.fill(1, 10, 20, 4);
  auto nodes = line.nodes();
  CHECK(chains(nodes, 10).empty());
  nodes[1].capacity = 4;
  REQUIRE(chains(nodes, 10).size() == 1);
  CHECK(chains(nodes, 10)[0][0].node == 1);
}

TEST_CASE("queues in a circle make no endless chain") {
  Line line;
  line.fill(0, 10, 20, 50);
  line.fill(1, 12, 20, 50);
  auto nodes = line.nodes();
  nodes[0].before = {1};
  const auto found = chains(nodes, 10);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 2);
  CHECK(found[0][0].node == 0);
  CHECK(found[0][1].node == 1);
}

TEST_CASE("what became deep at once has no known order, so it is no chain") {
  Line line;
  line.fill(2, 20, 60, 100);
  line.fill(1, 20, 60, 50);
  const auto found = chains(line.nodes(), 10);
  REQUIRE(found.size() == 2);
  CHECK(found[0].size() == 1);
  CHECK(found[1].size() == 1);
  CHECK(chains(line.nodes(), 1).size() == 1);
}

}  // namespace
}  // namespace sojourn::queues
