#include "userspace/tracee/operands.h"

#include <algorithm>
#include <charconv>

#include "userspace/tracee/operand_text.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool is_word(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'z') ||
         (character >= 'A' && character <= 'Z') || character == '_';
}

// Assemblers allow more in quotes; compilers do not use that for C and C++ names.
bool is_symbol(char character) {
  return is_word(character) || character == '.' || character == '$';
}

}  // namespace

std::string_view OperandText::take_word() {
  const std::size_t start = at_;
  while (is_word(peek())) ++at_;
  return text_.substr(start, at_ - start);
}

std::unexpected<Error> OperandText::error(std::string_view why) const {
  std::size_t end = operand_;
  for (int depth = 0; end < text_.size() && (depth > 0 || text_[end] != ' '); ++end) {
    if (text_[end] == '(' || text_[end] == '[') ++depth;
    if (text_[end] == ')' || text_[end] == ']') --depth;
  }
  constexpr std::size_t kShown = 100;
  end = std::min(end, operand_ + kShown);
  return fail("operand '{}', column {}: {}", printable(text_.substr(operand_, end - operand_)),
              at_ - operand_ + 1, why);
}

Result<std::uint64_t> OperandText::number() {
  const bool hexadecimal =
      text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
  const std::size_t digits = at_ + (hexadecimal ? 2 : 0);
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text_.data() + digits, text_.data() + text_.size(),
                                            value, hexadecimal ? 16 : 10);
  if (code == std::errc::result_out_of_range) return error("a number beyond 64 bits");
  if (code != std::errc()) return error("not a number");
  at_ = static_cast<std::size_t>(stop - text_.data());
  if (is_symbol(peek())) return error("not a number");
  return value;
}

Result<std::uint64_t> OperandText::symbol() {
  const std::size_t start = at_;
  while (is_symbol(peek())) ++at_;
  const std::string_view name = text_.substr(start, at_ - start);
  if (peek() == '@') return error("an address that the dynamic linker keeps in a table");
  auto address = symbols_(name);
  if (address) return *address;
  at_ = start;
  return error(address.error().text());
}

Result<OperandText::Expression> OperandText::expression() {
  Expression sum;
  while (true) {
    bool negative = false;
    while (peek() == '-' || peek() == '+') negative ^= text_[at_++] == '-';
    if (is_digit(peek())) {
      SJ_TRY(value, number());
      sum.value += negative ? 0 - value : value;
    } else if (is_symbol(peek())) {
      if (sum.has_symbol || negative) return error("a difference or sum of symbols");
      SJ_TRY(address, symbol());
      sum.value += address;
      sum.has_symbol = true;
    } else {
      return error("neither a number nor a symbol");
    }
    if (peek() != '+' && peek() != '-') return sum;
  }
}

namespace {

struct Width {
  std::uint8_t bytes = 0;
  bool is_signed = false;
};

// "-4@"
Result<Width> parse_width(OperandText& text) {
  const bool is_signed = text.take('-');
  const std::size_t start = text.position();
  const std::string_view word = text.take_word();
  if (text.peek() != '@') return text.error("does not begin with a width, as in 8@");
  text.rewind(start);
  if (word.ends_with('f')) return text.error("a floating-point value");
  if (word != "1" && word != "2" && word != "4" && word != "8")
    return text.error("not 1, 2, 4 or 8 bytes wide");
  text.take_word();
  text.take('@');
  return Width{static_cast<std::uint8_t>(word[0] - '0'), is_signed};
}

// A constant as the BPF programs push it: cut to its width, extended to 64 bits by its sign.
std::int64_t extend(std::int64_t value, std::uint8_t bytes, bool is_signed) {
  const unsigned spare = 64U - 8U * bytes;
  const auto shifted = static_cast<std::uint64_t>(value) << spare;
  return is_signed ? static_cast<std::int64_t>(shifted) >> spare
                   : static_cast<std::int64_t>(shifted >> spare);
}

}  // namespace

Result<std::vector<sj_arg>> parse_operands(std::string_view words, Machine machine,
                                           const SymbolLookup& symbols) {
  OperandText text(words, symbols);
  std::vector<sj_arg> args;
  for (text.skip_spaces(); !text.at_end(); text.skip_spaces()) {
    text.begin_operand();
    if (args.size() == SJ_MAX_ARGS)
      return text.error(fmt::format("more than {} arguments", SJ_MAX_ARGS));
    SJ_TRY(width, parse_width(text));
    sj_arg arg{.displacement = 0,
               .kind = SJ_ARG_CONST,
               .base = SJ_NO_REG,
               .index = SJ_NO_REG,
               .shift = 0,
               .bytes = width.bytes,
               .is_signed = width.is_signed,
               .low_bit = 0,
               .number = 0};
    SJ_CHECK(machine == Machine::kX86_64 ? parse_operand_x86_64(text, arg)
                                         : parse_operand_arm64(text, arg));
    if (!text.at_end() && text.peek() != ' ' && text.peek() != '\t')
      return text.error("not understood from here on");
    if (arg.kind == SJ_ARG_CONST)
      arg.displacement = extend(arg.displacement, arg.bytes, width.is_signed);
    args.push_back(arg);
  }
  return args;
}

}  // namespace sojourn::tracee
