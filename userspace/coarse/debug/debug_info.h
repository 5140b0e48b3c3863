// What a file's debug information (DWARF) knows of its functions: where an argument is at the
// entry, and what of it lies where ("pdu->inner->sn"); where a function was inlined. libdw reads
// it, and a forged file may lead that astray: to be used where that harms nobody (function_search.h
// does). One thread owns a DebugInfo.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/coarse/debug/variable.h"

namespace sojourn::coarse {

struct InlinedCall {
  std::string linked;  // the function that was inlined
  std::string into;
};

class DebugInfo {
 public:
  // Of an open ELF file; one without debug information knows nothing.
  explicit DebugInfo(int fd);
  DebugInfo(DebugInfo&&) noexcept;
  DebugInfo& operator=(DebugInfo&&) noexcept;
  ~DebugInfo();

  bool is_there() const;

  // `path`: an argument's name, then members ("->a", ".a") and elements ("[2]"). Of a clone whose
  // arguments the compiler changed only what debug information places exactly is known.
  Result<ValueStart> find(std::uint64_t function, std::string_view path,
                          bool is_changed_clone) const;

  // All of the file, as far as `most` of them.
  std::vector<InlinedCall> inlined_calls(std::size_t most) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::coarse
