// Back-pressure chains.
#include "analysis/queues/pressure.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::queues {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// 0 -> 1 -> 2: items of 0 go on into 1.
struct Line {
  std::vector<DepthSeries> series{3};

  // Depth `deep` from..to, else 1.
  void fill(std::size_t node, std::uint64_t from_ms, std::uint64_t to_ms, std::uint64_t deep) {
    for (std::uint64_t ms = 0; ms < 100; ++ms)
      series[node].add(ms >= from_ms && ms < to_ms ? deep : 1, ms * kMs, (ms + 1) * kMs);
  }
  std::vector<PressureNode> nodes() const {
    return {{.series = &series[0], .drained_by = {0}},
            {.series = &series[1], .fed_by = {0}, .drained_by = {1}},
            {.series = &series[2], .fed_by = {1}, .drained_by = {2}}};
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

TEST_CASE("a shallow queue between two deep ones passes the pressure on") {
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

TEST_CASE("a queue that was already deep ends a chain: the queues before it wait for it") {
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
  nodes[0].fed_by = {1};
  const auto found = chains(nodes, 10);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 2);
  CHECK(found[0][0].node == 0);
  CHECK(found[0][1].node == 1);
}

TEST_CASE("queues that became deep at once have no known order, so they are no chain") {
  Line line;
  line.fill(2, 20, 60, 100);
  line.fill(1, 20, 60, 50);
  const auto found = chains(line.nodes(), 10);
  REQUIRE(found.size() == 2);
  CHECK(found[0].size() == 1);
  CHECK(found[1].size() == 1);
  CHECK(chains(line.nodes(), 1).size() == 1);
}

// The result that chains() promises, found slowly: by the queues before each.
class Plainly {
 public:
  explicit Plainly(const std::vector<PressureNode>& nodes) : before_(nodes.size()) {
    for (std::size_t into = 0; into < nodes.size(); ++into) {
      for (std::size_t from = 0; from < nodes.size(); ++from)
        if (std::ranges::find_first_of(nodes[from].drained_by, nodes[into].fed_by) !=
            nodes[from].drained_by.end())
          before_[into].push_back(from);
      std::vector<PressureNode> alone = {{.series = nodes[into].series}};
      episodes_.emplace_back();
      for (const Chain& chain : chains(alone, SIZE_MAX)) episodes_.back().push_back(chain.front());
      for (Episode& one : episodes_.back()) one.node = into;
    }
  }

  Chain chain(const Episode& first) const {
    Chain chain = {first};
    while (const Episode* more = next(chain.back())) chain.push_back(*more);
    return chain;
  }

 private:
  const Episode* next(const Episode& after) const {
    std::set<std::size_t> seen = {after.node};
    std::vector<std::size_t> nearest = before_[after.node];
    while (!nearest.empty()) {
      const Episode* found = nullptr;
      std::vector<std::size_t> further;
      std::ranges::sort(nearest);
      for (const std::size_t node : nearest) {
        if (!seen.insert(node).second) continue;
        bool was_deep = false;
        for (const Episode& one : episodes_[node]) {
          was_deep |= one.begin_ns <= after.begin_ns && one.end_ns > after.begin_ns;
          if (one.begin_ns <= after.begin_ns || one.begin_ns >= after.end_ns) continue;
          if (found == nullptr || one.begin_ns < found->begin_ns) found = &one;
        }
        if (!was_deep) further.insert(further.end(), before_[node].begin(), before_[node].end());
      }
      if (found != nullptr) return found;
      nearest = std::move(further);
    }
    return nullptr;
  }

  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::vector<Episode>> episodes_;
};

using Words = std::vector<std::pair<std::size_t, std::uint64_t>>;
Words words(const Chain& chain) {
  Words words;
  for (const Episode& one : chain) words.emplace_back(one.node, one.begin_ns);
  return words;
}

TEST_CASE("junctions say the same as the queues before each queue, of any net without circles") {
  std::minstd_rand random(7);
  const auto any = [&](std::uint64_t below) { return random() % below; };
  for (int round = 0; round < 200; ++round) {
    std::vector<DepthSeries> series(2 + any(12));
    std::vector<PressureNode> nodes;
    for (DepthSeries& one : series) {
      for (std::uint64_t ms = 0; ms < 60;) {
        const std::uint64_t until = ms + 1 + any(15);
        one.add(any(2) * 20, ms * kMs, until * kMs);
        ms = until;
      }
      // Junctions are in the order in which units come through them.
      PressureNode node = {.series = &one};
      for (std::uint64_t left = any(3); left != 0; --left) node.fed_by.push_back(any(4));
      for (std::uint64_t left = any(3); left != 0; --left) node.drained_by.push_back(4 + any(4));
      if (any(2) == 0)
        for (Junction& from : node.fed_by) from += 4;
      if (std::ranges::any_of(node.fed_by, [](Junction from) { return from >= 4; }))
        for (Junction& to : node.drained_by) to += 4;
      nodes.push_back(std::move(node));
    }
    const Plainly plainly(nodes);
    for (const Chain& chain : chains(nodes, 10)) {
      CAPTURE(round);
      CHECK(words(chain) == words(plainly.chain(chain.front())));
    }
  }
}

// 10,000 terminals with two bearers, all of them of one stage. Pairs of queues would be 400
// million.
TEST_CASE("a stage that feeds and drains very many queues takes no time by pairs of them") {
  std::vector<DepthSeries> series(20'000);
  std::vector<PressureNode> nodes;
  for (std::size_t at = 0; at < series.size(); ++at) {
    series[at].add(20, at * kMs, (at + 50) * kMs);
    nodes.push_back({.series = &series[at], .fed_by = {0}, .drained_by = {0}});
  }
  const auto found = chains(nodes, 10);
  REQUIRE(found.size() == 10);
  for (const Chain& chain : found) {
    CHECK(chain.size() == kMaxChain);
    CHECK(chain.back().node == chain.front().node + kMaxChain - 1);
  }
  CHECK(found[1].front().node == kMaxChain);
}

TEST_CASE("very many queues that nothing grows behind are looked through once for each junction") {
  DepthSeries deep;
  deep.add(20, 0, kMs);
  deep.add(0, kMs, 50 * kMs);
  std::vector<PressureNode> nodes(20'000);
  for (std::size_t at = 0; at < nodes.size(); ++at)
    nodes[at] = {.series = &deep, .fed_by = {at % 3}, .drained_by = {at % 3 + 1}};
  for (const Chain& chain : chains(nodes, 10)) CHECK(chain.size() == 1);
}

}  // namespace
}  // namespace sojourn::queues
