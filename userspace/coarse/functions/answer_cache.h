// Answers to earlier queries about a file, kept between runs in the user's cache by the file's
// build id. So a map is placed in milliseconds the second time, without reading a hundred thousand
// symbols. Each function of an answer is compared with its row in the file's symbol table before it
// is used. Only files that take time to read are cached. One thread owns one.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "userspace/coarse/functions/function_search.h"
#include "userspace/symbols/user_cache.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::coarse {

class AnswerCache {
 public:
  // Nothing if the file is small, has no build id, or cannot be cached. Both files must outlive it.
  static std::optional<AnswerCache> of(const tracee::ElfFile& file, const tracee::ElfFile* debug);

  std::optional<SearchResult> find(const Query& query) const;
  void add(const Query& query, const SearchResult& result);
  // Failing to store is no error: the next run takes longer.
  void store() const;

 private:
  AnswerCache(symbols::UserCache files, std::string name, const tracee::ElfFile& symbols)
      : files_(std::move(files)), name_(std::move(name)), symbols_(&symbols) {}

  void load();

  symbols::UserCache files_;
  std::string name_;
  const tracee::ElfFile* symbols_;  // the file whose table has the functions
  std::string facts_;               // other facts that must be unchanged
  nlohmann::json answers_ = nlohmann::json::object();
};

}  // namespace sojourn::coarse
