// A contiguous range of code in a file. Plain data.
#pragma once

#include <cstdint>

namespace sojourn::symbols {

struct CodeRange {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: its end is not known

  bool holds(std::uint64_t one) const { return one >= address && one - address < bytes; }
};

}  // namespace sojourn::symbols
