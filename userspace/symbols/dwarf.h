// What a file's debug information says about an address: which functions were inlined there, and
// the lines of the source. libdw reads it, and a forged file may lead that astray: to be used where
// that harms nobody (naming.h does). One thread owns a Dwarf file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/model/profile_info.h"

namespace sojourn::symbols {

class DwarfLines {
 public:
  // Of an open ELF file; one without debug information tells nothing of any address.
  explicit DwarfLines(int fd);
  DwarfLines(DwarfLines&&) noexcept;
  DwarfLines& operator=(DwarfLines&&) noexcept;
  ~DwarfLines();

  // The functions whose code is at the address, the one inlined into all others first. Empty where
  // nothing is known.
  std::vector<model::FrameFunction> calls_at(std::uint64_t address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::symbols
