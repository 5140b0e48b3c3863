#include "userspace/coarse/suggest/path_pieces.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

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
    ++calls_[call.function];
    if (!open.empty() && call.ts_ns - open.back().since_ns <= kMaxCallNs)
      ++around_[call.function][open.back().function];
    open.push_back({call.function, call.stack, call.ts_ns});
  }

  // The function in whose calls this one is called, and how many of its calls are.
  std::optional<std::pair<std::size_t, double>> around(std::size_t function) const {
    const auto calls = calls_.find(function);
    const auto around = around_.find(function);
    if (calls == calls_.end() || around == around_.end() || calls->second < kLeastCalls)
      return std::nullopt;
    const auto most =
        std::ranges::max_element(around->second, {}, [](const auto& one) { return one.second; });
    const double share = static_cast<double>(most->second) / static_cast<double>(calls->second);
    if (share < kLeastShare || most->first == function) return std::nullopt;
    return std::pair(most->first, share);
  }

 private:
  struct OpenCall {
    std::size_t function = 0;
    std::uint64_t stack = 0;
    std::uint64_t since_ns = 0;
  };

  WaySpan ways_;
  std::unordered_map<std::uint32_t, std::vector<OpenCall>> open_;  // by thread, the innermost last
  std::map<std::size_t, std::size_t> calls_;
  std::map<std::size_t, std::map<std::size_t, std::size_t>> around_;
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
  for (const auto& [first, one] : pieces) all.push_back(one.piece);
  return all;
}

}  // namespace sojourn::coarse
