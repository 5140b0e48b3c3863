#include "userspace/coarse/suggest/path_pieces.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sojourn::coarse {

namespace {

using WaySpan = std::span<const std::optional<DataFlowStep>>;

constexpr std::size_t kLeastCalls = 8;
constexpr double kLeastShare = 0.7;
// The limits of links::Resolver, which has to find the same calls.
constexpr std::uint64_t kMaxStack = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxCallNs = 1'000'000'000;

// Counts in which open calls the functions were called.
class Nesting {
 public:
  explicit Nesting(WaySpan ways) : ways_(ways) {}

  // Takes all calls, in order of time. Those of functions on no way show that others have returned.
  void add(const WatchedCall& call) {
    if (call.function >= ways_.size() || call.stack == 0) return;
    auto& open = open_[call.tid];
    while (!open.empty() && open.back().stack <= call.stack) open.pop_back();
    if (!open.empty() && open.back().stack - call.stack > kMaxStack) open.clear();
    if (!ways_[call.function]) return;
    calls_[call.function].push_back(call.ts_ns);
    if (!open.empty() && call.ts_ns - open.back().since_ns <= kMaxCallNs) note(call, open.back());
    open.push_back({call.function, call.stack, call.ts_ns, {}});
  }

  // The function in whose calls this one is called, and how many of its calls are.
  std::optional<std::pair<std::size_t, double>> around(std::size_t function) const {
    const auto calls = calls_.find(function);
    const auto around = around_.find(function);
    if (calls == calls_.end() || around == around_.end() || calls->second.size() < kLeastCalls)
      return std::nullopt;
    const auto most = std::ranges::max_element(around->second, {},
                                               [](const auto& one) { return one.second.calls; });
    const double share = part_of(most->second.calls, calls->second.size());
    if (share < kLeastShare || most->first == function || !is_usual(most->first, most->second))
      return std::nullopt;
    return std::pair(most->first, share);
  }

 private:
  struct OpenCall {
    std::size_t function = 0;
    std::uint64_t stack = 0;
    std::uint64_t since_ns = 0;
    std::set<std::size_t> has;  // functions that were called within it
  };
  // Calls of one function within those of another.
  struct Within {
    std::size_t calls = 0;
    std::size_t holders = 0;    // calls of the other with at least one
    std::uint64_t from_ns = 0;  // the first holder's
    std::uint64_t to_ns = 0;
  };

  static double part_of(std::size_t some, std::size_t all) {
    return static_cast<double>(some) / static_cast<double>(all);
  }

  void note(const WatchedCall& call, OpenCall& around) {
    Within& within = around_[call.function][around.function];
    if (within.calls++ == 0) within.from_ns = around.since_ns;
    within.to_ns = call.ts_ns;
    if (around.has.insert(call.function).second) ++within.holders;
  }

  // A call that has returned unseen counts as open while its thread does something else deeper on
  // the stack. Then it is chance whether there is a call within it, and in many there is none.
  bool is_usual(std::size_t outer, const Within& within) const {
    const auto meanwhile = std::ranges::count_if(calls_.at(outer), [&](std::uint64_t ts_ns) {
      return ts_ns >= within.from_ns && ts_ns <= within.to_ns;
    });
    return part_of(within.holders, static_cast<std::size_t>(meanwhile)) >= kLeastShare;
  }

  WaySpan ways_;
  std::unordered_map<std::uint32_t, std::vector<OpenCall>> open_;  // by thread, the innermost last
  std::map<std::size_t, std::vector<std::uint64_t>> calls_;
  std::map<std::size_t, std::map<std::size_t, Within>> around_;
};

// The first function of a way that has no circles, and the number of steps from there.
std::pair<std::size_t, std::size_t> beginning_of(WaySpan ways, std::size_t function) {
  std::size_t steps = 0;
  for (; ways[function]->from; ++steps) function = *ways[function]->from;
  return {function, steps};
}

}  // namespace

void join_nested(std::span<const WatchedCall> calls,
                 std::span<std::optional<DataFlowStep>> ways_by_function) {
  std::vector<WatchedCall> in_order(calls.begin(), calls.end());
  std::ranges::stable_sort(in_order, {}, &WatchedCall::ts_ns);
  Nesting nesting(ways_by_function);
  for (const WatchedCall& call : in_order) nesting.add(call);
  // Functions that pass the unit itself on. A copy that they hand over besides would be a fork, and
  // which of the two is the packet does not show.
  std::vector<bool> passes_on(ways_by_function.size());
  for (const auto& way : ways_by_function)
    if (way && way->from) passes_on[*way->from] = true;
  for (std::size_t function = 0; function < ways_by_function.size(); ++function) {
    auto& way = ways_by_function[function];
    if (!way || way->from) continue;
    const auto around = nesting.around(function);
    if (!around || passes_on[around->first] ||
        beginning_of(ways_by_function, around->first).first == function)
      continue;
    way->from = around->first;
    way->share = around->second;
    way->is_nested = true;
  }
}

std::vector<PathPiece> pieces_of(std::span<const std::optional<DataFlowStep>> ways_by_function) {
  struct Piece {
    PathPiece piece;
    std::size_t steps = 0;
  };
  std::map<std::size_t, Piece> pieces;  // by first function
  for (std::size_t function = 0; function < ways_by_function.size(); ++function) {
    if (!ways_by_function[function]) continue;
    const auto [first, steps] = beginning_of(ways_by_function, function);
    auto& [piece, farthest] = pieces[first];
    if (piece.functions == 0) piece = {.first = first, .last = first};
    ++piece.functions;
    if (steps <= farthest) continue;
    piece.last = function;
    farthest = steps;
  }
  std::vector<PathPiece> all;
  all.reserve(pieces.size());
  for (const auto& [first, one] : pieces) all.push_back(one.piece);
  return all;
}

}  // namespace sojourn::coarse
