// What was found in a file before: answers to queries, kept between runs in the user's cache by the
// file's build id, so that a map is placed in milliseconds the second time, without a look at a
// hundred thousand symbols. Each function of an answer is compared with its row in the file's
// symbol table before it is believed. Only for files whose reading takes time. One thread owns one.
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
  // None where the file is small or has no build id, or nothing may be kept. Both files outlive it.
  static std::optional<AnswerCache> of(const tracee::ElfFile& file, const tracee::ElfFile* debug);

  std::optional<SearchResult> find(const Query& query) const;
  void add(const Query& query, const SearchResult& result);
  // Nothing is said where it cannot be: the next run takes longer.
  void store() const;

 private:
  AnswerCache(symbols::UserCache files, std::string name, const tracee::ElfFile& symbols)
      : files_(std::move(files)), name_(std::move(name)), symbols_(&symbols) {}

  void load();

  symbols::UserCache files_;
  std::string name_;
  const tracee::ElfFile* symbols_;  // whose table has the functions
  std::string facts_;               // what else must be as it was
  nlohmann::json answers_ = nlohmann::json::object();
};

}  // namespace sojourn::coarse
