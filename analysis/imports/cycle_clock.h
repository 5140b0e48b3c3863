// Converts readings of the cycle counter to wall time. Clock lines pair the two about once a
// second; between them time is interpolated linearly, and before the first and after the last it is
// extrapolated. The arithmetic is exact, in integers. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sojourn::imports {

class CycleClock {
 public:
  // False where not both clocks are later than in the pair before: the pair is ignored.
  bool add(std::uint64_t cycles, std::uint64_t unix_ns);

  std::size_t pairs() const { return pairs_.size(); }
  // Returns whether there are two pairs, which interpolation needs.
  bool ready() const { return pairs_.size() >= 2; }
  std::uint64_t first_cycles() const { return pairs_.front().cycles; }
  std::uint64_t last_cycles() const { return pairs_.back().cycles; }

  // Nanoseconds since 1970; nothing before 1970 or after 2262. Requires ready().
  std::optional<std::uint64_t> unix_ns(std::uint64_t cycles) const;

 private:
  struct Pair {
    std::uint64_t cycles = 0;
    std::uint64_t unix_ns = 0;
  };

  std::vector<Pair> pairs_;
};

}  // namespace sojourn::imports
