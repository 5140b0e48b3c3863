#include "userspace/coarse/functions/name_filter.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "userspace/coarse/functions/function_names.h"

namespace sojourn::coarse {

namespace {

constexpr std::string_view kGlobbing = "*?[";
constexpr std::size_t kShortestWord = 3;  // of a word that is worth searching for within others

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The classes of the C++ library that mangled names abbreviate: "Sa" is std::allocator.
constexpr std::array<std::string_view, 9> kAbbreviated = {
    "string",   "basic_string",  "allocator",     "istream",       "ostream",
    "iostream", "basic_istream", "basic_ostream", "basic_iostream"};

// Words that stand in demangled names and not in mangled ones.
constexpr std::array<std::string_view, 27> kUnmangled = {
    "std",      "char_traits", "unsigned",  "signed", "long",      "short",     "int",
    "char",     "bool",        "float",     "double", "void",      "const",     "volatile",
    "operator", "lambda",      "unnamed",   "type",   "anonymous", "namespace", "thunk",
    "virtual",  "non",         "covariant", "return", "auto",      "decltype"};

bool is_abbreviated(std::string_view word) {
  return std::ranges::find(kAbbreviated, word) != kAbbreviated.end();
}

// Returns whether it is such a word, or a part of one, as a glob may have.
bool may_be_absent(std::string_view word) {
  const auto holds_it = [&](std::string_view one) { return one.contains(word); };
  return std::ranges::any_of(kAbbreviated, holds_it) || std::ranges::any_of(kUnmangled, holds_it);
}

// The beginning of the parameters. Parentheses inside of template brackets belong to types.
std::size_t parameters_of(std::string_view name) {
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') ++depth;
    if (name[at] == '>') --depth;
    if (name[at] == '(' && depth <= 0) return at;
  }
  return name.size();
}

// A map's name without the parts that mangled names do not have, or have elsewhere.
std::string name_of(std::string_view pattern) {
  std::string name(behind_thunk(pattern));
  constexpr std::string_view kNobody = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = name.find(kNobody)) != std::string::npos;)
    name.erase(at, kNobody.size());
  return name.substr(0, parameters_of(name));
}

// "send" of "rlc::Tx<int>::send<long>", "Tx" of "rlc::Tx::~Tx".
std::string_view plain_word(std::string_view name) {
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (name.ends_with('>')) {
    int depth = 0;
    std::size_t at = name.size();
    while (at-- > 0) {
      if (name[at] == '>') ++depth;
      if (name[at] == '<' && --depth == 0) break;
    }
    name = name.substr(0, std::min(at, name.size()));
  }
  std::size_t at = name.size();
  while (at > 0 && is_word_character(name[at - 1])) --at;
  return name.substr(at);
}

std::string_view literal_of(std::string_view glob) {
  std::string_view best;
  for (std::size_t at = 0; at < glob.size();) {
    if (glob[at] == '[') {
      const std::size_t end = glob.find(']', at);
      at = end == std::string_view::npos ? glob.size() : end + 1;
      continue;
    }
    std::size_t bytes = 0;
    while (at + bytes < glob.size() && is_word_character(glob[at + bytes])) ++bytes;
    const std::string_view word = glob.substr(at, bytes);
    if (bytes > best.size() && bytes >= kShortestWord && !may_be_absent(word)) best = word;
    at += std::max<std::size_t>(bytes, 1);
  }
  return best;
}

// A glob's longest word that stands between two "::", or behind the last: no name of C fits such a
// glob, and C++'s have the word as a whole.
std::string_view whole_word_of(std::string_view glob) {
  std::string_view best;
  if (glob.starts_with("_Z")) return best;
  for (std::size_t at = glob.find("::"); at != std::string_view::npos;
       at = glob.find("::", at + 2)) {
    std::size_t bytes = 0;
    while (at + 2 + bytes < glob.size() && is_word_character(glob[at + 2 + bytes])) ++bytes;
    const std::string_view word = glob.substr(at + 2, bytes);
    const std::string_view rest = glob.substr(at + 2 + bytes);
    if ((rest.empty() || rest.starts_with("::")) && bytes > best.size() && bytes <= 255 &&
        !is_digit(word.front()) && !may_be_absent(word))
      best = word;
  }
  return best;
}

}  // namespace

NameFilter::NameFilter(std::span<const std::string> patterns)
    : by_length_(kLongest + 1), candidates_(patterns.size()) {
  texts_.reserve(2 * patterns.size());  // so that views into the texts stay valid
  for (std::size_t query = 0; query < patterns.size(); ++query) add(patterns[query], query);
  for (const auto& [name, query] : whole_) {
    lengths_.resize(std::max(lengths_.size(), name.size() + 1));
    lengths_[name.size()] = true;
  }
}

void NameFilter::add(const std::string& pattern, std::size_t query) {
  if (pattern.empty()) return;
  whole_.emplace(texts_.emplace_back(pattern), query);  // a piece, a clone, a mangled name
  const std::string name = name_of(pattern.substr(0, pattern.find("[abi:")));
  if (pattern.starts_with("_Z") && pattern.find_first_of(kGlobbing) == std::string::npos) return;
  if (pattern.contains("operator") || pattern.contains('{') || pattern.contains('\'')) {
    all_.push_back(query);
    return;
  }
  if (name.find_first_of(kGlobbing) != std::string::npos) {
    // A glob of mangled names has their digits within its words.
    if (const std::string_view word = whole_word_of(name); !word.empty()) {
      by_length_[word.size()].push_back({std::string(word), query});
      return;
    }
    const std::string_view literal = literal_of(name);
    if (literal.empty())
      all_.push_back(query);
    else
      within_.push_back({std::string(literal), query});
    return;
  }
  if (name.contains('.')) return;  // "f.constprop.0"
  const std::string_view word = plain_word(name);
  if (word.empty() || word.size() > kLongest || is_digit(word.front()) || is_abbreviated(word)) {
    all_.push_back(query);
    return;
  }
  whole_.emplace(texts_.emplace_back(word), query);  // of C
  by_length_[word.size()].push_back({std::string(word), query});
}

void NameFilter::take(std::size_t query, const symbols::TableFunction& function) {
  auto& some = candidates_[query];
  if (some.empty() || some.back().symbol != function.symbol || some.back().file != function.file)
    some.push_back(function);
}

// In a mangled name each word stands behind its length: "4send". A word may end with digits, so
// that all endings of a row of digits may be that.
void NameFilter::look_for_words(const symbols::TableFunction& function, std::string_view linked) {
  for (std::size_t at = 2; at < linked.size(); ++at) {
    if (!is_digit(linked[at])) continue;
    const std::size_t begin = at;
    while (at < linked.size() && is_digit(linked[at])) ++at;
    std::size_t length = 0;
    std::size_t unit = 1;
    for (std::size_t digits = 1; digits <= std::min<std::size_t>(at - begin, 3); ++digits) {
      const char first = linked[at - digits];
      length += static_cast<std::size_t>(first - '0') * unit;
      unit *= 10;
      if (first == '0' || length > kLongest) continue;
      for (const Word& word : by_length_[length])
        if (linked.substr(at, length) == word.text) take(word.query, function);
    }
  }
}

void NameFilter::look(const symbols::TableFunction& function, std::string_view linked) {
  linked = linked.substr(0, std::max<std::size_t>(1, std::min(linked.find('@'), linked.size())));
  const auto look_up = [&](std::string_view name) {
    if (name.size() >= lengths_.size() || !lengths_[name.size()]) return;
    const auto [first, last] = whole_.equal_range(name);
    for (auto one = first; one != last; ++one) take(one->second, function);
  };
  look_up(linked);
  if (const std::size_t suffix = linked.find('.', 1); suffix != std::string_view::npos)
    look_up(linked.substr(0, suffix));
  if (linked.starts_with("_Z")) look_for_words(function, linked);
  for (const Word& word : within_)
    if (linked.contains(word.text)) take(word.query, function);
  for (const std::size_t query : all_) take(query, function);
}

std::string_view last_word(std::string_view linked) {
  if (!linked.starts_with("_Z")) return linked.substr(0, linked.find_first_of(".@", 1));
  std::string_view rest = linked.substr(2);
  if (rest.starts_with('N')) rest.remove_prefix(1);
  while (!rest.empty() && std::string_view("KVROL").contains(rest.front())) rest.remove_prefix(1);
  std::string_view word;
  while (!rest.empty() && (is_digit(rest.front()) || rest.front() == 'S')) {
    if (rest.front() == 'S') {  // "St", "S1_"
      const std::size_t end =
          rest.size() > 1 && std::islower(static_cast<unsigned char>(rest[1])) != 0
              ? 2
              : rest.find('_') + 1;
      if (end == 0) break;
      rest.remove_prefix(std::min(end, rest.size()));
      continue;
    }
    std::size_t length = 0;
    while (!rest.empty() && is_digit(rest.front()) && length < 10'000) {
      length = 10 * length + static_cast<std::size_t>(rest.front() - '0');
      rest.remove_prefix(1);
    }
    word = rest.substr(0, length);
    rest.remove_prefix(std::min(length, rest.size()));
    if (rest.starts_with('L')) rest.remove_prefix(1);
  }
  return word;
}

}  // namespace sojourn::coarse
