#include "analysis/schema_language/schema_lexer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sojourn::schema_language {

namespace {

constexpr std::size_t kMaxQuote = 60;  // of a word, in an error

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// With the dots of places and the apostrophe that pleco allows in names: the parser then names the
// whole word that it refuses.
bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '\'';
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

bool continues_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Those of one letter, as C and Haskell write them.
constexpr std::array<std::pair<char, char>, 10> kEscapes = {{{'n', '\n'},
                                                             {'t', '\t'},
                                                             {'"', '"'},
                                                             {'\\', '\\'},
                                                             {'\'', '\''},
                                                             {'a', '\a'},
                                                             {'b', '\b'},
                                                             {'f', '\f'},
                                                             {'r', '\r'},
                                                             {'v', '\v'}}};

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kWord:
      if (token.spelling.size() > kMaxQuote)
        return fmt::format("\"{}...\"", token.spelling.substr(0, kMaxQuote));
      return fmt::format("\"{}\"", token.spelling);
    case Token::Kind::kText:
      return "a text in quotes";
    case Token::Kind::kSymbol:
      return fmt::format("\"{}\"", token.spelling);
    case Token::Kind::kEnd:
      break;
  }
  return "the end of the file";
}

std::unexpected<Error> expected(std::string_view file, Position at, std::string_view wanted,
                                std::string_view found) {
  return fail("{}:{}:{}: expected {}, found {}", file, at.line, at.column, wanted, found);
}

Result<Token> Lexer::next() {
  SJ_CHECK(skip_blanks());
  if (rest_.empty()) return take(Token::Kind::kEnd, 0);
  if (rest_.front() == '"') return read_text();
  if (rest_.starts_with("--")) return take(Token::Kind::kSymbol, 2);
  if (std::string_view("{},;").contains(rest_.front())) return take(Token::Kind::kSymbol, 1);
  const auto end = std::ranges::find_if_not(rest_, is_word_character);
  if (end == rest_.begin())
    return expected(file_, at_, "a word, a text or one of { } , ; --", describe_byte());
  return take(Token::Kind::kWord, static_cast<std::size_t>(end - rest_.begin()));
}

Result<void> Lexer::skip_blanks() {
  while (!rest_.empty()) {
    if (is_blank(rest_.front())) {
      advance(1);
    } else if (rest_.starts_with("//")) {
      advance(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      SJ_CHECK(skip_comment());
    } else {
      break;
    }
  }
  return {};
}

Result<void> Lexer::skip_comment() {
  const Position begin = at_;
  std::size_t depth = 0;
  while (!rest_.empty()) {
    if (rest_.starts_with("/*")) {
      depth += 1;
      advance(2);
    } else if (rest_.starts_with("*/")) {
      advance(2);
      if (--depth == 0) return {};
    } else {
      advance(1);
    }
  }
  return expected(file_, begin, "a \"*/\" for every \"/*\" of the comment that begins here",
                  "the end of the file");
}

Result<Token> Lexer::read_text() {
  const Position begin = at_;
  const std::string_view from_quote = rest_;
  std::string text;
  advance(1);
  while (!rest_.empty() && rest_.front() != '"') {
    if (rest_.front() == '\n')
      return expected(file_, at_, "a '\"' that ends the text", "the end of the line");
    if (is_control(rest_.front()))
      return expected(file_, at_, "a text without control characters", describe_byte());
    if (rest_.front() == '\\') {
      SJ_CHECK(read_escape(text));
    } else {
      text += rest_.front();
      advance(1);
    }
  }
  if (rest_.empty())
    return expected(file_, begin, "a '\"' that ends the text that begins here",
                    "the end of the file");
  advance(1);
  return Token{.kind = Token::Kind::kText,
               .spelling = from_quote.substr(0, from_quote.size() - rest_.size()),
               .text = std::move(text),
               .at = begin};
}

// A backslash and what follows. Two are nothing: \& and a gap, which is blanks (and line ends)
// between two backslashes.
Result<void> Lexer::read_escape(std::string& text) {
  advance(1);
  const char letter = rest_.empty() ? '\0' : rest_.front();
  if (is_blank(letter)) {
    while (!rest_.empty() && is_blank(rest_.front())) advance(1);
    if (!rest_.starts_with('\\'))
      return expected(file_, at_, "a '\\' that ends the gap in the text", describe_byte());
  } else if (letter != '&') {
    const auto escape = std::ranges::find(kEscapes, letter, &std::pair<char, char>::first);
    if (escape == kEscapes.end())
      return expected(file_, at_, "one of n t \" \\ ' & a b f r v behind '\\'", describe_byte());
    text += escape->second;
  }
  advance(1);
  return {};
}

void Lexer::advance(std::size_t bytes) {
  for (const char c : rest_.substr(0, bytes)) {
    if (c == '\n') {
      at_ = {.line = at_.line + 1, .column = 1};
    } else if (!continues_a_character(c)) {
      at_.column += 1;
    }
  }
  rest_.remove_prefix(bytes);
}

Token Lexer::take(Token::Kind kind, std::size_t bytes) {
  Token token{.kind = kind, .spelling = rest_.substr(0, bytes), .text = {}, .at = at_};
  advance(bytes);
  return token;
}

std::string Lexer::describe_byte() const {
  if (rest_.empty()) return "the end of the file";
  const char byte = rest_.front();
  if (is_control(byte) || static_cast<unsigned char>(byte) >= 0x80)
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(byte));
  return fmt::format("'{}'", byte);
}

}  // namespace sojourn::schema_language
