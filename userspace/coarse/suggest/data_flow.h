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

// The watched values of each call: its first arguments; the pointer that the first of them points
// to, as the head of a list points to its next item; and the first words of objects that are given,
// as a buffer's or a smart pointer's handle has the address of what it holds.
constexpr std::array<std::string_view, 8> kWatched = {
    "arg0",       "arg1", "arg2", "arg3", "*(u64*)arg0", "*(u64*)arg1", "*(u64*)(arg1 + 8)",
    "*(u64*)arg2"};
constexpr std::size_t kWatchedHead = 4;
constexpr std::size_t kWatchedObjects = 5;  // from there on

struct WatchedCall {
  std::uint64_t ts_ns = 0;
  std::size_t function = 0;
  std::array<std::uint64_t, kWatched.size()> values{};
  std::uint32_t tid = 0;
  std::uint64_t stack = 0;  // the stack pointer at the function's entry; 0: not known
};

// A function on the way of items.
struct DataFlowStep {
  std::size_t watched = 0;          // the index of the watched value that is the item's address
  std::optional<std::size_t> from;  // the function that had the item before; none: it is the first
  double share = 0;                 // of its calls, those with an item from there
  bool is_nested = false;           // it is called within `from`, with an item of its own
};

// By function; none if there is no sign of it. `calls` may be in any order.
std::vector<std::optional<DataFlowStep>> find_data_flow(std::span<const WatchedCall> calls,
                                                        std::size_t functions);

}  // namespace sojourn::coarse
