#include "analysis/queues/pressure.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace sojourn::queues {

namespace {

void find_episodes(const PressureNode& node, std::size_t index, std::vector<Episode>& episodes) {
  if (node.series == nullptr) return;
  const auto& stretches = node.series->stretches();
  if (stretches.empty()) return;
  std::uint64_t deepest = 0;
  for (const DepthSeries::Stretch& stretch : stretches) deepest = std::max(deepest, stretch.max);
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
}

// Queues that lead into one junction and come out of the same ones: for queues downstream they only
// differ in when they were deep.
class Bundle {
 public:
  void add(const Episode& episode) {
    begins_ns_.push_back(episode.begin_ns);
    ends_ns_.push_back(episode.end_ns);
  }
  void add_queue() { ++queues_; }
  void sort() {
    std::ranges::sort(begins_ns_);
    std::ranges::sort(ends_ns_);
  }
  bool has_shallow_at(std::uint64_t ts_ns) const {
    const auto until = [ts_ns](const std::vector<std::uint64_t>& times_ns) {
      return std::ranges::upper_bound(times_ns, ts_ns) - times_ns.begin();
    };
    return until(begins_ns_) - until(ends_ns_) < static_cast<std::ptrdiff_t>(queues_);
  }

 private:
  std::size_t queues_ = 0;
  std::vector<std::uint64_t> begins_ns_;
  std::vector<std::uint64_t> ends_ns_;
};

class Finder {
 public:
  explicit Finder(const std::vector<PressureNode>& nodes) : nodes_(nodes), met_(nodes.size()) {
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const std::size_t first = episodes_.size();
      find_episodes(nodes[index], index, episodes_);
      join(nodes[index], first);
    }
    for (Into& into : junctions_) {
      std::ranges::stable_sort(into.episodes, {},
                               [this](std::size_t at) { return episodes_[at].begin_ns; });
      for (auto& [from, bundle] : into.bundles) bundle.sort();
    }
    next_.resize(episodes_.size());
  }

  std::size_t episodes() const { return episodes_.size(); }
  const Episode& episode(std::size_t at) const { return episodes_[at]; }

  // By numbers of episodes; valid until the next call.
  const std::vector<std::size_t>& chain(std::size_t first) {
    chain_.clear();
    ++chains_;
    for (std::optional<std::size_t> at = first; at && chain_.size() < kMaxChain; at = next(*at)) {
      chain_.push_back(*at);
      met_[episodes_[*at].node] = chains_;
    }
    return chain_;
  }

 private:
  // The queues that lead into a junction.
  struct Into {
    std::vector<std::size_t> episodes;  // by their beginning, then in the order of queues
    std::map<std::vector<Junction>, Bundle> bundles;  // by the junctions that feed them
    std::size_t search = 0;                           // the last that came here
  };

  bool is_in_chain(std::size_t episode) const { return met_[episodes_[episode].node] == chains_; }

  Into& into(Junction junction) {
    if (junctions_.size() <= junction) junctions_.resize(junction + 1);
    return junctions_[junction];
  }

  void join(const PressureNode& node, std::size_t first) {
    for (const Junction junction : node.fed_by) into(junction);
    for (const Junction junction : node.drained_by) {
      Into& into = this->into(junction);
      for (std::size_t at = first; at < episodes_.size(); ++at) into.episodes.push_back(at);
      if (node.fed_by.empty()) continue;
      Bundle& bundle = into.bundles[node.fed_by];
      bundle.add_queue();
      for (std::size_t at = first; at < episodes_.size(); ++at) bundle.add(episodes_[at]);
    }
  }

  // The next episode is the same in nearly all chains. It only differs where queues feed each other
  // in a circle.
  std::optional<std::size_t> next(std::size_t after) {
    auto& known = next_[after];
    if (!known) known = search(after, false);
    if (!*known || !is_in_chain(**known)) return *known;
    return search(after, true);
  }

  // The nearest queue upstream that became deep while this one was. Shallow queues are passed
  // through, as a stage without a queue of its own passes pressure on.
  std::optional<std::size_t> search(std::size_t after, bool leaves_out_chain) {
    const Episode& episode = episodes_[after];
    ++searches_;
    nearest_.clear();
    come_to(nodes_[episode.node].fed_by, nearest_);
    while (!nearest_.empty()) {
      std::optional<std::size_t> found;
      for (const Junction junction : nearest_)
        found = earlier(found, first_since(junctions_[junction], episode, leaves_out_chain));
      if (found) return found;
      further_.clear();
      for (const Junction junction : nearest_)
        for (const auto& [from, bundle] : junctions_[junction].bundles)
          if (bundle.has_shallow_at(episode.begin_ns)) come_to(from, further_);
      std::swap(nearest_, further_);
    }
    return std::nullopt;
  }

  // Visits each junction only once in a search.
  void come_to(const std::vector<Junction>& junctions, std::vector<Junction>& list) {
    for (const Junction junction : junctions)
      if (std::exchange(junctions_[junction].search, searches_) != searches_)
        list.push_back(junction);
  }

  // The first episode that began while the other one lasted. The order within a stretch is not
  // known.
  std::optional<std::size_t> first_since(const Into& into, const Episode& other,
                                         bool leaves_out_chain) const {
    auto at = std::ranges::upper_bound(into.episodes, other.begin_ns, {},
                                       [this](std::size_t one) { return episodes_[one].begin_ns; });
    for (; at != into.episodes.end() && episodes_[*at].begin_ns < other.end_ns; ++at)
      if (!leaves_out_chain || !is_in_chain(*at)) return *at;
    return std::nullopt;
  }

  std::optional<std::size_t> earlier(std::optional<std::size_t> one,
                                     std::optional<std::size_t> other) const {
    if (!one || !other) return one ? one : other;
    const auto order = [this](std::size_t at) {
      return std::tuple(episodes_[at].begin_ns, episodes_[at].node);
    };
    return order(*other) < order(*one) ? other : one;
  }

  const std::vector<PressureNode>& nodes_;
  std::vector<Episode> episodes_;  // by queue, of each in the order of time
  std::vector<Into> junctions_;
  std::vector<std::optional<std::optional<std::size_t>>> next_;  // by episode; none: not looked for
  std::vector<std::size_t> chain_;
  std::vector<std::size_t> met_;  // by queue: the last chain that contains it
  std::size_t chains_ = 0;
  std::size_t searches_ = 0;
  std::vector<Junction> nearest_;
  std::vector<Junction> further_;
};

}  // namespace

std::vector<Chain> chains(const std::vector<PressureNode>& nodes, std::size_t most) {
  Finder finder(nodes);
  std::vector<std::size_t> lengths(finder.episodes());
  for (std::size_t at = 0; at < lengths.size(); ++at) lengths[at] = finder.chain(at).size();
  // Longer chains come first, and among equal ones those that lasted longer.
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t at) {
    const Episode& first = finder.episode(at);
    return std::tuple(lengths[at], first.end_ns - first.begin_ns);
  });
  std::vector<Chain> chosen;
  // The length of the chosen chain with it; 0: none.
  std::vector<std::size_t> part_of(lengths.size());
  for (const std::size_t first : order) {
    if (chosen.size() == most) break;
    // The rest of one that was cut is as long as that.
    if (part_of[first] > lengths[first] || part_of[first] == kMaxChain) continue;
    Chain& chain = chosen.emplace_back();
    for (const std::size_t at : finder.chain(first)) {
      chain.push_back(finder.episode(at));
      part_of[at] = std::max(part_of[at], lengths[first]);
    }
  }
  std::ranges::stable_sort(chosen, {}, [](const Chain& chain) { return chain.front().begin_ns; });
  return chosen;
}

}  // namespace sojourn::queues
