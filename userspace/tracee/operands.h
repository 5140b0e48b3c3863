// Parses the places of a probe's arguments, which its USDT note has in assembler syntax: "-4@%eax
// 8@16(%rsp) 8@$5". The result is data that the BPF programs interpret (struct sj_arg).
//
// Every form that gcc and clang emit for integers is understood. An operand that an sj_arg cannot
// express exactly (floating point, vectors, thread-local variables, sign-extended indexes) is an
// error that shows the operand and the column, never a guess.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "bpf/events.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::tracee {

// The run-time address of a symbol.
using SymbolLookup = std::function<Result<std::uint64_t>(std::string_view name)>;

// An argument that a note declares wider than its register is (8@%eax) has the register's width.
Result<std::vector<sj_arg>> parse_operands(std::string_view text, Machine machine,
                                           const SymbolLookup& symbols);

}  // namespace sojourn::tracee
