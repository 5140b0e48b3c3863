// A program with as many symbols as a real base station, or more: a copy of one, with functions
// added to its symbol table that do not exist.
#pragma once

#include <cstddef>
#include <string>

namespace sojourn::test {

// Methods with mangled names of about `name_bytes` each. Throws where `from` is no ELF file with
// symbols, or the copy cannot be written.
void copy_with_symbols(const std::string& from, const std::string& to, std::size_t count,
                       std::size_t name_bytes);

}  // namespace sojourn::test
