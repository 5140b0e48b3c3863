// Finds where in a file's code a function is called: the instructions that call it, or jump to it,
// directly or through the linker's stubs (.plt). The kernel emulates such an instruction, and the
// arguments are in their registers there: so it is a place for a probe if the function itself has
// no cheap one. A forged unwind table may mislead the reader, so this runs in a child process
// (call_search.h). No state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/symbols/unwind_table.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

struct CallSite {
  std::uint64_t address = 0;
  bool is_jump = false;  // a tail call: the callee returns in place of its caller

  bool operator==(const CallSite&) const = default;
};

struct CallsInFile {
  std::vector<CallSite> sites;  // by address
  bool has_pointers = false;    // the file takes the function's address: such calls are not seen
  bool is_pointed_to = false;   // its file points to it, as for methods and callbacks
};

// `linked`: its symbol in other files. `own`: its address, in its own file.
CallsInFile calls_in(const tracee::ElfFile& file, const symbols::UnwindTable& table,
                     const std::string& linked, std::optional<std::uint64_t> own);

}  // namespace sojourn::coarse
