#include "analysis/filter/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analysis/base/letters.h"

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
  Number factor;
  Unit unit;
};
constexpr std::array kUnits = {
    UnitInfo{"ns", 1, Unit::kTime},
    UnitInfo{"us", 1'000, Unit::kTime},
    UnitInfo{"ms", 1'000'000, Unit::kTime},
    UnitInfo{"s", 1'000'000'000, Unit::kTime},
    UnitInfo{"min", 60'000'000'000, Unit::kTime},
    UnitInfo{"k", 1'000, Unit::kPlain},
    UnitInfo{"M", 1'000'000, Unit::kPlain},
    UnitInfo{"G", 1'000'000'000, Unit::kPlain},
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
  const Place here = {at_, at_ + 1};
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
  std::size_t end = at_;
  Number value = 0;
  Number fraction = 0;  // of 1 / divisor
  Number divisor = 1;
  const bool is_hex = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
  if (is_hex) {
    end += 2;
    for (int digit = 0; end < text_.size() && (digit = hex_digit(text_[end])) >= 0; ++end)
      value = std::min(value * 16 + digit, kNumberLimit + 1);
    if (end == at_ + 2) return complain(text_, {at_, end}, "digits are missing after 0x");
  } else {
    for (; end < text_.size() && is_digit(text_[end]); ++end)
      value = std::min(value * 10 + (text_[end] - '0'), kNumberLimit + 1);
    if (text_.substr(end).starts_with('.') && end + 1 < text_.size() && is_digit(text_[end + 1])) {
      for (++end; end < text_.size() && is_digit(text_[end]); ++end) {
        if (divisor > kNumberLimit / 10) continue;  // finer than any unit
        fraction = fraction * 10 + (text_[end] - '0');
        divisor *= 10;
      }
    }
  }
  Token token;
  token.kind = Token::Kind::kNumber;
  token.number = value;
  if (value > kNumberLimit)
    return complain(text_, {at_, end}, "the number needs more than 64 bits");
  token.at = {at_, end};
  SJ_CHECK(apply_unit(token, end, fraction, divisor));
  token.spelling = text_.substr(at_, token.at.end - at_);
  at_ = token.at.end;
  return token;
}

Result<void> Lexer::apply_unit(Token& token, std::size_t number_end, Number fraction,
                               Number divisor) {
  std::size_t end = number_end;
  while (end < text_.size() && (is_word_letter(text_[end]) || is_digit(text_[end]))) ++end;
  const std::string_view name = text_.substr(number_end, end - number_end);
  Number factor = 1;
  if (!name.empty()) {
    const auto* const unit = std::ranges::find(kUnits, name, &UnitInfo::name);
    if (unit == kUnits.end())
      return complain(text_, {number_end, end},
                      fmt::format("\"{}\" is no unit: ns, us, ms, s, min, k, M, G are", name));
    factor = unit->factor;
    token.unit = unit->unit;
  }
  token.at.end = end;
  const Number whole = token.number * factor;  // at most 2^64 * 6e10
  if (fraction * factor % divisor != 0)
    return complain(text_, token.at,
                    token.unit == Unit::kTime ? "a time has whole nanoseconds"
                                              : "a whole number is wanted here");
  token.number = whole + fraction * factor / divisor;
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
