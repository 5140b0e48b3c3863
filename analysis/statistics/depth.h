// The number of units in a place over time, from the instants at which they enter and leave. Each
// depth is weighted by how long it lasted, not by how often it was seen. Units that were inside
// before the first event are not known, so every depth is "at least". One thread owns a Depth.
#pragma once

#include <cstdint>
#include <vector>

namespace sojourn::statistics {

class Depth {
 public:
  // Times may not go back. A leave without an enter is ignored.
  void begin(std::uint64_t ts_ns) { last_ns_ = begin_ns_ = ts_ns; }
  void enter(std::uint64_t ts_ns) {
    advance(ts_ns);
    ++entered_;
    if (++depth_ <= max_) return;
    max_ = depth_;
    if (depth_ == lasted_ns_.size()) make_room();
  }
  void leave(std::uint64_t ts_ns) {
    advance(ts_ns);
    if (depth_ > 0) --depth_;
  }
  void end(std::uint64_t ts_ns) { advance(ts_ns); }
  // The length of the stay of a unit that left.
  void stayed(std::uint64_t span_ns) {
    ++stays_;
    stayed_ns_ += span_ns;
  }

  std::uint64_t now() const { return depth_; }
  std::uint64_t max() const { return max_; }
  double mean() const;                         // weighted by time
  std::uint64_t quantile(double share) const;  // of time
  std::uint64_t entered() const { return entered_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t last_ns() const { return last_ns_; }
  double spent_ns() const;  // by all units, inside

  // The right side of Little's law: mean depth = arrivals a second x mean stay. Compare with
  // mean().
  double arrivals_times_stay() const;

 private:
  void advance(std::uint64_t ts_ns) {
    if (ts_ns <= last_ns_) return;
    lasted_ns_[depth_] += ts_ns - last_ns_;
    last_ns_ = ts_ns;
  }
  void make_room();

  std::uint64_t begin_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t depth_ = 0;
  std::uint64_t max_ = 0;
  std::uint64_t entered_ = 0;
  std::uint64_t stays_ = 0;
  std::uint64_t stayed_ns_ = 0;
  std::vector<std::uint64_t> lasted_ns_ = {0};  // by depth, of which there is always this one's
};

}  // namespace sojourn::statistics
