#include "userspace/coarse/code/prologue.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "userspace/coarse/code/instruction_decoder.h"

namespace sojourn::coarse {

namespace {

constexpr unsigned kMaxPassed = 32;  // instructions before the site

// Returns whether a probe on the nop is harmless on every kernel. Kernels from 6.18 on replace a
// nop of five bytes by a call, which harms red zones and forked children; later ones also do that
// with ten bytes. KernelNops covers those two. Longer nops have prefixes that no kernel accepts.
bool is_harmless_nop(const Instruction& one) {
  return one.what.length < 10 && one.what.length != 5;
}

// Returns whether the kernel is known to single-step the instruction: a plain one of the kinds with
// which functions begin, without a segment or a lock, in the old encodings.
bool can_be_stepped(const Instruction& one) {
  constexpr ZydisInstructionAttributes kOdd =
      ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
      ZYDIS_ATTRIB_HAS_REPNE | ZYDIS_ATTRIB_HAS_SEGMENT | ZYDIS_ATTRIB_IS_PRIVILEGED |
      ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE;
  if (one.what.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || (one.what.attributes & kOdd) != 0)
    return false;
  switch (one.what.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_XOR:
      return true;
    case ZYDIS_MNEMONIC_NOP:
      return is_harmless_nop(one);
    default:
      return false;
  }
}

bool is_end_of_straight_line(const Instruction& one) {
  switch (one.what.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
      return true;
    default:
      return false;
  }
}

// Returns the kernel's number of the word in pt_regs.
std::optional<std::uint8_t> register_word(ZydisRegister which) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, which);
  constexpr std::array<std::pair<ZydisRegister, std::uint8_t>, 16> kWords = {
      {{ZYDIS_REGISTER_R15, 0},
       {ZYDIS_REGISTER_R14, 1},
       {ZYDIS_REGISTER_R13, 2},
       {ZYDIS_REGISTER_R12, 3},
       {ZYDIS_REGISTER_RBP, 4},
       {ZYDIS_REGISTER_RBX, 5},
       {ZYDIS_REGISTER_R11, 6},
       {ZYDIS_REGISTER_R10, 7},
       {ZYDIS_REGISTER_R9, 8},
       {ZYDIS_REGISTER_R8, 9},
       {ZYDIS_REGISTER_RAX, 10},
       {ZYDIS_REGISTER_RCX, 11},
       {ZYDIS_REGISTER_RDX, 12},
       {ZYDIS_REGISTER_RSI, 13},
       {ZYDIS_REGISTER_RDI, 14},
       {ZYDIS_REGISTER_RSP, 19}}};
  const auto* const found = std::ranges::find(kWords, whole, &decltype(kWords)::value_type::first);
  return found == kWords.end() ? std::nullopt : std::optional(found->second);
}

// Returns the number of bytes by which the instruction lowers the stack pointer, if it does nothing
// else to it.
std::optional<std::int64_t> stack_taken(const Instruction& one) {
  const auto visible = one.visible();
  if (visible.size() != 2 || visible[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
      visible[0].reg.value != ZYDIS_REGISTER_RSP)
    return std::nullopt;
  const ZydisDecodedOperand& by = visible[1];
  if (by.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && one.what.mnemonic == ZYDIS_MNEMONIC_SUB)
    return by.imm.value.s;
  if (by.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && one.what.mnemonic == ZYDIS_MNEMONIC_ADD)
    return -by.imm.value.s;
  if (one.what.mnemonic == ZYDIS_MNEMONIC_LEA && by.type == ZYDIS_OPERAND_TYPE_MEMORY &&
      by.mem.base == ZYDIS_REGISTER_RSP && by.mem.index == ZYDIS_REGISTER_NONE)
    return -by.mem.disp.value;
  return std::nullopt;
}

class Walk {
 public:
  Walk(const FunctionCode& code, const SiteNeeds& needs) : code_(code), needs_(needs) {}

  Result<ProbeSite> site() {
    bool is_complete = false;
    targets_ = jump_targets(code_.bytes, code_.address, is_complete);
    targets_.insert(targets_.end(), code_.entered_at.begin(), code_.entered_at.end());
    is_known_ = is_complete && code_.is_whole;
    std::optional<ProbeSite> slow;
    for (unsigned passed = 0; passed < kMaxPassed; ++passed) {
      const auto rest = code_.bytes.subspan(at_);
      const auto one = decoder_.decode(rest);
      if (!one) {
        why_ = fmt::format("the code at +{:#x} cannot be decoded", at_);
        break;
      }
      ProbeSite here{.offset = at_,
                     .stack_bytes = stack_bytes_,
                     .is_stepped = false,
                     .instruction = decoder_.text(*one, code_.address + at_)};
      if (is_emulated(rest, needs_.nops)) return here;
      if (!slow && can_be_stepped(*one)) {
        slow = here;
        slow->is_stepped = true;
      }
      if (!pass(*one, here.instruction)) break;
    }
    if (slow) return *slow;
    return fail("no place for a probe: {}",
                why_.empty() ? fmt::format("none in its first {} instructions", kMaxPassed) : why_);
  }

 private:
  bool stop(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Returns whether the instruction changes no value that an expression may need.
  bool pass(const Instruction& one, const std::string& text) {
    if (is_end_of_straight_line(one)) return stop(fmt::format("'{}' at +{:#x}", text, at_));
    const std::optional<std::int64_t> taken = stack_taken(one);
    if (needs_.return_address && taken)
      return stop(fmt::format("'{}' at +{:#x} moves the stack", text, at_));
    for (const ZydisDecodedOperand& operand : one.operands()) {
      if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) continue;
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && !is_own_frame(operand))
        return stop(fmt::format("'{}' at +{:#x} writes to memory", text, at_));
      if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
      const auto word = register_word(operand.reg.value);
      if (operand.reg.value == ZYDIS_REGISTER_RSP && !taken)
        return stop(fmt::format("'{}' at +{:#x} moves the stack", text, at_));
      if (operand.reg.value != ZYDIS_REGISTER_RSP && word && (needs_.registers >> *word & 1) != 0)
        return stop(fmt::format("'{}' at +{:#x} writes over an argument", text, at_));
    }
    stack_bytes_ += taken.value_or(0);
    const bool is_mark = one.what.mnemonic == ZYDIS_MNEMONIC_ENDBR64 && at_ == 0;
    at_ += one.what.length;
    // Code that jumps here did not call the function.
    if (std::ranges::find(targets_, code_.address + at_) != targets_.end())
      return stop(fmt::format("the code jumps back to +{:#x}", at_));
    if (!is_known_ && !is_mark)
      return stop("the end of the function is not known, so jumps into it are not known either");
    return true;
  }

  bool is_own_frame(const ZydisDecodedOperand& operand) const {
    const auto& memory = operand.mem;
    return memory.base == ZYDIS_REGISTER_RSP && memory.index == ZYDIS_REGISTER_NONE &&
           (!needs_.stack_arguments || memory.disp.value + operand.size / 8 <= stack_bytes_);
  }

  const FunctionCode& code_;
  const SiteNeeds& needs_;
  InstructionDecoder decoder_;
  std::vector<std::uint64_t> targets_;
  bool is_known_ = false;
  std::size_t at_ = 0;
  std::int64_t stack_bytes_ = 0;
  std::string why_;
};

}  // namespace

std::vector<std::uint64_t> jump_targets(std::span<const std::byte> bytes, std::uint64_t address,
                                        bool& is_complete) {
  const InstructionDecoder decoder;
  std::vector<std::uint64_t> targets;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto one = decoder.decode(bytes.subspan(at));
    if (!one) {
      is_complete = false;
      return targets;
    }
    if (const auto target = one->jumps_to(address + at)) targets.push_back(*target);
    at += one->what.length;
  }
  is_complete = true;
  return targets;
}

Result<ProbeSite> find_site(const FunctionCode& code, const SiteNeeds& needs) {
  return Walk(code, needs).site();
}

}  // namespace sojourn::coarse
