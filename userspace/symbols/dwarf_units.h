// Finds the compilation unit that an address belongs to. For this program's readers of debug
// information, which a forged file may mislead (bounded_child.h). The Dwarf must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <elfutils/libdw.h>

namespace sojourn::symbols {

struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using OwnedDwarf = std::unique_ptr<Dwarf, EndDwarf>;

class DwarfUnits {
 public:
  DwarfUnits() = default;
  explicit DwarfUnits(Dwarf* dwarf);

  bool unit_at(std::uint64_t address, Dwarf_Die& unit) const;

 private:
  // A unit's code, one of its ranges.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Dwarf_Off unit = 0;
  };

  Dwarf* dwarf_ = nullptr;
  std::vector<Range> ranges_;  // by begin
};

}  // namespace sojourn::symbols
