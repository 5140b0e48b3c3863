#include "userspace/coarse/code/exits.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "userspace/coarse/code/instruction_decoder.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxExits = 256;
constexpr std::size_t kLookedBack = 8;  // instructions before an indirect jump

bool writes(const Instruction& one, ZydisRegister whole) {
  return std::ranges::any_of(one.operands(), [&](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == whole;
  });
}

bool is_element_of_table(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.index != ZYDIS_REGISTER_NONE &&
         operand.mem.scale >= 4;
}

// The purpose of an indirect jump.
enum class Jump : std::uint8_t {
  kWithin,   // to a case of a switch
  kOut,      // a call through a pointer, with which the function ends
  kUnknown,  // either
};

class Search {
 public:
  Search(const FunctionCode& code, std::span<const FunctionCode> pieces)
      : code_(code), pieces_(pieces) {}

  Result<std::vector<Exit>> run() {
    SJ_CHECK(look_through(code_));
    for (const FunctionCode& piece : pieces_) SJ_CHECK(look_through(piece));
    if (exits_.empty()) return fail("it has no end that is seen: does it never return?");
    if (exits_.size() > kMaxExits)
      return fail("it is left at {} places: at most {} can have probes", exits_.size(), kMaxExits);
    return std::move(exits_);
  }

 private:
  Result<void> look_through(const FunctionCode& code) {
    if (!code.is_whole)
      return fail("the end of its code is not known, so its exits are not known either");
    before_count_ = 0;
    for (std::size_t at = 0; at < code.bytes.size();) {
      const auto rest = code.bytes.subspan(at);
      const std::uint64_t address = code.address + at;
      const auto one = decoder_.decode(rest);
      if (!one)
        return fail("the code at {} cannot be decoded, so its exits are not known", place(address));
      SJ_CHECK(judge(*one, rest, address));
      const bool is_end_of_block = one->is_jump() || one->what.meta.category == ZYDIS_CATEGORY_RET;
      if (is_end_of_block)
        before_count_ = 0;
      else
        before_[before_count_++ % kLookedBack] = *one;
      at += one->what.length;
    }
    return {};
  }

  Result<void> judge(const Instruction& one, std::span<const std::byte> bytes,
                     std::uint64_t address) {
    if (one.what.meta.category == ZYDIS_CATEGORY_RET) {
      if (one.what.mnemonic != ZYDIS_MNEMONIC_RET ||
          one.what.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return fail("'{}' at {} is no plain return", decoder_.text(one, address), place(address));
      add(one, bytes, address);
      return {};
    }
    if (!one.is_jump()) return {};
    const auto target = one.jumps_to(address);
    if (!target) return judge_indirect(one, bytes, address);
    if (*target == code_.address)
      return fail("'{}' at {} jumps back to its beginning, which is no call",
                  decoder_.text(one, address), place(address));
    if (is_own(*target)) return {};
    if (one.what.meta.category == ZYDIS_CATEGORY_COND_BR)
      return fail("'{}' at {} may be an exit, and a probe there cannot see whether it is one",
                  decoder_.text(one, address), place(address));
    add(one, bytes, address);
    return {};
  }

  Result<void> judge_indirect(const Instruction& one, std::span<const std::byte> bytes,
                              std::uint64_t address) {
    switch (purpose(one)) {
      case Jump::kWithin:
        return {};
      case Jump::kOut:
        add(one, bytes, address);
        return {};
      case Jump::kUnknown:
        break;
    }
    return fail("'{}' at {} may be a switch or the function's end", decoder_.text(one, address),
                place(address));
  }

  // Compilers look a case's address up in a table right before they jump there. A call through a
  // pointer uses no indexed table.
  Jump purpose(const Instruction& jump) const {
    if ((jump.what.attributes & ZYDIS_ATTRIB_HAS_NOTRACK) != 0) return Jump::kWithin;
    const auto shown = jump.visible();
    if (shown.empty()) return Jump::kUnknown;
    if (shown[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
      return shown[0].mem.index == ZYDIS_REGISTER_NONE ? Jump::kOut : Jump::kWithin;
    if (shown[0].type != ZYDIS_OPERAND_TYPE_REGISTER) return Jump::kUnknown;
    const ZydisRegister where =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, shown[0].reg.value);
    for (std::size_t back = 1; back <= std::min(before_count_, kLookedBack); ++back) {
      const Instruction& one = before_.at((before_count_ - back) % kLookedBack);
      if (!writes(one, where)) continue;
      if (one.what.mnemonic == ZYDIS_MNEMONIC_ADD) return Jump::kWithin;
      if (one.what.mnemonic != ZYDIS_MNEMONIC_MOV && one.what.mnemonic != ZYDIS_MNEMONIC_MOVSXD)
        return Jump::kUnknown;
      return is_element_of_table(one.visible()[1]) ? Jump::kWithin : Jump::kOut;
    }
    // A switch loads from its table nearer to the jump, and in the same block.
    return Jump::kOut;
  }

  void add(const Instruction& one, std::span<const std::byte> bytes, std::uint64_t address) {
    exits_.push_back({.address = address,
                      .is_return = one.what.meta.category == ZYDIS_CATEGORY_RET,
                      .is_stepped = !is_emulated(bytes),
                      .instruction = decoder_.text(one, address)});
  }

  bool is_own(std::uint64_t address) const {
    const auto holds = [&](const FunctionCode& code) {
      return address >= code.address && address - code.address < code.bytes.size();
    };
    return holds(code_) || std::ranges::any_of(pieces_, holds);
  }

  std::string place(std::uint64_t address) const {
    return address >= code_.address && address - code_.address < code_.bytes.size()
               ? fmt::format("+{:#x}", address - code_.address)
               : fmt::format("{:#x}", address);
  }

  const FunctionCode& code_;
  std::span<const FunctionCode> pieces_;
  InstructionDecoder decoder_;
  std::vector<Exit> exits_;
  std::array<Instruction, kLookedBack> before_{};  // of the same block; the latest of them
  std::size_t before_count_ = 0;
};

}  // namespace

Result<std::vector<Exit>> find_exits(const FunctionCode& code,
                                     std::span<const FunctionCode> pieces) {
  return Search(code, pieces).run();
}

}  // namespace sojourn::coarse
