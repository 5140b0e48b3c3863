#include "userspace/coarse/code/instruction_decoder.h"

namespace sojourn::coarse {

namespace {

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return at < bytes.size() ? std::to_integer<std::uint8_t>(bytes[at]) : std::uint8_t{0};
}

template <std::size_t N>
bool begin_with(std::span<const std::byte> bytes, const std::array<std::uint8_t, N>& form) {
  if (bytes.size() < N) return false;
  for (std::size_t at = 0; at < N; ++at)
    if (byte_at(bytes, at) != form.at(at)) return false;
  return true;
}

// The kernel's own forms (x86_nops in arch/x86/kernel/alternative.c): up to seven bytes they are
// clang's as well. That of five bytes is not among them, as kernels make calls of it.
bool is_long_nop(std::span<const std::byte> bytes) {
  return begin_with<3>(bytes, {0x0f, 0x1f, 0x00}) || begin_with<4>(bytes, {0x0f, 0x1f, 0x40, 0}) ||
         begin_with<6>(bytes, {0x66, 0x0f, 0x1f, 0x44, 0, 0}) ||
         begin_with<7>(bytes, {0x0f, 0x1f, 0x80, 0, 0, 0, 0}) ||
         begin_with<8>(bytes, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0});
}

// Kernels make calls of these two, in the form that compilers leave at an entry.
bool is_five_byte_nop(std::span<const std::byte> bytes) {
  return begin_with<5>(bytes, {0x0f, 0x1f, 0x44, 0, 0});
}
bool is_ten_byte_nop(std::span<const std::byte> bytes) {
  return begin_with<10>(bytes, {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0});
}

}  // namespace

std::optional<std::uint64_t> Instruction::jumps_to(std::uint64_t address) const {
  const auto shown = visible();
  if (!is_jump() || shown.empty() || shown[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
      shown[0].imm.is_relative == 0)
    return std::nullopt;
  return address + what.length + static_cast<std::uint64_t>(shown[0].imm.value.s);
}

InstructionDecoder::InstructionDecoder() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisFormatterInit(&formatter_, ZYDIS_FORMATTER_STYLE_INTEL);
}

std::optional<Instruction> InstructionDecoder::decode(std::span<const std::byte> bytes) const {
  Instruction one{};
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), &one.what,
                                           one.operand.data())))
    return std::nullopt;
  return one;
}

std::string InstructionDecoder::text(const Instruction& one, std::uint64_t address) const {
  std::array<char, 128> text{};
  if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter_, &one.what, one.operand.data(),
                                                    one.what.operand_count_visible, text.data(),
                                                    text.size(), address, nullptr)))
    return "?";
  return text.data();
}

// Returns whether the kernel emulates the instruction. It emulates those of push_setup_xol_ops and
// branch_setup_xol_ops (arch/x86/kernel/uprobes.c) without a prefix, and the nop of two bytes.
// Older kernels step over longer nops.
bool is_emulated(std::span<const std::byte> bytes, const KernelNops& nops) {
  if (nops.emulates_long && is_long_nop(bytes)) return true;
  if (nops.takes_five && is_five_byte_nop(bytes)) return true;
  if (nops.takes_ten && is_ten_byte_nop(bytes)) return true;
  const std::uint8_t first = byte_at(bytes, 0);
  const std::uint8_t second = byte_at(bytes, 1);
  const auto is_push = [](std::uint8_t opcode) { return opcode >= 0x50 && opcode <= 0x57; };
  constexpr std::uint8_t kRexB = 0x41;
  if (is_push(first) || (first == kRexB && is_push(second))) return true;
  if (first == 0x66 && second == 0x90) return true;  // clang's
  if (first == 0x90 || first == 0xe8 || first == 0xe9 || first == 0xeb)
    return true;                                    // nop call jmp
  if (first >= 0x70 && first <= 0x7f) return true;  // jcc
  return first == 0x0f && second >= 0x80 && second <= 0x8f;
}

}  // namespace sojourn::coarse
