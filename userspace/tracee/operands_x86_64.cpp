// Operands in AT&T syntax: $5  %eax  8(%rsp)  (%rax,%rbx,4)  sym+8(%rip)
#include <algorithm>
#include <array>
#include <optional>

#include "userspace/tracee/operand_text.h"

namespace sojourn::tracee {

namespace {

// One row a register, in the order of the kernel's struct pt_regs on x86-64: its names by width.
struct Names {
  std::string_view of_8, of_4, of_2, of_1, high_byte;
};
constexpr std::array<Names, 21> kRegisters = {{
    {"r15", "r15d", "r15w", "r15b", ""},
    {"r14", "r14d", "r14w", "r14b", ""},
    {"r13", "r13d", "r13w", "r13b", ""},
    {"r12", "r12d", "r12w", "r12b", ""},
    {"rbp", "ebp", "bp", "bpl", ""},
    {"rbx", "ebx", "bx", "bl", "bh"},
    {"r11", "r11d", "r11w", "r11b", ""},
    {"r10", "r10d", "r10w", "r10b", ""},
    {"r9", "r9d", "r9w", "r9b", ""},
    {"r8", "r8d", "r8w", "r8b", ""},
    {"rax", "eax", "ax", "al", "ah"},
    {"rcx", "ecx", "cx", "cl", "ch"},
    {"rdx", "edx", "dx", "dl", "dh"},
    {"rsi", "esi", "si", "sil", ""},
    {"rdi", "edi", "di", "dil", ""},
    {"", "", "", "", ""},  // orig_ax: the kernel's own
    {"rip", "eip", "", "", ""},
    {"", "", "", "", ""},  // cs
    {"", "", "", "", ""},  // flags
    {"rsp", "esp", "sp", "spl", ""},
    {"", "", "", "", ""},  // ss
}};
constexpr std::uint8_t kRip = 16;
constexpr std::uint8_t kRsp = 19;

struct Register {
  std::uint8_t word = 0;
  std::uint8_t bytes = 0;
  std::uint8_t low_bit = 0;
};

std::optional<Register> find_register(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (std::size_t row = 0; row < kRegisters.size(); ++row) {
    const Names& names = kRegisters[row];
    const auto word = static_cast<std::uint8_t>(row);
    if (name == names.of_8) return Register{word, 8, 0};
    if (name == names.of_4) return Register{word, 4, 0};
    if (name == names.of_2) return Register{word, 2, 0};
    if (name == names.of_1) return Register{word, 1, 0};
    if (name == names.high_byte) return Register{word, 1, 8};
  }
  return std::nullopt;
}

bool is_vector_or_float(std::string_view name) {
  return std::ranges::any_of(std::array<std::string_view, 5>{"xmm", "ymm", "zmm", "mm", "st"},
                             [&](std::string_view kind) { return name.starts_with(kind); }) ||
         (name.size() == 2 && name[0] == 'k' && name[1] >= '0' && name[1] <= '7');
}

bool is_segment(std::string_view name) {
  return name.size() == 2 && name[1] == 's' &&
         std::string_view("cdefgs").find(name[0]) != std::string_view::npos;
}

// After the '%'.
Result<Register> parse_register(OperandText& text) {
  const std::size_t start = text.position();
  const std::string_view name = text.take_word();
  if (const auto found = find_register(name)) return *found;
  text.rewind(start);
  if (is_vector_or_float(name)) return text.error("a floating-point or vector register");
  if (is_segment(name))
    return text.error("relative to a segment register, as thread-local variables are");
  return text.error("not a register of x86-64");
}

// A base or index register, whole.
Result<std::uint8_t> parse_address_register(OperandText& text) {
  if (!text.take('%')) return text.error("expected a register");
  const std::size_t start = text.position();
  SJ_TRY(found, parse_register(text));
  if (found.bytes == 8) return found.word;
  text.rewind(start);
  return text.error("an address in less than 64 bits");
}

Result<std::uint8_t> parse_scale(OperandText& text) {
  const std::size_t start = text.position();
  const std::string_view scale = text.take_word();
  constexpr std::array<std::string_view, 4> kScales = {"1", "2", "4", "8"};
  const auto found = std::ranges::find(kScales, scale);
  if (found != kScales.end()) return static_cast<std::uint8_t>(found - kScales.begin());
  text.rewind(start);
  return text.error("a scale other than 1, 2, 4 or 8");
}

// After the '(': %base,%index,scale)
Result<void> parse_address(OperandText& text, bool has_symbol, sj_arg& arg) {
  text.skip_spaces();
  if (text.peek() == '%') {
    const std::size_t start = text.position();
    SJ_TRY(base, parse_address_register(text));
    arg.base = base;
    if (base == kRip) {
      text.rewind(start);
      // A symbol's address is absolute already; an offset alone would be relative to an unknown
      // address.
      if (!has_symbol) return text.error("relative to the instruction pointer without a symbol");
      text.take('%');
      text.take_word();
      arg.base = SJ_NO_REG;
      if (!text.take_spaced(')')) return text.error("expected ')'");
      return {};
    }
  }
  if (text.take_spaced(',')) {
    if (text.peek() == '%') {
      const std::size_t start = text.position();
      SJ_TRY(index, parse_address_register(text));
      if (index == kRip || index == kRsp) {
        text.rewind(start);
        return text.error("a register that cannot be an index");
      }
      arg.index = index;
    }
    if (text.take_spaced(',')) {
      SJ_TRY(shift, parse_scale(text));
      arg.shift = shift;
    }
  }
  text.skip_spaces();
  if (!text.take(')')) return text.error("expected ')'");
  if (arg.base == SJ_NO_REG && arg.index == SJ_NO_REG)
    return text.error("an address without a register");
  return {};
}

}  // namespace

Result<void> parse_operand_x86_64(OperandText& text, sj_arg& arg) {
  if (text.take('$')) {
    SJ_TRY(constant, text.expression());
    arg.kind = SJ_ARG_CONST;
    arg.displacement = static_cast<std::int64_t>(constant.value);
    return {};
  }
  if (text.take('%')) {
    SJ_TRY(found, parse_register(text));
    arg.kind = SJ_ARG_REG;
    arg.base = found.word;
    arg.low_bit = found.low_bit;
    arg.bytes = std::min(arg.bytes, found.bytes);
    return {};
  }
  arg.kind = SJ_ARG_MEMORY;
  bool has_symbol = false;
  if (text.peek() != '(') {
    const std::size_t start = text.position();
    SJ_TRY(displacement, text.expression());
    arg.displacement = static_cast<std::int64_t>(displacement.value);
    has_symbol = displacement.has_symbol;
    if (text.peek() != '(') {
      if (has_symbol) return {};
      text.rewind(start);
      return text.error("a bare number: neither a constant ($) nor in a register (%)");
    }
  }
  text.take('(');
  return parse_address(text, has_symbol, arg);
}

}  // namespace sojourn::tracee
