#include "analysis/queues/pressure.h"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

namespace sojourn::queues {

namespace {

std::vector<Episode> episodes_of(const PressureNode& node, std::size_t index) {
  std::vector<Episode> episodes;
  if (node.series == nullptr) return episodes;
  const auto& stretches = node.series->stretches();
  if (stretches.empty()) return episodes;
  std::uint64_t deepest = 0;
  for (const Series::Stretch& stretch : stretches) deepest = std::max(deepest, stretch.max);
  std::uint64_t deep = std::max(kDeep, (deepest + 1) / 2);
  if (node.capacity != 0) deep = std::min(deep, node.capacity);
  bool is_on = false;
  for (std::size_t at = 0; at < stretches.size(); ++at) {
    const bool was_on = is_on;
    is_on = stretches[at].max >= deep;
    if (!is_on) continue;
    const std::uint64_t begin_ns = node.series->begin_ns() + at * node.series->stretch_ns();
    if (!was_on) episodes.push_back({.node = index, .begin_ns = begin_ns});
    episodes.back().end_ns = begin_ns + node.series->stretch_ns();
    episodes.back().peak = std::max(episodes.back().peak, stretches[at].max);
  }
  return episodes;
}

class Finder {
 public:
  explicit Finder(const std::vector<PressureNode>& nodes) : nodes_(nodes) {
    for (std::size_t index = 0; index < nodes.size(); ++index)
      episodes_.push_back(episodes_of(nodes[index], index));
  }

  // The nearest queue upstream that was deep while this one was, if it became so meanwhile. What is
  // shallow is passed through: a stage without a queue of its own hands pressure on.
  const Episode* next(const Episode& after, const Chain& so_far) const {
    std::vector<bool> seen(nodes_.size());
    for (const Episode& one : so_far) seen[one.node] = true;
    std::vector<std::size_t> nearest = nodes_[after.node].before;
    while (!nearest.empty()) {
      const Episode* found = nullptr;
      std::vector<std::size_t> further;
      for (const std::size_t node : nearest) {
        if (seen[node]) continue;
        seen[node] = true;
        const Episode* episode = first_since(node, after);
        if (episode != nullptr) {
          if (found == nullptr || episode->begin_ns < found->begin_ns) found = episode;
        } else if (!was_deep_at(node, after.begin_ns)) {
          const auto& before = nodes_[node].before;
          further.insert(further.end(), before.begin(), before.end());
        }
      }
      if (found != nullptr) return found;
      nearest = std::move(further);
    }
    return nullptr;
  }

  std::vector<Chain> all() const {
    std::vector<Chain> chains;
    for (const auto& of_node : episodes_) {
      for (const Episode& first : of_node) {
        Chain chain = {first};
        while (const Episode* more = next(chain.back(), chain)) chain.push_back(*more);
        chains.push_back(std::move(chain));
      }
    }
    return chains;
  }

 private:
  // The first that began while the other one lasted. Which came first within a stretch is not
  // known.
  const Episode* first_since(std::size_t node, const Episode& other) const {
    const auto found =
        std::ranges::upper_bound(episodes_[node], other.begin_ns, {}, &Episode::begin_ns);
    return found != episodes_[node].end() && found->begin_ns < other.end_ns ? &*found : nullptr;
  }
  bool was_deep_at(std::size_t node, std::uint64_t ts_ns) const {
    const auto found = std::ranges::upper_bound(episodes_[node], ts_ns, {}, &Episode::end_ns);
    return found != episodes_[node].end() && found->begin_ns <= ts_ns;
  }

  const std::vector<PressureNode>& nodes_;
  std::vector<std::vector<Episode>> episodes_;
};

bool is_part(const Chain& small, const Chain& large) {
  return small.size() < large.size() && std::ranges::any_of(
                                            large,
                                            [&](const Episode& one) {
                                              return one.node == small.front().node &&
                                                     one.begin_ns == small.front().begin_ns;
                                            });
}

}  // namespace

std::vector<Chain> chains(const std::vector<PressureNode>& nodes, std::size_t most) {
  const auto lasted = [](const Chain& chain) {
    return chain.front().end_ns - chain.front().begin_ns;
  };
  std::vector<Chain> all = Finder(nodes).all();
  // Longer chains first, and of equals what lasted.
  std::ranges::stable_sort(all, [&](const Chain& left, const Chain& right) {
    return std::tuple(left.size(), lasted(left)) > std::tuple(right.size(), lasted(right));
  });
  std::vector<Chain> chosen;
  for (Chain& chain : all) {
    if (chosen.size() == most) break;
    if (std::ranges::any_of(chosen, [&](const Chain& one) { return is_part(chain, one); }))
      continue;
    chosen.push_back(std::move(chain));
  }
  std::ranges::stable_sort(chosen, {}, [](const Chain& chain) { return chain.front().begin_ns; });
  return chosen;
}

}  // namespace sojourn::queues
