// Machine code of x86-64, one instruction after the other, by Zydis; and which instructions the
// kernel emulates under a probe instead of stepping over them. Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <Zydis/Zydis.h>

#include "userspace/coarse/code/kernel_nops.h"

namespace sojourn::coarse {

struct Instruction {
  ZydisDecodedInstruction what;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operand;

  std::span<const ZydisDecodedOperand> operands() const {
    return std::span(operand).first(what.operand_count);
  }
  std::span<const ZydisDecodedOperand> visible() const {
    return std::span(operand).first(what.operand_count_visible);
  }

  bool is_jump() const {
    return what.meta.category == ZYDIS_CATEGORY_COND_BR ||
           what.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  }
  // The target of a direct jump at `address`.
  std::optional<std::uint64_t> jumps_to(std::uint64_t address) const;
};

class InstructionDecoder {
 public:
  InstructionDecoder();

  // Nothing if the bytes do not begin with an instruction.
  std::optional<Instruction> decode(std::span<const std::byte> bytes) const;

  // "push rbp"
  std::string text(const Instruction& one, std::uint64_t address) const;

 private:
  ZydisDecoder decoder_;
  ZydisFormatter formatter_;
};

// Returns whether the first instruction needs no single step: on every kernel, or, for a nop, on
// this one. Others may be stepped over.
bool is_emulated(std::span<const std::byte> bytes, const KernelNops& nops = {});

}  // namespace sojourn::coarse
