#include "userspace/coarse/functions/function_search.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <elf.h>
#include <nlohmann/json.hpp>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/code/cold_parts.h"
#include "userspace/coarse/code/thunk_code.h"
#include "userspace/coarse/debug/debug_info.h"
#include "userspace/coarse/debug/mini_debug.h"
#include "userspace/coarse/functions/answer_cache.h"
#include "userspace/coarse/functions/data_path.h"
#include "userspace/coarse/functions/function_names.h"
#include "userspace/coarse/functions/name_filter.h"
#include "userspace/coarse/functions/search_results.h"
#include "userspace/symbols/bounded_child.h"
#include "userspace/symbols/function_table.h"
#include "userspace/symbols/unwind_table.h"

namespace sojourn::coarse {

namespace {

using nlohmann::json;
using symbols::FunctionTable;
using symbols::TableFunction;

constexpr std::size_t kMaxFunctions = 4096;  // of one pattern
constexpr std::size_t kMaxNear = 3;
constexpr std::size_t kMaxAmbiguous = 4;
constexpr std::size_t kMaxInlined = 4'000'000;  // of a file
constexpr std::size_t kMaxShown = 3;
constexpr std::uint64_t kShortestFunction = 16;  // bytes of a function that does something
constexpr std::size_t kMaxSymbolAnswer = std::size_t{64} << 20;
constexpr std::chrono::seconds kMaxSymbolTime(60);

struct Named {
  TableFunction at;
  FunctionName name;
};

// Functions of a file that are noted while its table is read.
struct Noted {
  NameFilter filter;
  std::vector<TableFunction> pieces;  // ".cold"
  std::vector<TableFunction> thunks;
  std::vector<std::pair<unsigned, TableFunction>> guesses;  // by data_path_score()
};

// Recognises "_ZThn8_N3rlc2Tx4sendEi" as a thunk of "_ZN3rlc2Tx4sendEi": the method's name without
// "_Z" stands behind the offsets. So the thunks of a method are found from the method.
bool is_thunk_of(std::string_view thunk, std::string_view method) {
  return method.starts_with("_Z") && thunk.size() > method.size() &&
         thunk.ends_with(method.substr(2)) && thunk[thunk.size() - method.size() + 1] == '_';
}

// The search, in the child process.
class Search {
 public:
  Search(const tracee::ElfFile& file, const FunctionTable& table, const Noted& noted,
         const DebugInfo& debug)
      : file_(file), table_(table), noted_(noted), debug_(debug) {}

  std::vector<SearchResult> find(std::span<const Query> queries) {
    std::vector<SearchResult> results;
    for (std::size_t query = 0; query < queries.size(); ++query) {
      results.push_back(find(queries[query], query));
      for (FoundFunction& function : results.back().functions)
        for (const std::string& variable : queries[query].variables) {
          auto start = debug_.find(function.code.address, variable, function.is_changed_clone);
          function.variables.push_back(start ? FoundVariable{std::move(*start), {}}
                                             : FoundVariable{{}, start.error().text()});
        }
    }
    add_pieces(results);
    note_inlined(queries, results);
    tell_near(queries, results);
    return results;
  }

 private:
  SearchResult find(const Query& query, std::size_t number) const {
    if (query.guesses != 0) return data_path(query.guesses);
    return query.address ? at(*query.address) : named(query.pattern, number);
  }

  // For all queries at once, as it reads all debug information.
  void note_inlined(std::span<const Query> queries, std::vector<SearchResult>& results) const {
    std::unordered_map<std::string, std::vector<std::size_t>> meant;  // by the linker's name
    for (const InlinedCall& call : debug_.inlined_calls(kMaxInlined)) {
      auto [known, is_new] = meant.try_emplace(call.linked);
      const FunctionName name = is_new ? function_name(call.linked) : FunctionName();
      for (std::size_t at = 0; is_new && at < queries.size(); ++at)
        if (!queries[at].address && queries[at].guesses == 0 &&
            fit(name, queries[at].pattern) != Fit::kNot)
          known->second.push_back(at);
      for (const std::size_t at : known->second) note_inlined(call, results[at]);
    }
  }

  static void note_inlined(const InlinedCall& call, SearchResult& result) {
    ++result.inlined;
    const std::string into = function_name(call.into).shown;
    auto& shown = result.inlined_into;
    if (shown.size() < kMaxShown && std::ranges::find(shown, into) == shown.end())
      shown.push_back(into);
  }

  SearchResult at(std::uint64_t address) const {
    SearchResult result;
    FoundFunction function;
    function.code.address = address;
    if (const auto same = table_.at(address); !same.empty()) {
      function.code = table_.code(same.back());
      function.linked = table_.name(same.back());
    }
    if (function.code.bytes == 0)
      if (const auto code = unwind_table().range_at(address); code && code->address == address)
        function.code = *code;
    if (function.code.bytes == 0) result.within = around(address);
    if (!result.within.empty()) return result;
    result.functions.push_back(std::move(function));
    return result;
  }

  // Names the function that has the address in its middle, if one is known.
  std::string around(std::uint64_t address) const {
    for (const TableFunction& one : table_.around(address))
      return fmt::format("{}+{:#x}", function_name(table_.name(one)).shown, address - one.address);
    const auto code = unwind_table().range_at(address);
    return code ? fmt::format("the function at {:#x}", code->address) : std::string();
  }

  SearchResult named(const std::string& pattern, std::size_t number) const {
    std::map<Fit, std::vector<Named>> by_fit;
    for (const TableFunction& one : noted_.filter.candidates(number)) {
      FunctionName name = function_name(table_.name(one));
      if (const Fit how = fit(name, pattern); how != Fit::kNot)
        by_fit[how].push_back({one, std::move(name)});
    }
    SearchResult result;
    if (by_fit.empty()) return result;
    const auto& [how, found] = *by_fit.begin();
    std::set<std::string> different;
    for (const Named& one : found) different.insert(one.name.shown);
    if (how != Fit::kGlob && different.size() > 1) {
      for (const std::string& one : different)
        if (result.ambiguous.size() < kMaxAmbiguous) result.ambiguous.push_back(one);
      return result;
    }
    take(found, result);
    return result;
  }

  SearchResult data_path(std::size_t most) const {
    auto found = noted_.guesses;
    std::ranges::stable_sort(found, std::ranges::greater(),
                             &std::pair<unsigned, TableFunction>::first);
    if (found.size() > most) found.resize(most);
    std::vector<Named> named;
    named.reserve(found.size());
    for (const auto& [score, one] : found) named.push_back({one, function_name(table_.name(one))});
    SearchResult result;
    take(named, result);
    return result;
  }

  void take(std::vector<Named> found, SearchResult& result) const {
    std::ranges::stable_sort(found, {}, [](const Named& one) { return one.at.address; });
    std::unordered_set<std::uint64_t> taken;
    for (Named& one : found) {
      if (!taken.insert(one.at.address).second) continue;
      if (result.functions.size() == kMaxFunctions) return;
      result.functions.push_back({.code = table_.code(one.at),
                                  .linked = one.name.linked,
                                  .shown = one.name.shown,
                                  .is_changed_clone = one.name.clone == Clone::kChanged,
                                  .folded = folded_with(one),
                                  .pieces = {},
                                  .copies = copies_of(one),
                                  .symbol = one.at.symbol,
                                  .variables = {}});
    }
  }

  std::vector<std::string> folded_with(const Named& symbol) const {
    std::vector<std::string> others;
    for (const TableFunction& one : table_.at(symbol.at.address))
      if (std::string shown = function_name(table_.name(one)).shown;
          shown != symbol.name.shown && std::ranges::find(others, shown) == others.end())
        others.push_back(std::move(shown));
    return others;
  }

  // The thunks that are copies of the method: calls through them do not reach it.
  std::vector<std::string> copies_of(const Named& method) const {
    std::vector<std::string> copies;
    if (method.name.is_thunk) return copies;
    for (const TableFunction& one : noted_.thunks)
      if (const auto thunk = table_.name(one);
          is_thunk_of(thunk, method.name.linked) &&
          !leads_to(file_, table_.code(one), method.at.address))
        copies.emplace_back(function_name(thunk).shown);
    return copies;
  }

  // Adds the parts of functions that lie elsewhere, with names and without. A .part is not among
  // them: it is a function of its own, that is called or jumped to.
  void add_pieces(std::vector<SearchResult>& results) const {
    std::unordered_map<std::string_view, std::vector<FoundFunction*>> by_name;
    for (SearchResult& result : results)
      for (FoundFunction& function : result.functions)
        by_name[function.linked].push_back(&function);
    for (const TableFunction& piece : noted_.pieces) {
      const std::string_view name = table_.name(piece);
      const auto known = by_name.find(name.substr(0, name.rfind(".cold")));
      if (known == by_name.end()) continue;
      for (FoundFunction* const function : known->second)
        function->pieces.push_back(table_.code(piece));
    }
    for (SearchResult& result : results)
      for (FoundFunction& function : result.functions)
        if (function.pieces.empty()) function.pieces = nameless_pieces(function.code);
  }

  std::vector<CodeRange> nameless_pieces(CodeRange function) const {
    return find_cold_parts(
        file_, [this]() -> const symbols::UnwindTable& { return unwind_table(); }, function,
        [&](CodeRange code) { return table_.has_function_in(code); });
  }

  const symbols::UnwindTable& unwind_table() const {
    if (!unwind_table_) unwind_table_.emplace(file_.fd());
    return *unwind_table_;
  }

  // Suggests similar names by their last component, so that a wrong or missing namespace does not
  // matter.
  void tell_near(std::span<const Query> queries, std::vector<SearchResult>& results) const {
    std::map<std::string, std::vector<SearchResult*>> wanted;  // by their last part
    for (std::size_t at = 0; at < queries.size(); ++at)
      if (const SearchResult& one = results[at]; !queries[at].address && queries[at].guesses == 0 &&
                                                 queries[at].tells_near && one.functions.empty() &&
                                                 one.ambiguous.empty())
        wanted[std::string(last_part(behind_thunk(queries[at].pattern)))].push_back(&results[at]);
    if (wanted.empty()) return;
    // A word that many functions have is compared once.
    std::unordered_set<std::size_t> seen;
    std::map<std::string, std::string> nearest;
    table_.look_at_all([&](const TableFunction&, std::string_view linked) {
      const auto word = last_word(linked);
      if (word.empty() || !seen.insert(std::hash<std::string_view>()(word)).second) return;
      for (const auto& [name, of] : wanted) {
        std::string& best = nearest[name];
        const std::size_t longest = std::max(name.size(), word.size());
        // A function with the same word belongs to another class.
        if (word == name)
          best = name;
        else if (best != name && longest - std::min(name.size(), word.size()) <= longest / 3 + 1)
          best = filter::nearest(name, {best, std::string(word)});
      }
    });
    std::unordered_map<std::string, std::vector<SearchResult*>> near;
    for (const auto& [name, of] : wanted)
      if (!nearest[name].empty()) std::ranges::copy(of, std::back_inserter(near[nearest[name]]));
    if (near.empty()) return;
    table_.look_at_all([&](const TableFunction&, std::string_view linked) {
      const auto known = near.find(std::string(last_word(linked)));
      if (known == near.end()) return;
      const FunctionName name = function_name(linked);
      if (name.clone == Clone::kPiece) return;
      for (SearchResult* const result : known->second)
        if (result->near.size() < kMaxNear &&
            std::ranges::find(result->near, name.shown) == result->near.end())
          result->near.push_back(name.shown);
    });
  }

  const tracee::ElfFile& file_;
  const FunctionTable& table_;
  const Noted& noted_;
  const DebugInfo& debug_;
  mutable std::optional<symbols::UnwindTable> unwind_table_;  // read where it is needed
};

bool has_symtab(const tracee::ElfFile& file) {
  return std::ranges::find(file.sections(), std::uint32_t{SHT_SYMTAB}, &tracee::Section::type) !=
         file.sections().end();
}

// Demangling takes long, so names that cannot be on the data path are skipped before.
bool may_be_data_path(const TableFunction& function, std::string_view linked) {
  if (function.bytes != 0 && function.bytes <= kShortestFunction) return false;
  for (const std::string_view foreign : {"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZT",
                                         "_ZN3fmt", "_ZNK3fmt", "_ZN5boost", "_ZNK5boost"})
    if (linked.starts_with(foreign)) return false;
  return true;
}

void note(const TableFunction& function, std::string_view linked, bool guesses, Noted& noted) {
  noted.filter.look(function, linked);
  if (linked.contains(".cold")) noted.pieces.push_back(function);
  if (is_thunk(linked)) noted.thunks.push_back(function);
  if (!guesses || !may_be_data_path(function, linked)) return;
  const FunctionName name = function_name(linked);
  if (const unsigned score = name.clone == Clone::kNone ? data_path_score(name.shown) : 0U;
      score != 0)
    noted.guesses.emplace_back(score, function);
}

// The functions of a stripped file are in its debug file. Without one, those that it does not
// export may be in its packed symbols (.gnu_debugdata).
std::string search(const tracee::ElfFile& file, const tracee::ElfFile* debug,
                   std::span<const Query> queries) {
  const bool is_elsewhere = debug != nullptr && !has_symtab(file) && has_symtab(*debug);
  const auto unpacked =
      is_elsewhere || has_symtab(file) ? std::optional<tracee::ElfFile>() : unpack_mini_debug(file);
  std::vector<const tracee::ElfFile*> files = {is_elsewhere ? debug : &file};
  if (unpacked) files.push_back(&*unpacked);
  std::vector<std::string> patterns;
  for (const Query& query : queries)
    patterns.push_back(query.address || query.guesses != 0 ? std::string() : query.pattern);
  const bool guesses =
      std::ranges::any_of(queries, [](const Query& query) { return query.guesses != 0; });
  Noted noted{.filter = NameFilter(patterns), .pieces = {}, .thunks = {}, .guesses = {}};
  const auto table =
      FunctionTable::read(files, [&](const TableFunction& function, std::string_view linked) {
        note(function, linked, guesses, noted);
      });
  if (!table) return json{{"error", table.error().text()}}.dump();
  const tracee::ElfFile& told = debug != nullptr ? *debug : file;
  const DebugInfo info(
      told.section(".debug_info") != nullptr || told.section(".zdebug_info") != nullptr ? told.fd()
                                                                                        : -1);
  const auto results = Search(file, *table, noted, info).find(queries);
  return json{{"results", results_to_json(results)}}.dump(-1, ' ', false,
                                                          json::error_handler_t::replace);
}

}  // namespace

Result<std::vector<SearchResult>> search_functions(const tracee::ElfFile& file,
                                                   const tracee::ElfFile* debug,
                                                   std::span<const Query> queries) {
  auto text = symbols::run_in_bounded_child([&] { return search(file, debug, queries); },
                                            kMaxSymbolAnswer, kMaxSymbolTime);
  if (!text)
    return std::unexpected(
        std::move(text).error().within(fmt::format("{}: read its functions", file.name())));
  const json answer = json::parse(*text, nullptr, false);
  if (answer.is_object() && answer.contains("error") && answer["error"].is_string())
    return fail("{}", answer["error"].get<std::string>());
  if (answer.is_object() && answer.contains("results"))
    if (auto results = results_from_json(answer["results"], queries)) return std::move(*results);
  return fail("{}: its functions cannot be read", file.name());
}

Result<std::vector<SearchResult>> find_functions(const tracee::ElfFile& file,
                                                 const tracee::ElfFile* debug,
                                                 std::span<const Query> queries) {
  auto cache = AnswerCache::of(file, debug);
  if (!cache) return search_functions(file, debug, queries);
  std::vector<SearchResult> results(queries.size());
  std::vector<Query> unknown;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < queries.size(); ++at) {
    if (auto known = cache->find(queries[at])) {
      results[at] = std::move(*known);
    } else {
      unknown.push_back(queries[at]);
      places.push_back(at);
    }
  }
  if (unknown.empty()) return results;
  SJ_TRY(found, search_functions(file, debug, unknown));
  for (std::size_t at = 0; at < found.size(); ++at) {
    cache->add(unknown[at], found[at]);
    results[places[at]] = std::move(found[at]);
  }
  cache->store();
  return results;
}

}  // namespace sojourn::coarse
