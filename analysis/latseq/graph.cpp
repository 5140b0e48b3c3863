#include "analysis/latseq/graph.h"

#include <algorithm>
#include <cstddef>

#include <fmt/ranges.h>

namespace sojourn::latseq {

namespace {

constexpr std::size_t kMaxPaths = 10'000;
constexpr std::size_t kMaxSteps = 10'000'000;  // of the search for them
constexpr std::size_t kMaxPath = 1'000;

class PathSearch {
 public:
  PathSearch(const Graph& graph, std::vector<Path>& found) : graph_(graph), found_(found) {}

  // False: there are too many paths.
  bool run(NameId from, NameId to) {
    if (++steps_ > kMaxSteps || way_.size() >= kMaxPath) return false;
    way_.push_back(from);
    const bool done = from == to ? keep() : go_on(from, to);
    way_.pop_back();
    return done;
  }

 private:
  bool keep() {
    if (found_.size() == kMaxPaths) return false;
    found_.push_back(way_);
    return true;
  }

  bool go_on(NameId from, NameId to) {
    const Node* const node = graph_.find(from);
    if (node == nullptr) return true;
    return std::ranges::all_of(node->next, [&](NameId next) {
      return std::ranges::find(way_, next) != way_.end() || run(next, to);
    });
  }

  const Graph& graph_;
  std::vector<Path>& found_;
  Path way_;
  std::size_t steps_ = 0;
};

}  // namespace

Node& Graph::node(NameId name, bool uplink, std::uint64_t count) {
  const auto [place, fresh] = by_name_.try_emplace(name, nodes_.size());
  if (fresh) nodes_.push_back({.name = name, .next = {}, .count = count, .uplink = {uplink}});
  return nodes_[place->second];
}

const Node* Graph::find(NameId name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &nodes_[found->second];
}

void Graph::add(NameTable& names, bool uplink, NameId src, NameId dest) {
  Node& from = node(src, uplink, 0);
  ++from.count;
  if (std::ranges::find(from.uplink, uplink) == from.uplink.end()) from.uplink.push_back(uplink);
  if (std::ranges::find(from.next, dest) == from.next.end()) {
    const std::string whole = names[dest];
    for (auto dot = whole.find('.'); dot != std::string::npos; dot = whole.find('.', dot + 1))
      from.next.push_back(names.of(whole.substr(0, dot)));
    from.next.push_back(dest);
  }
  // LatSeq counts a place that is no source once, no matter how often it is entered.
  node(dest, uplink, 1);
}

Result<Paths> Graph::paths(NameTable& names, const Ends& ends) const {
  Paths paths;
  for (std::size_t direction = 0; direction < paths.size(); ++direction) {
    PathSearch search(*this, paths[direction]);
    for (const std::string& in : ends.in[direction])
      for (const std::string& out : ends.out[direction])
        if (!search.run(names.of(in), names.of(out)))
          return fail("too many ways lead from {} to {}", in, out);
  }
  if (paths[0].empty() && paths[1].empty())
    return fail("nothing leads from {} to {}, nor from {} to {}: LatSeq knows no other ends",
                fmt::join(ends.in[0], " or "), fmt::join(ends.out[0], " or "),
                fmt::join(ends.in[1], " or "), fmt::join(ends.out[1], " or "));
  return paths;
}

}  // namespace sojourn::latseq
