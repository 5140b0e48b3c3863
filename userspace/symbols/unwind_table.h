// What a file's table for unwinding (.eh_frame) says of its code. Stripped files have it, too: it
// has a row for each function, and one for each part of a function that lies elsewhere. libdw reads
// it, and a forged file may lead that astray: to be used where that harms nobody
// (bounded_child.h). One thread owns one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "userspace/symbols/code_range.h"

namespace sojourn::symbols {

class UnwindTable {
 public:
  // Of an open ELF file; one without a table tells nothing.
  explicit UnwindTable(int fd);
  UnwindTable(UnwindTable&&) noexcept;
  UnwindTable& operator=(UnwindTable&&) noexcept;
  ~UnwindTable();

  // The code that lies together, and that the address is in.
  std::optional<CodeRange> range_at(std::uint64_t address) const;

  // Whether the stack pointer is there another than where the function was entered. Of code that
  // functions begin with it never is. False where it is not known.
  bool has_frame_at(std::uint64_t address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<CodeRange> ranges_;  // by address
};

}  // namespace sojourn::symbols
