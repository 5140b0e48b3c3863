// A file's unwind table (.eh_frame), which stripped files have as well. It has a row for each
// function, and one for each part of a function that lies elsewhere. libdw reads it, and a forged
// file may mislead libdw: so it is to be used in a bounded child (bounded_child.h). One thread owns
// one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "userspace/symbols/code_range.h"

namespace sojourn::symbols {

class UnwindTable {
 public:
  // Reads an open ELF file. Without a table all answers are empty.
  explicit UnwindTable(int fd);
  UnwindTable(UnwindTable&&) noexcept;
  UnwindTable& operator=(UnwindTable&&) noexcept;
  ~UnwindTable();

  // The contiguous code that contains the address.
  std::optional<CodeRange> range_at(std::uint64_t address) const;

  // Returns whether the stack pointer differs from that at the function's entry. It never does at
  // the first instruction of a function. False if it is not known.
  bool has_frame_at(std::uint64_t address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<CodeRange> ranges_;  // by address
};

}  // namespace sojourn::symbols
