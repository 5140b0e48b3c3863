// Stays in a place, side by side: each gets the first lane in which it overlaps no other, so that a
// viewer that nests overlapping ones draws it flat. Stays come in any order. Stays that ended long
// before the newest ones are forgotten, and then a lane takes none that old any more. So memory is
// bounded, and no two stays of a lane ever overlap. One thread owns a Lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace sojourn::exports {

class Lanes {
 public:
  static constexpr std::size_t kMaxRemembered = 4096;  // stays of a lane

  // The lane of a stay [begin_ns, end_ns], from 0.
  std::size_t take(std::uint64_t begin_ns, std::uint64_t end_ns);
  std::size_t count() const { return lanes_.size(); }

 private:
  struct Span {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
  };
  struct Lane {
    std::deque<Span> spans;          // in order, none touches another
    std::uint64_t forgotten_ns = 0;  // until then is not known
    bool is_new = true;              // no stay was forgotten yet
  };

  static bool try_take(Lane& lane, const Span& span);

  std::vector<Lane> lanes_;
};

}  // namespace sojourn::exports
