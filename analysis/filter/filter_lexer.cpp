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

// Characters of threads' names that would be taken for operators.
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

constexpr std::array<std::string_view, 22> kSymbols = {
    "==", "!=", "<=", ">=", "!~", "&&", "||", "..", "<", ">", "~",
    "!",  "(",  ")",  "{",  "}",  ",",  "+",  "-",  "*", "/", "%"};

// No character is special between quotes.
Result<std::string> read_text(language::Tokenizer& tokenizer, std::size_t begin) {
  const language::SourceText& source = tokenizer.source();
  const std::size_t length = tokenizer.rest().find(source.text()[begin]);
  if (length == std::string_view::npos)
    return source.complain({begin, source.text().size()}, "the quotes are not closed");
  tokenizer.advance(length + 1);
  return std::string(source.text().substr(begin + 1, length));
}

constexpr language::Grammar kGrammar = {
    .blanks = " \t\n\r",
    .is_word = [](char c) { return is_word_letter(c) || is_digit(c); },
    .symbols = kSymbols,
    .quotes = "'\"",
    .read_text = read_text};

// The advice on a character that begins no token.
std::string_view advice_on(char c) {
  switch (c) {
    case '.':
      return "a '.' belongs into a number, or with another one into a range";
    case '=':
      return "a single '=' means nothing: write == to compare";
    case '&':
      return "a single '&' means nothing: write && for \"and\"";
    case '|':
      return "a single '|' means nothing: write || for \"or\"";
    default:
      return "this character means nothing here";
  }
}

constexpr Number kNumberLimit = static_cast<Number>(UINT64_MAX);

}  // namespace

Lexer::Lexer(std::string_view text) : tokenizer_(language::SourceText(text), kGrammar) {}

Result<Token> Lexer::next() {
  SJ_CHECK(tokenizer_.skip_blanks());
  if (is_digit(tokenizer_.peek())) return number();
  SJ_TRY(token, tokenizer_.next());
  if (token.kind == Token::Kind::kOther)
    return source().complain(token.at, advice_on(token.spelling.front()));
  return Token(std::move(token));
}

Result<Token> Lexer::number() {
  const std::string_view rest = tokenizer_.rest();
  const std::size_t begin = tokenizer_.offset();
  const bool is_hex = rest.starts_with("0x") || rest.starts_with("0X");
  Decimal value = is_hex ? Decimal{} : read_decimal(rest);
  if (is_hex) {
    value.length = 2;
    for (int digit = 0; value.length < rest.size() && (digit = hex_digit(rest[value.length])) >= 0;
         ++value.length)
      value.whole = std::min(value.whole * 16 + digit, kNumberLimit + 1);
    if (value.length == 2)
      return source().complain({begin, begin + 2}, "digits are missing after 0x");
  }
  if (value.whole > kNumberLimit)
    return source().complain({begin, begin + value.length}, "the number needs more than 64 bits");
  const std::string_view name = unit_after(value.length);
  const std::size_t length =
      name.empty() ? value.length : static_cast<std::size_t>(name.end() - rest.begin());
  const TextRange at = {begin, begin + length};
  const TimeUnit* const time = find_time_unit(name);
  const auto multiple = std::ranges::find(kMultiples, name, &UnitInfo::name);
  if (!name.empty() && time == nullptr && multiple == kMultiples.end())
    return source().complain(
        {at.end - name.size(), at.end},
        fmt::format("\"{}\" is no unit: ns, us, ms, s, min, h, k, M, G are", name));
  std::uint64_t factor = 1;
  if (time != nullptr)
    factor = time->ns;
  else if (!name.empty())
    factor = multiple->factor;
  const std::optional<Number> number = value.times(factor);
  if (!number)
    return source().complain(
        at, time != nullptr ? "a time has whole nanoseconds" : "a whole number is wanted here");
  if (*number > kNumberLimit) return source().complain(at, "the number needs more than 64 bits");
  Token token(tokenizer_.take(Token::Kind::kNumber, length));
  token.number = *number;
  token.unit = time != nullptr ? Unit::kTime : Unit::kPlain;
  return token;
}

// Returns the word after a number, which follows at once or, if it is a unit of time, after blanks,
// as reports print it. The only other word that may follow a number is `in`.
std::string_view Lexer::unit_after(std::size_t digits) const {
  const std::string_view rest = tokenizer_.rest().substr(digits);
  const auto word_of = [](std::string_view text) {
    const auto end = std::ranges::find_if_not(text, kGrammar.is_word);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  };
  if (const std::string_view at_once = word_of(rest); !at_once.empty()) return at_once;
  const std::string_view later =
      word_of(rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
  return find_time_unit(later) != nullptr ? later : std::string_view();
}

std::string_view Lexer::rest_behind_blanks() const {
  const std::string_view rest = tokenizer_.rest();
  return rest.substr(std::min(rest.find_first_not_of(kGrammar.blanks), rest.size()));
}

bool Lexer::at_pattern() const {
  const std::string_view rest = rest_behind_blanks();
  const auto end = std::ranges::find_if_not(rest, is_pattern_character);
  if (rest.empty() || is_digit(rest.front())) return false;
  if (end == rest.begin()) return kGrammar.quotes.contains(rest.front());
  return rest.front() != '-' && rest.front() != '.' && (end == rest.end() || *end != '(');
}

bool Lexer::at_set() const {
  return rest_behind_blanks().starts_with('{');
}

Result<Pattern> Lexer::pattern() {
  SJ_CHECK(tokenizer_.skip_blanks());
  if (kGrammar.quotes.contains(tokenizer_.peek())) {
    SJ_TRY(token, tokenizer_.next());
    return Pattern{.text = std::move(token.text), .at = token.at};
  }
  const std::string_view rest = tokenizer_.rest();
  const auto length =
      static_cast<std::size_t>(std::ranges::find_if_not(rest, is_pattern_character) - rest.begin());
  const std::size_t begin = tokenizer_.offset();
  if (length == 0)
    return source().complain({begin, begin + 1},
                             "a name is wanted here, such as rlc.tx or 'rlc.*'");
  if (length < rest.size() && kOnlyInQuotes.contains(rest[length]))
    return source().complain({begin + length, begin + length + 1},
                             fmt::format("a name with a '{}' in it needs quotes", rest[length]));
  const language::Token token = tokenizer_.take(Token::Kind::kWord, length);
  return Pattern{.text = std::string(token.spelling), .at = token.at};
}

}  // namespace sojourn::filter
