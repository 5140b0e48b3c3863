// Shared by the operand parsers of both architectures: a cursor over the text, and expressions.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "bpf/events.h"
#include "userspace/tracee/operands.h"

namespace sojourn::tracee {

class OperandText {
 public:
  OperandText(std::string_view text, const SymbolLookup& symbols)
      : text_(text), symbols_(symbols) {}

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  bool take(char character) {
    if (at_end() || text_[at_] != character) return false;
    ++at_;
    return true;
  }
  // Takes a character with spaces around it, which compilers may write inside brackets.
  bool take_spaced(char character) {
    skip_spaces();
    const bool taken = take(character);
    if (taken) skip_spaces();
    return taken;
  }
  std::string_view take_word();  // letters, digits and underscores; may be empty

  std::size_t position() const { return at_; }
  void rewind(std::size_t position) { at_ = position; }
  void begin_operand() { operand_ = at_; }

  // "operand '8f@%xmm0', column 4: why"
  std::unexpected<Error> error(std::string_view why) const;

  // Sums and differences of numbers, decimal or hexadecimal, and of at most one symbol, whose value
  // is its address at run time. Wraps at 64 bits as the assembler does.
  struct Expression {
    std::uint64_t value = 0;
    bool has_symbol = false;
  };
  Result<Expression> expression();

 private:
  Result<std::uint64_t> number();
  Result<std::uint64_t> symbol();

  std::string_view text_;
  const SymbolLookup& symbols_;
  std::size_t at_ = 0;
  std::size_t operand_ = 0;
};

// Both parse the text behind "8@" and fill in everything except the declared width and sign; if a
// register is narrower they reduce `bytes`.
Result<void> parse_operand_x86_64(OperandText& text, sj_arg& arg);
Result<void> parse_operand_arm64(OperandText& text, sj_arg& arg);

}  // namespace sojourn::tracee
