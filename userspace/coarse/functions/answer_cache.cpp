#include "userspace/coarse/functions/answer_cache.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <elf.h>

#include "userspace/coarse/functions/search_results.h"
#include "userspace/symbols/function_table.h"

namespace sojourn::coarse {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;  // to be raised when a search finds something else
constexpr std::uint64_t kManySymbols = std::uint64_t{64} << 10;  // bytes of a table
constexpr std::uint64_t kMuchDebug = std::uint64_t{1} << 20;
constexpr std::size_t kMaxAnswers = 4096;

const tracee::Section* symbol_table(const tracee::ElfFile& file) {
  const auto found =
      std::ranges::find(file.sections(), std::uint32_t{SHT_SYMTAB}, &tracee::Section::type);
  return found == file.sections().end() ? nullptr : &*found;
}

// The offsets and sizes of its sections.
std::string layout(const tracee::ElfFile& file) {
  std::string text;
  for (const tracee::Section& one : file.sections())
    text += fmt::format("{}:{:x}+{:x}@{:x} ", one.type, one.offset, one.bytes, one.address);
  return text;
}

std::string key_of(const Query& query) {
  json key = {query.pattern, query.guesses, query.variables};
  if (query.address) key.push_back(*query.address);
  return key.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::optional<AnswerCache> AnswerCache::of(const tracee::ElfFile& file,
                                           const tracee::ElfFile* debug) {
  const tracee::ElfFile& symbols =
      debug != nullptr && symbol_table(file) == nullptr ? *debug : file;
  const tracee::Section* const table = symbol_table(symbols);
  const tracee::Section* const info = (debug != nullptr ? *debug : file).section(".debug_info");
  const bool is_worth_it = table != nullptr && (table->bytes >= kManySymbols ||
                                                (info != nullptr && info->bytes >= kMuchDebug));
  const std::string id = is_worth_it ? file.build_id() : std::string();
  if (id.size() < 16) return std::nullopt;
  auto files = symbols::UserCache::open("functions");
  if (!files) return std::nullopt;
  AnswerCache cache(std::move(*files), id, symbols);
  cache.facts_ = layout(file) + (debug != nullptr ? layout(*debug) : "");
  cache.load();
  return cache;
}

void AnswerCache::load() {
  const auto text = files_.load(name_);
  if (!text) return;
  json known = json::parse(*text, nullptr, false);
  if (!known.is_object() || known.value("version", json()) != kVersion ||
      known.value("facts", json()) != facts_ || !known.contains("answers") ||
      !known["answers"].is_object())
    return;
  answers_ = std::move(known["answers"]);
}

std::optional<SearchResult> AnswerCache::find(const Query& query) const {
  const auto known = answers_.find(key_of(query));
  if (known == answers_.end()) return std::nullopt;
  auto results = results_from_json(json::array({*known}), std::span(&query, 1));
  if (!results) return std::nullopt;
  for (const FoundFunction& function : results->front().functions)
    if (!function.linked.empty() &&
        !symbols::is_symbol(*symbols_, function.symbol, function.code.address, function.linked))
      return std::nullopt;
  return std::move(results->front());
}

void AnswerCache::add(const Query& query, const SearchResult& result) {
  if (answers_.size() >= kMaxAnswers) answers_.clear();
  answers_[key_of(query)] = results_to_json({result}).front();
}

void AnswerCache::store() const {
  const json all = {{"version", kVersion}, {"facts", facts_}, {"answers", answers_}};
  files_.store(name_, all.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace sojourn::coarse
