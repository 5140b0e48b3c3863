// Where a value is when a function is entered, in the words of a map: "arg1", "(u16)arg2",
// "*(u32*)(arg0 + 0x48)", "pdu->inner.sn", "*(u64*)(*(u64*)(arg1 + 32) + 8)". Read with C's
// precedence; constants are all that may be added, so that an expression is a start and a row of
// steps, which the BPF programs follow as data (struct sj_chain). Immutable.
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
  std::string variable;         // or what debug information knows: "pdu->inner.sn"
  std::vector<sj_step> steps;   // from there
  bool is_as_declared = false;  // its width is the variable's, which is not known yet
  std::uint8_t bytes = 8;       // else of the value
  bool is_signed = false;
};

// What is wrong with an expression, and at which of its characters, from 0.
struct ExpressionError {
  std::size_t at = 0;
  std::string what;
};

std::expected<Expression, ExpressionError> parse_expression(std::string_view text);

// The same as the BPF programs want it.
struct Lowered {
  sj_arg arg = {};
  std::vector<sj_chain> chains;  // one, or none
};

// At a place in the function where its arguments still are where they were at its entry, but
// for the stack pointer, which is lower by so many bytes. `start`: of the argument or variable.
Result<Lowered> lower(const Expression& expression, const ValueStart& start,
                      std::int64_t stack_bytes);

}  // namespace sojourn::coarse
