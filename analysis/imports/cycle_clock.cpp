#include "analysis/imports/cycle_clock.h"

#include <algorithm>

namespace sojourn::imports {

bool CycleClock::add(std::uint64_t cycles, std::uint64_t unix_ns) {
  if (!pairs_.empty() && (cycles <= pairs_.back().cycles || unix_ns <= pairs_.back().unix_ns))
    return false;
  pairs_.push_back({cycles, unix_ns});
  return true;
}

std::optional<std::uint64_t> CycleClock::unix_ns(std::uint64_t cycles) const {
  auto to = std::ranges::upper_bound(pairs_, cycles, {}, &Pair::cycles);
  to = std::clamp(to, pairs_.begin() + 1, pairs_.end() - 1);
  const Pair& from = *(to - 1);
  // All four are below 2^63, so the product is below 2^126.
  __extension__ using Wide = __int128;
  const Wide past = Wide{cycles} - Wide{from.cycles};
  const Wide rise = Wide{to->unix_ns} - Wide{from.unix_ns};
  const Wide run = Wide{to->cycles} - Wide{from.cycles};
  const Wide ns = Wide{from.unix_ns} + past * rise / run;
  if (ns < 0 || ns > INT64_MAX) return std::nullopt;
  return static_cast<std::uint64_t>(ns);
}

}  // namespace sojourn::imports
