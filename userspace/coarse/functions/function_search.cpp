#include "userspace/coarse/functions/function_search.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <elf.h>
#include <nlohmann/json.hpp>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/code/cold_parts.h"
#include "userspace/coarse/debug/debug_info.h"
#include "userspace/coarse/debug/mini_debug.h"
#include "userspace/coarse/functions/data_path.h"
#include "userspace/coarse/functions/function_names.h"
#include "userspace/symbols/bounded_child.h"
#include "userspace/symbols/unwind_table.h"

// A C struct, at global scope.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sj_step, add, bytes, low_bit, bits, is_signed)

// As they cross from the child.
namespace sojourn::symbols {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CodeRange, address, bytes)
}  // namespace sojourn::symbols

namespace sojourn::coarse {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueStart, base, steps, bytes, is_signed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FoundVariable, start, why_not)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FoundFunction, code, linked, shown, is_changed_clone, folded,
                                   pieces, variables)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SearchResult, functions, ambiguous, near, within, inlined,
                                   inlined_into)

namespace {

using nlohmann::json;

constexpr std::size_t kMaxFunctions = 4096;  // of one pattern
constexpr std::size_t kMaxNear = 3;
constexpr std::size_t kMaxAmbiguous = 4;
constexpr std::size_t kMaxInlined = 4'000'000;  // of a file
constexpr std::size_t kMaxShown = 3;
constexpr std::uint64_t kShortest = 16;  // bytes of a function that does something
constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
constexpr std::chrono::seconds kTimeout(60);

struct Symbol {
  CodeRange code;
  FunctionName name;
  bool has_end = false;  // told by its table, not guessed from the next one
};

// In the child.
class Search {
 public:
  Search(const tracee::ElfFile& file, const std::vector<tracee::FunctionSymbol>& functions,
         const DebugInfo& debug)
      : file_(file), debug_(debug), unwind_table_(file.fd()) {
    for (std::size_t at = 0; at < functions.size(); ++at) {
      CodeRange code{functions[at].address, functions[at].bytes};
      if (code.bytes == 0) code.bytes = up_to_next(functions, at);
      symbols_.push_back({code, function_name(functions[at].name), functions[at].bytes != 0});
    }
  }

  SearchResult find(const Query& query) const {
    if (query.guesses != 0) return data_path(query.guesses);
    SearchResult result = query.address ? at(*query.address) : named(query.pattern);
    for (FoundFunction& function : result.functions)
      for (const std::string& variable : query.variables) {
        auto start = debug_.find(function.code.address, variable, function.is_changed_clone);
        function.variables.push_back(start ? FoundVariable{std::move(*start), {}}
                                           : FoundVariable{{}, start.error().text()});
      }
    return result;
  }

  // Of all queries at once, as all of the debug information is read for it.
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

 private:
  static void note_inlined(const InlinedCall& call, SearchResult& result) {
    ++result.inlined;
    const std::string into = function_name(call.into).shown;
    auto& shown = result.inlined_into;
    if (shown.size() < kMaxShown && std::ranges::find(shown, into) == shown.end())
      shown.push_back(into);
  }

  SearchResult at(std::uint64_t address) const {
    SearchResult result;
    FoundFunction function{.code = {address, 0},
                           .linked = {},
                           .shown = {},
                           .folded = {},
                           .pieces = {},
                           .variables = {}};
    for (const Symbol& symbol : symbols_)
      if (symbol.code.address == address) {
        function.code = symbol.code;
        function.pieces = pieces_of(symbol);
      }
    const auto code = unwind_table_.range_at(address);
    if (function.code.bytes == 0 && code && code->address == address) {
      function.code = *code;
      function.pieces = nameless_pieces(*code);
    }
    if (function.code.bytes == 0) result.within = around(address, code);
    if (!result.within.empty()) return result;
    result.functions.push_back(std::move(function));
    return result;
  }

  // Of an address that no function begins at: the one that it is in the middle of, as is known.
  std::string around(std::uint64_t address, const std::optional<CodeRange>& code) const {
    for (const Symbol& symbol : symbols_)
      if (symbol.has_end && symbol.code.holds(address))
        return fmt::format("{}+{:#x}", symbol.name.shown, address - symbol.code.address);
    return code ? fmt::format("the function at {:#x}", code->address) : std::string();
  }

  SearchResult named(const std::string& pattern) const {
    std::map<Fit, std::vector<const Symbol*>> by_fit;
    for (const Symbol& symbol : symbols_)
      if (const Fit how = fit(symbol.name, pattern); how != Fit::kNot)
        by_fit[how].push_back(&symbol);
    SearchResult result;
    if (by_fit.empty()) {
      result.near = near(pattern);
      return result;
    }
    const auto& [how, found] = *by_fit.begin();
    std::set<std::string> different;
    for (const Symbol* symbol : found) different.insert(symbol->name.shown);
    if (how != Fit::kGlob && different.size() > 1) {
      for (const std::string& one : different)
        if (result.ambiguous.size() < kMaxAmbiguous) result.ambiguous.push_back(one);
      return result;
    }
    take(found, result);
    return result;
  }

  SearchResult data_path(std::size_t most) const {
    std::vector<std::pair<unsigned, const Symbol*>> found;
    for (const Symbol& symbol : symbols_)
      if (symbol.name.clone == Clone::kNone && symbol.code.bytes > kShortest)
        if (const unsigned score = data_path_score(symbol.name.shown); score != 0)
          found.emplace_back(score, &symbol);
    std::ranges::stable_sort(found, std::ranges::greater(),
                             &std::pair<unsigned, const Symbol*>::first);
    if (found.size() > most) found.resize(most);
    std::vector<const Symbol*> symbols;
    symbols.reserve(found.size());
    for (const auto& [score, symbol] : found) symbols.push_back(symbol);
    SearchResult result;
    take(symbols, result);
    return result;
  }

  static std::uint64_t up_to_next(const std::vector<tracee::FunctionSymbol>& functions,
                                  std::size_t at) {
    for (std::size_t next = at + 1; next < functions.size(); ++next)
      if (functions[next].address != functions[at].address)
        return functions[next].address - functions[at].address;
    return 0;
  }

  void take(const std::vector<const Symbol*>& found, SearchResult& result) const {
    for (const Symbol* symbol : found) {
      const auto is_there = [&](const FoundFunction& one) {
        return one.code.address == symbol->code.address;
      };
      if (std::ranges::any_of(result.functions, is_there)) continue;
      if (result.functions.size() == kMaxFunctions) return;
      result.functions.push_back({.code = symbol->code,
                                  .linked = symbol->name.linked,
                                  .shown = symbol->name.shown,
                                  .is_changed_clone = symbol->name.clone == Clone::kChanged,
                                  .folded = folded_with(*symbol),
                                  .pieces = pieces_of(*symbol),
                                  .variables = {}});
    }
  }

  std::vector<std::string> folded_with(const Symbol& symbol) const {
    std::vector<std::string> others;
    auto same = std::ranges::equal_range(symbols_, symbol.code.address, {},
                                         [](const Symbol& one) { return one.code.address; });
    for (const Symbol& other : same)
      if (other.name.shown != symbol.name.shown &&
          std::ranges::find(others, other.name.shown) == others.end())
        others.push_back(other.name.shown);
    return others;
  }

  // By their names, or where they have none. What is called .part has been made a function of its
  // own, that is called or jumped to.
  std::vector<CodeRange> pieces_of(const Symbol& symbol) const {
    std::vector<CodeRange> pieces;
    for (const Symbol& other : symbols_)
      if (other.name.clone == Clone::kPiece &&
          other.name.linked.starts_with(symbol.name.linked + ".cold"))
        pieces.push_back(other.code);
    return pieces.empty() ? nameless_pieces(symbol.code) : pieces;
  }

  std::vector<CodeRange> nameless_pieces(CodeRange function) const {
    return find_cold_parts(file_, unwind_table_, function, [&](CodeRange code) {
      const auto symbol = std::ranges::lower_bound(
          symbols_, code.address, {}, [](const Symbol& one) { return one.code.address; });
      return symbol != symbols_.end() && code.holds(symbol->code.address);
    });
  }

  // By their last part, so that a wrong word in front or a forgotten one does not matter.
  std::vector<std::string> near(const std::string& pattern) const {
    const std::string wanted(last_part(pattern));
    std::vector<std::string> parts;
    parts.reserve(symbols_.size());
    for (const Symbol& symbol : symbols_) parts.emplace_back(last_part(symbol.name.shown));
    const std::string nearest = filter::nearest(wanted, parts);
    std::vector<std::string> found;
    for (std::size_t at = 0; at < parts.size() && !nearest.empty(); ++at) {
      const std::string& shown = symbols_[at].name.shown;
      if (parts[at] == nearest && found.size() < kMaxNear &&
          std::ranges::find(found, shown) == found.end())
        found.push_back(shown);
    }
    return found;
  }

  std::vector<Symbol> symbols_;  // by address
  const tracee::ElfFile& file_;
  const DebugInfo& debug_;
  UnwindTable unwind_table_;
};

bool has_symtab(const tracee::ElfFile& file) {
  return std::ranges::find(file.sections(), std::uint32_t{SHT_SYMTAB}, &tracee::Section::type) !=
         file.sections().end();
}

// A stripped file's functions are in its debug file, or those that it does not export in what is
// packed into it: `unpacked`.
Result<std::vector<tracee::FunctionSymbol>> functions_of(
    const tracee::ElfFile& file, const tracee::ElfFile* debug,
    const std::optional<tracee::ElfFile>& unpacked) {
  if (debug != nullptr && !has_symtab(file) && has_symtab(*debug)) return debug->functions();
  SJ_TRY(functions, file.functions());
  if (!unpacked) return std::move(functions);
  SJ_TRY(more, unpacked->functions());
  functions.insert(functions.end(), more.begin(), more.end());
  std::ranges::stable_sort(functions, {}, &tracee::FunctionSymbol::address);
  return std::move(functions);
}

std::string search(const tracee::ElfFile& file, const tracee::ElfFile* debug,
                   std::span<const Query> queries) {
  const auto unpacked =
      has_symtab(file) ? std::optional<tracee::ElfFile>() : unpack_mini_debug(file);
  const auto functions = functions_of(file, debug, unpacked);
  if (!functions) return json{{"error", functions.error().text()}}.dump();
  const DebugInfo info(debug != nullptr ? debug->fd() : file.fd());
  const Search search(file, *functions, info);
  std::vector<SearchResult> results;
  for (const Query& query : queries) results.push_back(search.find(query));
  search.note_inlined(queries, results);
  return json{{"results", results}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_sound(const sj_step& step) {
  const bool has_width =
      step.bytes == 0 || step.bytes == 1 || step.bytes == 2 || step.bytes == 4 || step.bytes == 8;
  return has_width && step.bits >= 1 && step.bits <= 64 && step.low_bit <= 64 - step.bits &&
         step.is_signed <= 1;
}

bool is_sound(const SearchResult& result, const Query& query) {
  return std::ranges::all_of(result.functions, [&](const FoundFunction& function) {
    return function.variables.size() == query.variables.size() &&
           std::ranges::all_of(function.variables, [](const FoundVariable& variable) {
             const ValueStart& start = variable.start;
             return start.base <= kStackPointer && start.steps.size() <= SJ_MAX_STEPS &&
                    (start.bytes == 1 || start.bytes == 2 || start.bytes == 4 ||
                     start.bytes == 8) &&
                    (start.base != kStackPointer || start.steps.empty() ||
                     start.steps.front().bytes != 0) &&
                    std::ranges::all_of(start.steps,
                                        [](const sj_step& step) { return is_sound(step); });
           });
  });
}

}  // namespace

Result<std::vector<SearchResult>> find_functions(const tracee::ElfFile& file,
                                                 const tracee::ElfFile* debug,
                                                 std::span<const Query> queries) {
  auto text = symbols::run_in_bounded_child([&] { return search(file, debug, queries); },
                                            kMaxAnswer, kTimeout);
  if (!text)
    return std::unexpected(
        std::move(text).error().within(fmt::format("{}: read its functions", file.name())));
  const json answer = json::parse(*text, nullptr, false);
  if (answer.is_object() && answer.contains("error") && answer["error"].is_string())
    return fail("{}", answer["error"].get<std::string>());
  const auto cannot_be_read = [&] { return fail("{}: its functions cannot be read", file.name()); };
  try {
    auto results = answer.at("results").get<std::vector<SearchResult>>();
    bool are_sound = results.size() == queries.size();
    for (std::size_t at = 0; are_sound && at < results.size(); ++at)
      are_sound = is_sound(results[at], queries[at]);
    if (are_sound) return results;
  } catch (const json::exception&) {
    return cannot_be_read();
  }
  return cannot_be_read();
}

}  // namespace sojourn::coarse
