// Finds in a file's debug information which functions were inlined at an address, and the lines of
// the source. libdw reads it, and a forged file may mislead libdw: so it is to be used in a bounded
// child (naming.h does). One thread owns a DwarfLines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/model/profile_info.h"

namespace sojourn::symbols {

class DwarfLines {
 public:
  // Reads an open ELF file. Without debug information all answers are empty.
  explicit DwarfLines(int fd);
  DwarfLines(DwarfLines&&) noexcept;
  DwarfLines& operator=(DwarfLines&&) noexcept;
  ~DwarfLines();

  // The functions whose code is at the address, beginning with the innermost inlined one. Empty:
  // unknown.
  std::vector<model::FrameFunction> calls_at(std::uint64_t address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::symbols
