#include "userspace/coarse/code/thunk_code.h"

#include <span>
#include <vector>

#include <elf.h>

#include "userspace/coarse/code/instruction_decoder.h"

namespace sojourn::coarse {

namespace {

constexpr std::uint64_t kMaxThunkCode = 1 << 20;

}  // namespace

bool leads_to(const tracee::ElfFile& file, symbols::CodeRange thunk, std::uint64_t method) {
  // Some thunks lie right before the method and run on into it.
  if (thunk.bytes == 0 || thunk.bytes > kMaxThunkCode || thunk.address + thunk.bytes == method)
    return true;
  const auto offset = file.file_offset(thunk.address, thunk.bytes, PF_X);
  std::vector<std::byte> bytes(thunk.bytes);
  if (!offset || !file.read(*offset, bytes)) return true;
  const InstructionDecoder decoder;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto one = decoder.decode(std::span(bytes).subspan(at));
    if (!one) return true;
    // A covariant thunk calls the method, and adjusts the pointer that it returns.
    if (one->is_jump() || one->what.meta.category == ZYDIS_CATEGORY_CALL) {
      const auto visible = one->visible();
      const bool is_direct = !visible.empty() && visible[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                             visible[0].imm.is_relative != 0;
      const std::uint64_t next = thunk.address + at + one->what.length;
      if (is_direct && next + static_cast<std::uint64_t>(visible[0].imm.value.s) == method)
        return true;
      // An indirect jump, as into other libraries: its target is not known.
      if (!is_direct && one->is_jump()) return true;
    }
    at += one->what.length;
  }
  return false;
}

}  // namespace sojourn::coarse
