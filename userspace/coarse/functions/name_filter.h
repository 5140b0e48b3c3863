// Which of a file's many functions a query may mean, told from the linker's names alone, as they
// come by: only what is left is worth demangling. It may let by what fits nothing, never what fits
// is held back. One thread; made for one reading of a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "userspace/symbols/function_table.h"

namespace sojourn::coarse {

class NameFilter {
 public:
  // One for each query.
  explicit NameFilter(std::span<const std::string> patterns);

  void look(const symbols::TableFunction& function, std::string_view linked);

  // What the query may mean, in the order in which it came.
  const std::vector<symbols::TableFunction>& candidates(std::size_t query) const {
    return candidates_[query];
  }

 private:
  struct Word {
    std::string text;
    std::size_t query = 0;
  };

  void add(const std::string& pattern, std::size_t query);
  void take(std::size_t query, const symbols::TableFunction& function);
  void look_for_words(const symbols::TableFunction& function, std::string_view linked);

  static constexpr std::size_t kLongest = 255;  // of a word that is looked for in C++'s names

  std::vector<std::vector<Word>> by_length_;                      // words of C++'s names
  std::unordered_multimap<std::string_view, std::size_t> whole_;  // names as they are
  std::vector<Word> within_;        // what a glob's names have in them
  std::vector<std::size_t> all_;    // queries that anything may fit
  std::vector<bool> lengths_;       // of these names
  std::vector<std::string> texts_;  // that whole_ points into
  std::vector<std::vector<symbols::TableFunction>> candidates_;
};

// The last word of a function's name as its linker has it: "send" of "_ZN3rlc2Tx4sendEi". Empty
// where that takes more than a look.
std::string_view last_word(std::string_view linked);

}  // namespace sojourn::coarse
