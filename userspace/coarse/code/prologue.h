// Finds the place at a function's beginning where a probe costs least: an instruction that the
// kernel emulates, reached exactly once for each call, with all arguments still where the caller
// put them. An instruction that it cannot emulate costs the target a single step, some ten times as
// much. x86-64; decided from the function's code alone, by decoding. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/coarse/code/kernel_nops.h"

namespace sojourn::coarse {

struct FunctionCode {
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;  // all of it, or its beginning if the end is not known
  bool is_whole = true;
  // Addresses outside of it that code of its own elsewhere jumps to.
  std::vector<std::uint64_t> entered_at = {};
};

struct ProbeSite {
  std::uint64_t offset = 0;      // from the function's address
  std::int64_t stack_bytes = 0;  // the distance of the stack pointer below that at the entry
  bool is_stepped = false;       // executed by a single step
  std::string instruction;       // "push rbp"
};

// Values that a probe needs as the caller left them.
struct SiteNeeds {
  std::uint32_t registers = 0;   // of pt_regs, a bit for each of its words
  bool stack_arguments = false;  // above the return address
  bool return_address = false;   // the memory at the stack pointer
  // A property of the kernel, not a need.
  KernelNops nops = {};
};

// The error says why there is no place.
Result<ProbeSite> find_site(const FunctionCode& code, const SiteNeeds& needs);

// Targets of all direct jumps in the code, as far as it can be decoded; `is_complete` says whether
// all of it could.
std::vector<std::uint64_t> jump_targets(std::span<const std::byte> bytes, std::uint64_t address,
                                        bool& is_complete);

}  // namespace sojourn::coarse
