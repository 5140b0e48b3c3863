// Offsets of CPUs' cycle counters by four stamps: two threads write one word in turns, and the one
// that answers stamps as well. NTP's rule, within one machine. The asking thread owns the line; the
// answering one returns once it was told that it is over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "userspace/capture/api.h"

namespace sojourn::doctor {

class CounterExchange {
 public:
  struct Trip {
    double round_ticks = 0;
    double offset_ticks = 0;  // of the other's counter; exact where both ways take the same time
  };

  // Runs on the other CPU.
  void answer() {
    for (std::uint64_t seen = 0; seen != kOver;) {
      while ((seen = turn_.load(std::memory_order_acquire)) % 2 == 0) {
      }
      if (seen == kOver) break;
      received_ = capture::read_cycle_counter();
      sent_ = capture::read_cycle_counter();
      turn_.store(seen + 1, std::memory_order_release);
    }
  }

  Trip ask() {
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    const std::uint64_t asked = capture::read_cycle_counter();
    turn_.store(turn + 1, std::memory_order_release);
    while (turn_.load(std::memory_order_acquire) == turn + 1) {
    }
    const std::uint64_t got = capture::read_cycle_counter();
    const auto there = static_cast<double>(static_cast<std::int64_t>(received_ - asked));
    const auto back = static_cast<double>(static_cast<std::int64_t>(sent_ - got));
    return {.round_ticks = static_cast<double>(got - asked), .offset_ticks = (there + back) / 2};
  }

  void end() {
    std::uint64_t turn = turn_.load();
    while (!turn_.compare_exchange_weak(turn, kOver)) {
    }
  }

 private:
  static constexpr std::size_t kLine = 128;  // no other datum shares the line or its neighbour
  static constexpr std::uint64_t kOver = UINT64_MAX;

  alignas(kLine) std::atomic<std::uint64_t> turn_ = 0;  // odd: the answering one's
  std::uint64_t received_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace sojourn::doctor
