#include "analysis/filter/filter_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/base/letters.h"
#include "analysis/base/time_text.h"

namespace sojourn::filter {

namespace {

bool is_word_letter(char c) {
  return is_letter(c) || c == '_';
}

bool is_pattern_character(char c) {
  return is_word_letter(c) || is_digit(c) || std::string_view(".-*?[]:").contains(c);
}

// What threads' names have, and what would be taken for an operator.
constexpr std::string_view kOnlyInQuotes = "/%+#@";

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct UnitInfo {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array kMultiples = {
    UnitInfo{"k", 1'000},
    UnitInfo{"M", 1'000'000},
    UnitInfo{"G", 1'000'000'000},
};

// The longest first.
constexpr std::array<std::string_view, 22> kSymbols = {
    "==", "!=", "<=", ">=", "!~", "&&", "||", "..", "<", ">", "~",
    "!",  "(",  ")",  "{",  "}",  ",",  "+",  "-",  "*", "/", "%"};

// What people write that other languages taught them.
std::string_view meant(char c) {
  switch (c) {
    case '=':
      return "a single '=' means nothing: write == to compare";
    case '&':
      return "a single '&' means nothing: write && for \"and\"";
    case '|':
      return "a single '|' means nothing: write || for \"or\"";
    default:
      return "";
  }
}

constexpr Number kNumberLimit = static_cast<Number>(UINT64_MAX);

}  // namespace

void Lexer::skip_blanks() {
  while (at_ < text_.size() && std::string_view(" \t\n\r").contains(text_[at_])) ++at_;
}

Token Lexer::take(Token::Kind kind, std::size_t end) {
  Token token;
  token.kind = kind;
  token.spelling = text_.substr(at_, end - at_);
  token.at = {at_, end};
  at_ = end;
  return token;
}

Result<Token> Lexer::next() {
  skip_blanks();
  if (at_ == text_.size()) return take(Token::Kind::kEnd, at_);
  const char c = text_[at_];
  if (is_digit(c)) return number();
  if (c == '\'' || c == '"') return quoted();
  if (is_word_letter(c)) {
    std::size_t end = at_;
    while (end < text_.size() && (is_word_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return take(Token::Kind::kName, end);
  }
  for (const std::string_view symbol : kSymbols)
    if (text_.substr(at_).starts_with(symbol))
      return take(Token::Kind::kSymbol, at_ + symbol.size());
  const TextRange here = {at_, at_ + 1};
  if (const auto words = meant(c); !words.empty()) return complain(text_, here, words);
  if (c == '.')
    return complain(text_, here, "a '.' belongs into a number, or with another one into a range");
  return complain(text_, here, "this character means nothing here");
}

Result<Token> Lexer::quoted() {
  const std::size_t close = text_.find(text_[at_], at_ + 1);
  if (close == std::string_view::npos)
    return complain(text_, {at_, text_.size()}, "the quotes are not closed");
  Token token = take(Token::Kind::kText, close + 1);
  token.text = token.spelling.substr(1, token.spelling.size() - 2);
  return token;
}

Result<Token> Lexer::number() {
  const std::string_view rest = text_.substr(at_);
  const bool is_hex = rest.starts_with("0x") || rest.starts_with("0X");
  Decimal value = is_hex ? Decimal{} : read_decimal(rest);
  if (is_hex) {
    value.length = 2;
    for (int digit = 0; value.length < rest.size() && (digit = hex_digit(rest[value.length])) >= 0;
         ++value.length)
      value.whole = std::min(value.whole * 16 + digit, kNumberLimit + 1);
    if (value.length == 2) return complain(text_, {at_, at_ + 2}, "digits are missing after 0x");
  }
  const std::size_t end = at_ + value.length;
  if (value.whole > kNumberLimit)
    return complain(text_, {at_, end}, "the number needs more than 64 bits");
  Token token;
  token.kind = Token::Kind::kNumber;
  token.at = {at_, end};
  SJ_CHECK(apply_unit(token, value));
  token.spelling = text_.substr(at_, token.at.end - at_);
  at_ = token.at.end;
  return token;
}

// The word behind the number: at once, or after blanks where that is a unit of time, as reports
// print it. Nothing else that is a word may follow a number but `in`.
TextRange Lexer::unit_after(std::size_t number_end) const {
  const auto word_at = [this](std::size_t begin) {
    std::size_t end = begin;
    while (end < text_.size() && (is_word_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return TextRange{begin, end};
  };
  const TextRange at_once = word_at(number_end);
  if (at_once.end != at_once.begin) return at_once;
  const TextRange later = word_at(std::min(text_.find_first_not_of(' ', number_end), text_.size()));
  const bool is_time =
      find_time_unit(text_.substr(later.begin, later.end - later.begin)) != nullptr;
  return is_time ? later : at_once;
}

Result<void> Lexer::apply_unit(Token& token, const Decimal& value) {
  const TextRange at = unit_after(token.at.end);
  const std::string_view name = text_.substr(at.begin, at.end - at.begin);
  std::uint64_t factor = 1;
  if (const TimeUnit* const time = find_time_unit(name)) {
    factor = time->ns;
    token.unit = Unit::kTime;
  } else if (!name.empty()) {
    const auto multiple = std::ranges::find(kMultiples, name, &UnitInfo::name);
    if (multiple == kMultiples.end())
      return complain(text_, at,
                      fmt::format("\"{}\" is no unit: ns, us, ms, s, min, h, k, M, G are", name));
    factor = multiple->factor;
  }
  token.at.end = at.end;
  const std::optional<Number> number = value.times(factor);
  if (!number)
    return complain(text_, token.at,
                    token.unit == Unit::kTime ? "a time has whole nanoseconds"
                                              : "a whole number is wanted here");
  token.number = *number;
  if (token.number > kNumberLimit)
    return complain(text_, token.at, "the number needs more than 64 bits");
  return {};
}

bool Lexer::at_pattern() const {
  Lexer ahead = *this;
  ahead.skip_blanks();
  const std::string_view rest = text_.substr(ahead.at_);
  const auto end = std::ranges::find_if_not(rest, is_pattern_character);
  if (rest.empty() || is_digit(rest.front())) return false;
  if (end == rest.begin()) return rest.front() == '\'' || rest.front() == '"';
  return rest.front() != '-' && rest.front() != '.' && (end == rest.end() || *end != '(');
}

bool Lexer::at_set() const {
  Lexer ahead = *this;
  ahead.skip_blanks();
  return text_.substr(ahead.at_).starts_with('{');
}

Result<Pattern> Lexer::pattern() {
  skip_blanks();
  const std::size_t begin = at_;
  if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
    SJ_TRY(token, quoted());
    return Pattern{.text = token.text, .at = token.at};
  }
  while (at_ < text_.size() && is_pattern_character(text_[at_])) ++at_;
  if (at_ == begin)
    return complain(text_, {begin, begin + 1}, "a name is wanted here, such as rlc.tx or 'rlc.*'");
  if (at_ < text_.size() && kOnlyInQuotes.contains(text_[at_]))
    return complain(text_, {at_, at_ + 1},
                    fmt::format("a name with a '{}' in it needs quotes", text_[at_]));
  return Pattern{.text = std::string(text_.substr(begin, at_ - begin)), .at = {begin, at_}};
}

}  // namespace sojourn::filter
