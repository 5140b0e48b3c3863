// The time that a queue had each depth. Exact below a few thousand; deeper ones are rounded down to
// within 0.1 %, so that memory stays bounded for any file. One thread owns a DepthHistogram.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace sojourn::queues {

class DepthHistogram {
 public:
  void add(std::uint64_t depth, std::uint64_t span_ns);

  std::uint64_t total_ns() const { return total_ns_; }
  std::uint64_t at_ns(std::uint64_t depth) const;
  double mean() const;                         // weighted by time
  std::uint64_t quantile(double share) const;  // of time; 0: no time
  // All depths with their times, from the smallest on.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_depth() const;

 private:
  std::vector<std::uint64_t> small_;  // by depth
  std::map<std::uint64_t, std::uint64_t> deep_;
  std::uint64_t total_ns_ = 0;
  double weighted_ = 0;
};

}  // namespace sojourn::queues
