#include "userspace/coarse/map/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analysis/base/letters.h"
#include "analysis/language/tokenizer.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxVariable = 256;
constexpr unsigned kMaxDepth = 32;  // parentheses and stars, one in the other

using language::Token;

using Failure = std::unexpected<ExpressionError>;

constexpr std::array<std::string_view, 9> kSymbols = {"->", "(", ")", "*", "+", "-", ".", "[", "]"};
constexpr language::Grammar kGrammar = {
    .is_word = [](char c) { return is_digit(c) || is_letter(c) || c == '_'; }, .symbols = kSymbols};

// u32, or a pointer to it: `stars` of them.
struct Type {
  std::uint8_t bytes = 8;
  bool is_signed = false;
  unsigned stars = 0;
  bool is_open = false;  // its width is the variable's
};

std::optional<Type> integer_type(std::string_view word) {
  for (const unsigned bits : {8U, 16U, 32U, 64U}) {
    const auto bytes = static_cast<std::uint8_t>(bits / 8);
    if (word == fmt::format("u{}", bits) || word == fmt::format("uint{}_t", bits))
      return Type{.bytes = bytes, .is_signed = false};
    if (word == fmt::format("s{}", bits) || word == fmt::format("i{}", bits) ||
        word == fmt::format("int{}_t", bits))
      return Type{.bytes = bytes, .is_signed = true};
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text)
      : tokenizer_(language::SourceText(text), kGrammar), token_(*tokenizer_.next()) {}

  std::expected<Expression, ExpressionError> parse() {
    auto type = sum();
    if (!type) return std::unexpected(std::move(type).error());
    if (token_.kind != Token::Kind::kEnd) return error("not understood from here on");
    result_.is_as_declared = type->is_open;
    result_.bytes = type->stars != 0 ? std::uint8_t{8} : type->bytes;
    result_.is_signed = type->stars == 0 && type->is_signed;
    return std::move(result_);
  }

 private:
  using Typed = std::expected<Type, ExpressionError>;

  // An error at the current token.
  Failure error(std::string what) const { return error_at(token_.at.begin, std::move(what)); }
  static Failure error_at(std::size_t at, std::string what) {
    return Failure(ExpressionError{at, std::move(what)});
  }

  // Returns the current token and reads the next one. That cannot fail, as only string literals and
  // comments could, which the grammar does not have.
  Token advance() { return std::exchange(token_, *tokenizer_.next()); }
  bool take(std::string_view symbol) {
    const bool is_here = token_.is(symbol);
    if (is_here) advance();
    return is_here;
  }
  bool is_name() const {
    return token_.kind == Token::Kind::kWord && !is_digit(token_.spelling.front());
  }

  std::expected<std::int64_t, ExpressionError> number() {
    const std::string_view digits =
        token_.kind == Token::Kind::kWord ? token_.spelling : std::string_view();
    const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    std::int64_t value = 0;
    const char* const first = digits.data() + (is_hexadecimal ? 2 : 0);
    const char* const last = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(first, last, value, is_hexadecimal ? 16 : 10);
    if (first == last || code == std::errc::invalid_argument || stop != last)
      return error("expected a number, such as 8 or 0x48");
    if (code != std::errc()) return error("a number beyond 63 bits");
    advance();
    return value;
  }

  // unary { ('+' | '-') number }
  Typed sum() {
    auto type = unary();
    while (type && (token_.is("-") || token_.is("+"))) {
      if (type->stars != 0)
        return error(
            "C would count in the pointer's own unit here: add to the address before the cast, as "
            "in *(u32*)(arg0 + 8)");
      const bool is_minus = advance().is("-");
      auto value = number();
      if (!value) return std::unexpected(std::move(value).error());
      add(is_minus ? -*value : *value);
      *type = {.bytes = 8, .is_signed = type->is_signed};
    }
    return type;
  }

  // '*' unary | '(' type ')' unary | '(' sum ')' | argument
  Typed unary() {
    if (++depth_ > kMaxDepth) return error(fmt::format("nested deeper than {}", kMaxDepth));
    auto type = unary_within();
    --depth_;
    return type;
  }

  Typed unary_within() {
    const std::size_t start = token_.at.begin;
    if (take("*")) {
      auto type = unary();
      if (!type) return type;
      if (type->stars == 0)
        return error_at(start, "the width is missing: cast to a pointer first, as in *(u32*)arg0");
      --type->stars;
      read(*type);
      if (result_.steps.size() > SJ_MAX_STEPS)
        return error_at(start, fmt::format("more than {} steps", SJ_MAX_STEPS));
      return type;
    }
    if (!take("(")) return argument();
    if (const auto cast = integer_type(token_.spelling)) {
      advance();
      return cast_to(*cast);
    }
    auto type = sum();
    if (!type) return type;
    if (!take(")")) return error("expected ')'");
    return type;
  }

  // After the type's name.
  Typed cast_to(Type cast) {
    while (take("*")) ++cast.stars;
    if (cast.stars > kMaxDepth) return error(fmt::format("more than {} stars", kMaxDepth));
    if (!take(")")) return error("expected '*' or ')'");
    auto type = unary();
    if (!type) return type;
    if (cast.stars == 0) narrow(cast);
    if (result_.steps.size() > SJ_MAX_STEPS)
      return error(fmt::format("more than {} steps", SJ_MAX_STEPS));
    return cast;
  }

  // "arg3", or a variable.
  Typed argument() {
    if (!is_name())
      return error(
          "expected an argument (arg0, arg1, ..., or its name), a cast such as (u16), '*' or '('");
    const Token token = advance();
    const std::string_view name = token.spelling;
    const auto digits = name.substr(std::min<std::size_t>(3, name.size()));
    const bool is_numbered =
        name.starts_with("arg") && !digits.empty() && std::ranges::all_of(digits, is_digit);
    if (!is_numbered) return variable(name);
    const auto number = tracee::parse_number(digits);
    if (!number || *number >= kMaxArguments)
      return error_at(token.at.begin, fmt::format("an argument beyond arg{}", kMaxArguments - 1));
    result_.argument = static_cast<unsigned>(*number);
    return Type{};
  }

  // Behind its name: { "->" name | '.' name | '[' number ']' }. Kept without its spaces.
  Typed variable(std::string_view name) {
    std::string& path = result_.variable;
    path = name;
    while (path.size() <= kMaxVariable) {
      if (token_.is("->") || token_.is(".")) {
        path += advance().spelling;
        if (!is_name()) return error("expected a member's name");
        path += advance().spelling;
      } else if (take("[")) {
        auto index = number();
        if (!index) return std::unexpected(std::move(index).error());
        if (!take("]")) return error("expected ']'");
        path += fmt::format("[{}]", *index);
      } else {
        return Type{.is_open = true};
      }
    }
    return error(fmt::format("a name longer than {}", kMaxVariable));
  }

  static bool is_only_sum(const sj_step& step) { return step.bytes == 0 && step.bits == 64; }

  // Adds to the last step if possible, else appends a step.
  void add(std::int64_t value) {
    auto& steps = result_.steps;
    if (steps.empty() || !is_only_sum(steps.back())) steps.push_back(only_add(0));
    // Addresses wrap, as the machine's do.
    steps.back().add = static_cast<std::int64_t>(static_cast<std::uint64_t>(steps.back().add) +
                                                 static_cast<std::uint64_t>(value));
  }

  void read(const Type& type) {
    add(0);
    sj_step& step = result_.steps.back();
    step.bytes = type.stars != 0 ? std::uint8_t{8} : type.bytes;
    step.bits = static_cast<std::uint8_t>(8 * step.bytes);
    step.is_signed = type.stars == 0 && type.is_signed ? 1 : 0;
  }

  void narrow(const Type& type) {
    auto& steps = result_.steps;
    const auto bits = static_cast<std::uint8_t>(8 * type.bytes);
    if (bits == 64) return;
    if (steps.empty() || steps.back().bits < bits) add(0);
    steps.back().bits = bits;
    steps.back().is_signed = type.is_signed ? 1 : 0;
  }

  language::Tokenizer tokenizer_;
  Token token_;
  unsigned depth_ = 0;
  Expression result_;
};

}  // namespace

std::expected<Expression, ExpressionError> parse_expression(std::string_view text) {
  return Parser(text).parse();
}

Result<Lowered> lower(const Expression& expression, const ValueStart& start,
                      std::int64_t stack_bytes) {
  std::vector<sj_step> steps = start.steps;
  if (start.base == kStackPointer && !steps.empty()) steps.front().add += stack_bytes;
  steps.insert(steps.end(), expression.steps.begin(), expression.steps.end());
  if (steps.size() > SJ_MAX_STEPS)
    return fail("{} steps, including those to its start: at most {} can be followed", steps.size(),
                SJ_MAX_STEPS);
  const std::uint8_t bytes = expression.is_as_declared ? start.bytes : expression.bytes;
  const bool is_signed = expression.is_as_declared ? start.is_signed : expression.is_signed;
  Lowered lowered;
  lowered.arg = {.displacement = 0,
                 .kind = SJ_ARG_REG,
                 .base = start.base,
                 .index = SJ_NO_REG,
                 .shift = 0,
                 .bytes = bytes,
                 .is_signed = is_signed ? std::uint8_t{1} : std::uint8_t{0},
                 .low_bit = 0,
                 .number = 0};
  if (steps.empty()) return lowered;
  const sj_step& first = steps.front();
  const bool is_plain = steps.size() == 1 && first.low_bit == 0 && first.bits == 8 * bytes &&
                        (first.is_signed != 0) == is_signed;
  if (is_plain && first.add == 0 && first.bytes == 0) return lowered;
  if (is_plain && first.bytes == bytes) {
    lowered.arg.kind = SJ_ARG_MEMORY;
    lowered.arg.displacement = first.add;
    return lowered;
  }
  lowered.arg.kind = SJ_ARG_CHAIN;
  lowered.arg.shift = static_cast<std::uint8_t>(steps.size());
  sj_chain chain = {};
  std::ranges::copy(steps, chain.step);
  lowered.chains.push_back(chain);
  return lowered;
}

}  // namespace sojourn::coarse
