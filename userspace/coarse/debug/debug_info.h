// A file's debug information (DWARF) about its functions: the place of an argument at the entry,
// and of its members ("pdu->inner->sn"); and the places where a function was inlined. libdw reads
// it, and a forged file may mislead libdw: so it must be used in a child process (function_search.h
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
  // Reads an open ELF file. Without debug information all answers are empty.
  explicit DebugInfo(int fd);
  DebugInfo(DebugInfo&&) noexcept;
  DebugInfo& operator=(DebugInfo&&) noexcept;
  ~DebugInfo();

  bool is_there() const;

  // `path`: an argument's name, then members ("->a", ".a") and elements ("[2]"). In a clone whose
  // arguments the compiler changed, only values with an exact place in debug information are known.
  Result<ValueStart> find(std::uint64_t function, std::string_view path,
                          bool is_changed_clone) const;

  // The inlined calls of the file, at most `most`.
  std::vector<InlinedCall> inlined_calls(std::size_t most) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::coarse
