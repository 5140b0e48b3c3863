// Finds the functions of a file for a map's names, from its symbol table (.symtab, else that of its
// debug file, else .dynsym and the packed symbols), and the places of their arguments, from its
// debug information. A forged file may mislead the parsers of names and debug information for ever.
// So they run in a child process, whose answers are checked. Answers about large files are kept
// between runs (answer_cache.h). No state of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/coarse/debug/variable.h"
#include "userspace/symbols/code_range.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

using symbols::CodeRange;

struct Query {
  std::string pattern;
  std::optional<std::uint64_t> address = {};  // of the function, instead of a name
  std::vector<std::string> variables = {};    // wanted ones of its arguments
  // The number of functions to guess: those that look most like a data path.
  std::size_t guesses = 0;
  bool tells_near = true;  // suggest similar names if nothing is found
};

// The start of a variable, or why that is not known.
struct FoundVariable {
  ValueStart start;
  std::string why_not;
};

struct FoundFunction {
  CodeRange code;  // bytes 0: its end is not known
  std::string linked;
  std::string shown;
  bool is_changed_clone = false;
  std::vector<std::string> folded;  // other functions that are the same code
  std::vector<CodeRange> pieces;    // its parts that lie elsewhere, and may jump into it
  std::vector<std::string> copies;  // thunks that are copies of it, and do not lead to it
  std::uint32_t symbol = 0;         // its number in the symbol table; 0: it has none
  std::vector<FoundVariable> variables;
};

// The result of one query.
struct SearchResult {
  std::vector<FoundFunction> functions;
  // If none was chosen: the demangled names of functions that fit equally well, or are similar.
  std::vector<std::string> ambiguous;
  std::vector<std::string> near;
  std::string within;                     // the function whose middle an address is
  std::uint64_t inlined = 0;              // places where it was inlined, as far as is known
  std::vector<std::string> inlined_into;  // some of the functions that it was inlined into
};

// Returns one result for each query. `debug`: the file with the debug information, if that is
// another.
Result<std::vector<SearchResult>> find_functions(const tracee::ElfFile& file,
                                                 const tracee::ElfFile* debug,
                                                 std::span<const Query> queries);
// Searches without the answers of earlier runs.
Result<std::vector<SearchResult>> search_functions(const tracee::ElfFile& file,
                                                   const tracee::ElfFile* debug,
                                                   std::span<const Query> queries);

}  // namespace sojourn::coarse
