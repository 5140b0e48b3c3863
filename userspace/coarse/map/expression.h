// The place of a value when a function is entered, in the language of maps: "arg1", "(u16)arg2",
// "*(u32*)(arg0 + 0x48)", "pdu->inner.sn", "*(u64*)(*(u64*)(arg1 + 32) + 8)". Read with C's
// precedence. Only constants may be added, so an expression is a start and a row of steps, which
// the BPF programs follow as data (struct sj_chain). Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "bpf/events.h"
#include "userspace/coarse/debug/variable.h"

namespace sojourn::coarse {

constexpr unsigned kMaxArguments = 64;  // of a function

struct Expression {
  unsigned argument = 0;        // the function's, from 0
  std::string variable;         // or a path for debug information: "pdu->inner.sn"
  std::vector<sj_step> steps;   // from there
  bool is_as_declared = false;  // its width is the variable's, which is not known yet
  std::uint8_t bytes = 8;       // the value's width otherwise
  bool is_signed = false;
};

// An error in an expression, and the index of its character.
struct ExpressionError {
  std::size_t at = 0;
  std::string what;
};

std::expected<Expression, ExpressionError> parse_expression(std::string_view text);

// An expression in the form that the BPF programs use.
struct Lowered {
  sj_arg arg = {};
  std::vector<sj_chain> chains;  // one, or none
};

// Compiles for a place in the function at which all arguments are still where they were at its
// entry, and the stack pointer is lower by `stack_bytes`. `start`: the place of the argument or
// variable.
Result<Lowered> lower(const Expression& expression, const ValueStart& start,
                      std::int64_t stack_bytes);

}  // namespace sojourn::coarse
