#include "userspace/coarse/functions/written_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sojourn::coarse {

namespace {

using Tokens = std::vector<std::string>;
using View = std::span<const std::string>;

constexpr std::size_t kMaxTokens = 4096;  // the limit of one name; names in maps are shorter
constexpr unsigned kMaxBrackets = 64;     // of brackets

bool is_name_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_name_word(const std::string& token) {
  return !token.empty() && is_name_word(token.front());
}

Tokens split_tokens(std::string_view text) {
  Tokens tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    std::size_t bytes = 1;
    if (is_name_word(text[at]))
      while (at + bytes < text.size() && is_name_word(text[at + bytes])) ++bytes;
    else if (text.substr(at).starts_with("::"))
      bytes = 2;
    tokens.emplace_back(text.substr(at, bytes));
    at += bytes;
  }
  return tokens;
}

bool has_at(const Tokens& tokens, std::size_t at, std::initializer_list<std::string_view> words) {
  return at + words.size() <= tokens.size() &&
         std::ranges::equal(words, std::span(tokens).subspan(at, words.size()));
}

// Removes tokens that people leave out, or may write or leave out.
void drop_noise(Tokens& tokens) {
  for (std::size_t at = 0; at < tokens.size();) {
    std::size_t gone = 0;
    if (has_at(tokens, at, {"(", "anonymous", "namespace", ")", "::"}))
      gone = 5;
    else if (has_at(tokens, at, {"__cxx11", "::"}) || has_at(tokens, at, {"__1", "::"}))
      gone = 2;
    else if (tokens[at] == "class" || tokens[at] == "struct" || tokens[at] == "enum" ||
             tokens[at] == "typename")
      gone = 1;
    else if (tokens[at] == "::" &&
             (at == 0 || (!is_name_word(tokens[at - 1]) && tokens[at - 1] != ">" &&
                          tokens[at - 1] != ")" && tokens[at - 1] != "}")))
      gone = 1;  // "::srsran::f"
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    if (gone != 0)
      tokens.erase(from, from + static_cast<std::ptrdiff_t>(gone));
    else
      ++at;
  }
  for (std::size_t at = 0; at + 2 < tokens.size(); ++at)
    if (has_at(tokens, at, {"(", "void", ")"}))
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

// Type aliases and their demangled forms on x86-64 Linux.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kSynonyms = {
    {{"uint8_t", "unsigned char"},
     {"uint16_t", "unsigned short"},
     {"uint32_t", "unsigned int"},
     {"uint64_t", "unsigned long"},
     {"uintptr_t", "unsigned long"},
     {"size_t", "unsigned long"},
     {"int8_t", "signed char"},
     {"int16_t", "short"},
     {"int32_t", "int"},
     {"int64_t", "long"},
     {"ssize_t", "long"},
     {"intptr_t", "long"},
     {"ptrdiff_t", "long"}}};

bool is_of_number(const std::string& token) {
  constexpr std::array<std::string_view, 6> kWords = {"unsigned", "signed", "long",
                                                      "short",    "int",    "char"};
  return std::ranges::find(kWords, token) != kWords.end();
}

// "unsigned long int" and "long unsigned" as "unsigned long", in one token.
std::string number_type(View words) {
  const auto count = [&](std::string_view word) { return std::ranges::count(words, word); };
  std::string kind = count("char") != 0    ? "char"
                     : count("short") != 0 ? "short"
                     : count("long") > 1   ? "long long"
                     : count("long") == 1  ? "long"
                                           : "int";
  if (count("unsigned") != 0) return "unsigned " + kind;
  return count("signed") != 0 && kind == "char" ? "signed char" : kind;
}

void name_types(Tokens& tokens) {
  Tokens named;
  const auto drop_std = [&] {
    if (named.size() >= 2 && named.back() == "::" && named[named.size() - 2] == "std")
      named.resize(named.size() - 2);
  };
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const auto* const synonym =
        std::ranges::find(kSynonyms, std::string_view(tokens[at]),
                          &std::pair<std::string_view, std::string_view>::first);
    if (synonym != kSynonyms.end()) {
      drop_std();
      named.emplace_back(synonym->second);
    } else if (is_of_number(tokens[at])) {
      std::size_t end = at;
      while (end < tokens.size() && is_of_number(tokens[end])) ++end;
      named.push_back(number_type(std::span(tokens).subspan(at, end - at)));
      at = end - 1;
    } else if ((tokens[at] == "string" || tokens[at] == "string_view") &&
               !has_at(tokens, at + 1, {"::"})) {
      named.push_back(tokens[at] == "string" ? "basic_string" : "basic_string_view");
      for (const char* more : {"<", "char", ">"}) named.emplace_back(more);
    } else {
      named.push_back(tokens[at]);
    }
  }
  tokens = std::move(named);
}

// Returns the place behind the bracket that is opened at `at`, or the end if it is never closed.
std::size_t behind_bracket(View tokens, std::size_t at) {
  const std::string& open = tokens[at];
  const std::string_view close = open == "<" ? ">" : (open == "(" ? ")" : "]");
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at] == open) ++depth;
    if (tokens[at] == close && --depth == 0) return at + 1;
  }
  return tokens.size();
}

// The tokens inside of brackets from `at` to `end`, also if they are never closed.
View between(View tokens, std::size_t at, std::size_t end) {
  return end - at < 2 ? View() : tokens.subspan(at + 1, end - at - 2);
}

// Behind the qualified name that begins at `at`, its template arguments included.
std::size_t behind_name(View tokens, std::size_t at) {
  while (at < tokens.size() && is_name_word(tokens[at])) {
    ++at;
    if (at < tokens.size() && tokens[at] == "<") at = behind_bracket(tokens, at);
    if (at + 1 >= tokens.size() || tokens[at] != "::" || !is_name_word(tokens[at + 1])) break;
    ++at;
  }
  return at;
}

// "const T &" to "T const &".
void move_const(Tokens& tokens) {
  for (std::size_t at = tokens.size(); at-- > 0;) {
    if (tokens[at] != "const" && tokens[at] != "volatile") continue;
    const bool begins_type =
        at == 0 || tokens[at - 1] == "(" || tokens[at - 1] == "," || tokens[at - 1] == "<";
    if (!begins_type || at + 1 >= tokens.size() || !is_name_word(tokens[at + 1])) continue;
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(behind_name(tokens, at + 1));
    std::rotate(from, from + 1, end);
  }
}

Tokens canonical(std::string_view text) {
  Tokens tokens = split_tokens(text);
  if (tokens.size() > kMaxTokens) return {};
  drop_noise(tokens);
  name_types(tokens);
  move_const(tokens);
  return tokens;
}

struct Part {
  const std::string* word = nullptr;
  View arguments;  // between its "<" and ">"
  bool has_arguments = false;
};

std::vector<Part> parts_of(View name) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < name.size();) {
    if (name[at] == "::") {
      ++at;
      continue;
    }
    Part part{.word = &name[at], .arguments = {}, .has_arguments = false};
    ++at;
    if (at < name.size() && name[at] == "<") {
      const std::size_t end = behind_bracket(name, at);
      part.has_arguments = true;
      part.arguments = between(name, at, end);
      at = end;
    }
    parts.push_back(part);
  }
  return parts;
}

std::vector<View> split_list(View list) {
  std::vector<View> items;
  if (list.empty()) return items;
  std::size_t from = 0;
  for (std::size_t at = 0; at <= list.size();) {
    if (at == list.size() || list[at] == ",") {
      items.push_back(list.subspan(from, at - from));
      from = ++at;
    } else if (list[at] == "<" || list[at] == "(" || list[at] == "[") {
      at = behind_bracket(list, at);
    } else {
      ++at;
    }
  }
  return items;
}

bool fits_type(View shown, View written, unsigned depth);

// `written` may leave out trailing default arguments, such as allocators.
bool fits_list(View shown, View written, bool may_be_shorter, unsigned depth) {
  const std::vector<View> all = split_list(shown);
  const std::vector<View> some = split_list(written);
  if (some.size() > all.size() || (some.size() != all.size() && !may_be_shorter)) return false;
  for (std::size_t at = 0; at < some.size(); ++at)
    if (!fits_type(all[at], some[at], depth + 1)) return false;
  return true;
}

// Returns whether the last components of the names are the same.
bool fits_name(View shown, View written, unsigned depth) {
  const std::vector<Part> all = parts_of(shown);
  const std::vector<Part> some = parts_of(written);
  if (some.empty() || some.size() > all.size()) return false;
  for (std::size_t at = 0; at < some.size(); ++at) {
    const Part& one = all[all.size() - some.size() + at];
    const Part& other = some[at];
    if (*one.word != *other.word || (other.has_arguments && !one.has_arguments)) return false;
    if (other.has_arguments && !fits_list(one.arguments, other.arguments, true, depth))
      return false;
  }
  return true;
}

bool fits_type(View shown, View written, unsigned depth) {
  if (depth > kMaxBrackets) return false;
  std::size_t in_shown = 0;
  std::size_t in_written = 0;
  while (in_shown < shown.size() && in_written < written.size()) {
    const std::size_t end = behind_name(shown, in_shown);
    const std::size_t end_written = behind_name(written, in_written);
    if ((end == in_shown) != (end_written == in_written)) return false;
    if (end == in_shown) {
      if (shown[in_shown++] != written[in_written++]) return false;
      continue;
    }
    if (!fits_name(shown.subspan(in_shown, end - in_shown),
                   written.subspan(in_written, end_written - in_written), depth))
      return false;
    in_shown = end;
    in_written = end_written;
  }
  return in_shown == shown.size() && in_written == written.size();
}

// A function's name, its parameters, and the qualifiers behind them.
struct Signature {
  View name;
  View parameters;
  View behind;
  bool has_parameters = false;
};

Signature signature_of(View tokens) {
  Signature signature{.name = tokens, .parameters = {}, .behind = {}, .has_parameters = false};
  std::size_t at = 0;
  while (at < tokens.size() && tokens[at] != "(")
    at = tokens[at] == "<" ? behind_bracket(tokens, at) : at + 1;
  if (at >= tokens.size() || at == 0) return signature;
  const std::size_t end = behind_bracket(tokens, at);
  signature.name = tokens.first(at);
  signature.parameters = between(tokens, at, end);
  signature.behind = tokens.subspan(end);
  signature.has_parameters = true;
  return signature;
}

// Returns false for names that need more parsing than this, such as those of lambdas and operators.
bool is_plain(std::string_view text) {
  return !text.contains('{') && !text.contains("operator") && !text.contains('\'');
}

}  // namespace

Likeness likeness(std::string_view shown, std::string_view written) {
  if (!is_plain(shown) || !is_plain(written)) return Likeness::kNone;
  const Tokens all = canonical(shown);
  const Tokens some = canonical(written);
  const Signature function = signature_of(all);
  const Signature wanted = signature_of(some);
  if (wanted.has_parameters) {
    if (!function.has_parameters || !fits_list(function.parameters, wanted.parameters, false, 0))
      return Likeness::kNone;
    if (!wanted.behind.empty() && !std::ranges::equal(wanted.behind, function.behind))
      return Likeness::kNone;
  }
  // Template arguments of the function itself may not be left out: with others it is another
  // function.
  const std::vector<Part> parts = parts_of(function.name);
  const std::vector<Part> some_parts = parts_of(wanted.name);
  if (some_parts.empty() || some_parts.size() > parts.size() ||
      !fits_name(function.name, wanted.name, 0) ||
      parts.back().has_arguments != some_parts.back().has_arguments)
    return Likeness::kNone;
  return parts.size() == some_parts.size() ? Likeness::kSame : Likeness::kEnding;
}

}  // namespace sojourn::coarse
