// Measures the offset between two CPUs' cycle counters by four stamps, as NTP does between hosts:
// two threads write one word in turns, and the answering thread stamps as well. The asking thread
// owns the object. The answering thread returns after end().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "userspace/capture/records/cycle_counter.h"

namespace sojourn::capture {

class CounterExchange {
 public:
  struct Trip {
    double round_ticks = 0;
    // The other CPU's counter minus this one's; exact if both directions take the same time.
    double offset_ticks = 0;
  };

  // Runs on the other CPU.
  void answer() {
    for (std::uint64_t seen = 0; seen != kOver;) {
      while ((seen = turn_.load(std::memory_order_acquire)) % 2 == 0) {
      }
      if (seen == kOver) break;
      received_ = read_cycle_counter_after_loads();
      sent_ = read_cycle_counter_after_loads();
      // The asking thread may have given up meanwhile.
      std::uint64_t expected = seen;
      if (!turn_.compare_exchange_strong(expected, seen + 1, std::memory_order_release)) break;
    }
  }

  // Returns nothing if the other thread lost its CPU; the exchange is over then.
  std::optional<Trip> ask() {
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    const std::uint64_t asked = read_cycle_counter_after_loads();
    turn_.store(turn + 1, std::memory_order_release);
    for (std::uint64_t looks = 0; turn_.load(std::memory_order_acquire) == turn + 1; ++looks)
      if (looks % kLooks == kLooks - 1 && read_cycle_counter() - asked > kPatienceTicks)
        return std::nullopt;
    const std::uint64_t got = read_cycle_counter_after_loads();
    const auto there = static_cast<double>(static_cast<std::int64_t>(received_ - asked));
    const auto back = static_cast<double>(static_cast<std::int64_t>(sent_ - got));
    return Trip{.round_ticks = static_cast<double>(got - asked),
                .offset_ticks = (there + back) / 2};
  }

  void end() {
    std::uint64_t turn = turn_.load();
    while (!turn_.compare_exchange_weak(turn, kOver)) {
    }
  }

 private:
  static constexpr std::size_t kLine = 128;  // no other datum shares the line or its neighbour
  static constexpr std::uint64_t kOver = UINT64_MAX;
  static constexpr std::uint64_t kLooks = 4096;  // the counter is seldom read, as that takes time
  static constexpr std::uint64_t kPatienceTicks = std::uint64_t{1} << 27;  // tens of milliseconds

  alignas(kLine) std::atomic<std::uint64_t> turn_ = 0;  // odd: it is the answering thread's turn
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace sojourn::capture
