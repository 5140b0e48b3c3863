// The cycle counter's reading as wall time: straight lines between clock lines, which pair the two
// about once a second; before the first and after the last the nearest line goes on. Exact in
// integers. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sojourn::latseq {

class CycleClock {
 public:
  // False, and ignored: not after the one before in both clocks.
  bool add(std::uint64_t cycles, std::uint64_t unix_ns);

  std::size_t pairs() const { return pairs_.size(); }
  // Two pairs make a line.
  bool ready() const { return pairs_.size() >= 2; }
  std::uint64_t first_cycles() const { return pairs_.front().cycles; }
  std::uint64_t last_cycles() const { return pairs_.back().cycles; }

  // Nanoseconds since 1970; nothing where that is before 1970 or past 2262. Only where ready().
  std::optional<std::uint64_t> unix_ns(std::uint64_t cycles) const;

 private:
  struct Pair {
    std::uint64_t cycles = 0;
    std::uint64_t unix_ns = 0;
  };

  std::vector<Pair> pairs_;
};

}  // namespace sojourn::latseq
