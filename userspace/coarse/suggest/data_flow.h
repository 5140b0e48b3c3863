// Which functions are given the same things one after the other: found in a short record of calls
// and what they are given, by addresses that come up again. Guesses, for a map to begin with. No
// state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sojourn::coarse {

// Of each call: its first arguments, and what the very first of them leads to, as the head of a
// list does to what is taken next.
constexpr std::array<std::string_view, 5> kWatched = {"arg0", "arg1", "arg2", "arg3",
                                                      "*(u64*)arg0"};
constexpr std::size_t kWatchedHead = 4;

struct WatchedCall {
  std::uint64_t ts_ns = 0;
  std::size_t function = 0;
  std::array<std::uint64_t, kWatched.size()> values{};
};

// A function that is on the way of things.
struct DataFlowStep {
  std::size_t watched = 0;          // which of these the thing's address is
  std::optional<std::size_t> from;  // the function that was given it before; none: it is the first
  double share = 0;                 // of its calls, that got theirs from there
};

// By function; none where nothing speaks for it. `calls` in any order.
std::vector<std::optional<DataFlowStep>> find_data_flow(std::span<const WatchedCall> calls,
                                                        std::size_t functions);

}  // namespace sojourn::coarse
