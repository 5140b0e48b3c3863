#include "analysis/journeys/plan/loops.h"

#include <algorithm>

#include "analysis/journeys/topology.h"

namespace sojourn::journeys {
namespace {

constexpr std::size_t kUnseen = SIZE_MAX;

// Groups of points that all reach each other (strongly connected components), by Tarjan's algorithm
// with an explicit stack.
class Groups {
 public:
  // A link has a parent and a child.
  template <typename Links>
  Groups(std::size_t points, const Links& links)
      : of(points, kUnseen), next_(points), order_(points, kUnseen), lowest_(points, 0) {
    for (const auto& link : links) next_[link.parent].push_back(link.child);
    for (std::size_t point = 0; point < points; ++point)
      if (order_[point] == kUnseen) visit(point);
  }

  std::vector<std::size_t> of;
  std::size_t count = 0;

 private:
  struct Visit {
    std::size_t point;
    std::size_t child;  // index of the next child to look at
  };

  void enter(std::size_t point) {
    order_[point] = lowest_[point] = seen_++;
    open_.push_back(point);
    visits_.push_back({point, 0});
  }

  void visit(std::size_t root) {
    enter(root);
    while (!visits_.empty()) {
      const auto point = visits_.back().point;
      if (visits_.back().child < next_[point].size()) {
        const std::size_t child = next_[point][visits_.back().child++];
        if (order_[child] == kUnseen)
          enter(child);
        else if (of[child] == kUnseen)
          lowest_[point] = std::min(lowest_[point], order_[child]);
        continue;
      }
      visits_.pop_back();
      if (!visits_.empty()) {
        auto& before = lowest_[visits_.back().point];
        before = std::min(before, lowest_[point]);
      }
      if (lowest_[point] == order_[point]) close(point);
    }
  }

  void close(std::size_t first) {
    for (auto point = kUnseen; point != first;) {
      point = open_.back();
      open_.pop_back();
      of[point] = count;
    }
    ++count;
  }

  std::vector<std::vector<PointId>> next_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> lowest_;
  std::vector<std::size_t> open_;
  std::vector<Visit> visits_;
  std::size_t seen_ = 0;
};

}  // namespace

Loops find_loops(std::size_t points, std::span<const Pair> pairs) {
  const Groups groups(points, pairs);
  std::vector<bool> loops(groups.count, false);
  std::vector<bool> fed(groups.count, false);
  for (const Pair& pair : pairs) {
    const auto to = groups.of[pair.child];
    if (groups.of[pair.parent] == to)
      loops[to] = true;
    else
      fed[to] = true;
  }
  std::vector<std::uint16_t> numbers(groups.count, 0);
  std::uint16_t unfed = 0;
  for (std::size_t group = 0; group < groups.count; ++group)
    if (loops[group] && !fed[group]) numbers[group] = ++unfed;
  Loops found = {.unfed = std::vector<std::uint16_t>(points, 0),
                 .any = std::vector<bool>(points, false)};
  for (std::size_t point = 0; point < points; ++point) {
    found.unfed[point] = numbers[groups.of[point]];
    found.any[point] = loops[groups.of[point]];
  }
  return found;
}

std::vector<std::size_t> find_parts(std::size_t points, std::span<const Pair> pairs) {
  // With edges in both directions, points that touch are in one group.
  std::vector<Edge> both_ways;
  both_ways.reserve(2 * pairs.size());
  for (const Pair& pair : pairs) {
    both_ways.push_back({pair.parent, pair.child});
    both_ways.push_back({pair.child, pair.parent});
  }
  return Groups(points, both_ways).of;
}

std::vector<bool> find_blind_loops(std::span<const Edge> edges, const std::vector<bool>& outputs) {
  const Groups groups(outputs.size(), edges);
  std::vector<bool> reaches(groups.count, false);
  for (std::size_t point = 0; point < outputs.size(); ++point)
    if (outputs[point]) reaches[groups.of[point]] = true;
  std::vector<std::vector<std::size_t>> next(groups.count);
  for (const Edge& edge : edges) next[groups.of[edge.parent]].push_back(groups.of[edge.child]);
  // A group is closed, and so numbered, after all groups that it leads to.
  for (std::size_t group = 0; group < groups.count; ++group)
    for (const auto to : next[group])
      if (reaches[to]) reaches[group] = true;
  std::vector<bool> blind;
  blind.reserve(edges.size());
  for (const Edge& edge : edges) {
    const auto group = groups.of[edge.parent];
    blind.push_back(group == groups.of[edge.child] && !reaches[group]);
  }
  return blind;
}

}  // namespace sojourn::journeys
