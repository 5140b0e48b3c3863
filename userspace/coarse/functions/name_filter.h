// Selects the functions of a large file that a query may mean, by mangled names alone, while the
// table is read: only those are worth demangling. It may pass functions that do not fit, but never
// drops one that does. One thread; made for one reading of a table.
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
  // The queries' patterns, in their order.
  explicit NameFilter(std::span<const std::string> patterns);

  void look(const symbols::TableFunction& function, std::string_view linked);

  // The functions that the query may mean, in the order of the table.
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

  static constexpr std::size_t kLongest = 255;  // of a word to search for in C++'s names

  std::vector<std::vector<Word>> by_length_;                      // words of C++'s names
  std::unordered_multimap<std::string_view, std::size_t> whole_;  // names as they are
  std::vector<Word> within_;                                      // parts of a glob's names
  std::vector<std::size_t> all_;                                  // queries that anything may fit
  std::vector<bool> lengths_;                                     // of these names
  std::vector<std::string> texts_;                                // whole_ points into these
  std::vector<std::vector<symbols::TableFunction>> candidates_;
};

// The last word of a mangled name: "send" of "_ZN3rlc2Tx4sendEi". Empty if that would take a full
// parse.
std::string_view last_word(std::string_view linked);

}  // namespace sojourn::coarse
