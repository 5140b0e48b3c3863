// Guesses which functions pass the same items on to each other, from a short record of calls and
// their arguments, by addresses that appear again. For a first draft of a map. No state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sojourn::coarse {

// The watched values of each call: its first arguments, and the pointer that the first of them
// points to, as the head of a list points to its next item.
constexpr std::array<std::string_view, 5> kWatched = {"arg0", "arg1", "arg2", "arg3",
                                                      "*(u64*)arg0"};
constexpr std::size_t kWatchedHead = 4;

struct WatchedCall {
  std::uint64_t ts_ns = 0;
  std::size_t function = 0;
  std::array<std::uint64_t, kWatched.size()> values{};
};

// A function on the way of items.
struct DataFlowStep {
  std::size_t watched = 0;          // which of the watched values is the item's address
  std::optional<std::size_t> from;  // the function that had the item before; none: it is the first
  double share = 0;                 // of its calls, those with an item from there
};

// By function; none if there is no sign of it. `calls` may be in any order.
std::vector<std::optional<DataFlowStep>> find_data_flow(std::span<const WatchedCall> calls,
                                                        std::size_t functions);

}  // namespace sojourn::coarse
