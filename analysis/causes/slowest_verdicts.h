// The slowest of the packets that were explained. One thread owns a SlowestVerdicts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/causes/verdict.h"

namespace sojourn::causes {

class SlowestVerdicts {
 public:
  explicit SlowestVerdicts(std::size_t most) : most_(most) {}

  void add(const Verdict& verdict) {
    if (kept_.size() == most_ && !is_slower(verdict, kept_.front())) return;
    if (kept_.size() == most_) {
      std::ranges::pop_heap(kept_, is_slower);
      kept_.pop_back();
    }
    kept_.push_back(verdict);
    std::ranges::push_heap(kept_, is_slower);
  }

  // The slowest first.
  std::vector<Verdict> take() && {
    std::ranges::sort(kept_, is_slower);
    return std::move(kept_);
  }

 private:
  static bool is_slower(const Verdict& left, const Verdict& right) {
    return left.latency_ns() != right.latency_ns() ? left.latency_ns() > right.latency_ns()
                                                   : left.journey < right.journey;
  }

  std::size_t most_;
  std::vector<Verdict> kept_;  // a heap, the least slow in front
};

}  // namespace sojourn::causes
