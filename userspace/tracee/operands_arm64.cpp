// Operands as arm64's assembler writes them: x0  w1  5  #5  [sp, 16]  [x0, x1, lsl 3]  sym
#include <algorithm>
#include <optional>

#include "userspace/tracee/operand_text.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// Words of struct user_pt_regs: x0 to x30, sp, pc, pstate.
constexpr std::uint8_t kSp = 31;
constexpr std::uint8_t kZero = 0xfe;  // xzr and wzr: not a word at all

struct Arm64Register {
  std::uint8_t word = 0;
  std::uint8_t bytes = 8;
};

std::optional<std::uint64_t> register_number(std::string_view digits) {
  if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] == '0'))
    return std::nullopt;
  return parse_number(digits);
}

std::optional<Arm64Register> find_arm64_register(std::string_view name) {
  if (name == "sp") return Arm64Register{kSp, 8};
  if (name == "wsp") return Arm64Register{kSp, 4};
  if (name == "fp") return Arm64Register{29, 8};
  if (name == "lr") return Arm64Register{30, 8};
  if (name == "xzr") return Arm64Register{kZero, 8};
  if (name == "wzr") return Arm64Register{kZero, 4};
  if (name.empty() || (name[0] != 'x' && name[0] != 'w')) return std::nullopt;
  const auto number = register_number(name.substr(1));
  if (!number || *number > 30) return std::nullopt;
  return Arm64Register{static_cast<std::uint8_t>(*number),
                       static_cast<std::uint8_t>(name[0] == 'x' ? 8 : 4)};
}

bool is_arm64_vector_or_float(std::string_view name) {
  if (name.size() < 2 || std::string_view("vqdshbz").find(name[0]) == std::string_view::npos)
    return false;
  const auto number = register_number(name.substr(1));
  return number && *number < 32;
}

Result<std::uint64_t> parse_constant(OperandText& text) {
  text.take('#');
  SJ_TRY(constant, text.expression());
  return constant.value;
}

// :lo12:sym, the low 12 bits of an address whose page is in the base register.
Result<std::uint64_t> parse_low_12(OperandText& text) {
  const std::size_t start = text.position();
  if (text.take(':') && text.take_word() == "lo12" && text.take(':')) {
    SJ_TRY(address, text.expression());
    return address.value & 0xfffU;
  }
  text.rewind(start);
  return text.error("a relocation that is not understood");
}

// After "[base, xN": the optional ", lsl 3".
Result<std::uint8_t> parse_shift(OperandText& text, std::uint8_t index_bytes) {
  const std::size_t start = text.position();
  if (!text.take_spaced(',')) {
    if (index_bytes == 8) return 0;
    return text.error("an index in 32 bits");
  }
  const std::size_t word_at = text.position();
  const std::string_view word = text.take_word();
  if (word != "lsl" || index_bytes != 8) {
    text.rewind(word == "lsl" ? start : word_at);
    return text.error("an index that is extended (sxtw, uxtw), which cannot be done while tracing");
  }
  text.skip_spaces();
  text.take('#');
  const std::size_t amount_at = text.position();
  const auto amount = parse_number(text.take_word());
  if (amount && *amount <= 4) return static_cast<std::uint8_t>(*amount);
  text.rewind(amount_at);
  return text.error("a shift other than 0 to 4");
}

// After the '['.
Result<void> parse_address(OperandText& text, sj_arg& arg) {
  text.skip_spaces();
  std::size_t start = text.position();
  const auto base = find_arm64_register(text.take_word());
  if (!base || base->bytes != 8 || base->word == kZero) {
    text.rewind(start);
    return text.error("not a register that holds an address");
  }
  arg.kind = SJ_ARG_MEMORY;
  arg.base = base->word;
  if (text.take_spaced(',')) {
    start = text.position();
    const auto index = find_arm64_register(text.take_word());
    if (index && index->word < kSp) {
      SJ_TRY(shift, parse_shift(text, index->bytes));
      arg.index = index->word;
      arg.shift = shift;
    } else {
      text.rewind(start);
      text.take('#');
      SJ_TRY(displacement, text.peek() == ':' ? parse_low_12(text) : parse_constant(text));
      arg.displacement = static_cast<std::int64_t>(displacement);
    }
  }
  text.skip_spaces();
  if (!text.take(']')) return text.error("expected ']'");
  return {};
}

}  // namespace

Result<void> parse_operand_arm64(OperandText& text, sj_arg& arg) {
  if (text.take('[')) return parse_address(text, arg);
  const std::size_t start = text.position();
  const std::string_view word = text.take_word();
  if (is_arm64_vector_or_float(word)) {
    text.rewind(start);
    return text.error("a floating-point or vector register");
  }
  if (const auto found = find_arm64_register(word)) {
    arg.bytes = std::min(arg.bytes, found->bytes);
    if (found->word == kZero) return {};
    arg.kind = SJ_ARG_REG;
    arg.base = found->word;
    return {};
  }
  text.rewind(start);
  SJ_TRY(constant, parse_constant(text));
  arg.kind = SJ_ARG_CONST;
  arg.displacement = static_cast<std::int64_t>(constant);
  return {};
}

}  // namespace sojourn::tracee
