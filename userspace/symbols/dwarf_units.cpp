#include "userspace/symbols/dwarf_units.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sojourn::symbols {

// Not every compiler writes .debug_aranges, so the ranges are read from the units.
DwarfUnits::DwarfUnits(Dwarf* dwarf) : dwarf_(dwarf) {
  Dwarf_Off at = 0;
  Dwarf_Off next = 0;
  std::size_t header_bytes = 0;
  while (dwarf_nextcu(dwarf, at, &next, &header_bytes, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    if (dwarf_offdie(dwarf, at + header_bytes, &unit) != nullptr) {
      Dwarf_Addr base = 0;
      Dwarf_Addr begin = 0;
      Dwarf_Addr end = 0;
      std::ptrdiff_t more = 0;
      while ((more = dwarf_ranges(&unit, more, &base, &begin, &end)) > 0)
        if (end > begin) ranges_.push_back({begin, end, at + header_bytes});
    }
    if (next <= at) break;
    at = next;
  }
  std::ranges::stable_sort(ranges_, {}, &Range::begin);
}

bool DwarfUnits::unit_at(std::uint64_t address, Dwarf_Die& unit) const {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin() || address >= std::prev(after)->end) return false;
  return dwarf_offdie(dwarf_, std::prev(after)->unit, &unit) != nullptr;
}

}  // namespace sojourn::symbols
