#include "analysis/schema_language/schema_lexer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "analysis/base/letters.h"

namespace sojourn::schema_language {

namespace {

constexpr std::size_t kMaxQuote = 60;  // of a word, in an error

constexpr std::string_view kBlanks = " \t\n\v\f\r";

constexpr std::array<std::string_view, 5> kSymbols = {"--", "{", "}", ",", ";"};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

// Escapes of one letter, as C and Haskell write them.
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

std::string describe_byte(std::string_view rest) {
  if (rest.empty()) return "the end of the file";
  const char byte = rest.front();
  if (is_control(byte) || static_cast<unsigned char>(byte) >= 0x80)
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(byte));
  return fmt::format("'{}'", byte);
}

std::unexpected<Error> expected_here(const language::Tokenizer& tokenizer,
                                     std::string_view wanted) {
  return tokenizer.source().expected({tokenizer.offset(), tokenizer.offset()}, wanted,
                                     describe_byte(tokenizer.rest()));
}

// Reads a backslash and the character after it. Two forms give no character: \& and a gap, which is
// blanks (and line ends) between two backslashes.
Result<void> read_escape(language::Tokenizer& tokenizer, std::string& text) {
  tokenizer.advance(1);
  const std::string_view rest = tokenizer.rest();
  if (!rest.empty() && kBlanks.contains(rest.front())) {
    tokenizer.advance(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (tokenizer.peek() != '\\')
      return expected_here(tokenizer, "a '\\' that ends the gap in the text");
  } else if (tokenizer.peek() != '&') {
    const auto escape =
        std::ranges::find(kEscapes, tokenizer.peek(), &std::pair<char, char>::first);
    if (escape == kEscapes.end())
      return expected_here(tokenizer, "one of n t \" \\ ' & a b f r v behind '\\'");
    text += escape->second;
  }
  tokenizer.advance(1);
  return {};
}

Result<std::string> read_text(language::Tokenizer& tokenizer, std::size_t begin) {
  std::string text;
  while (!tokenizer.rest().empty() && tokenizer.peek() != '"') {
    const char c = tokenizer.peek();
    const std::size_t here = tokenizer.offset();
    if (c == '\n')
      return tokenizer.source().expected({here, here}, "a '\"' that ends the text",
                                         "the end of the line");
    if (is_control(c)) return expected_here(tokenizer, "a text without control characters");
    if (c == '\\') {
      SJ_CHECK(read_escape(tokenizer, text));
    } else {
      text += c;
      tokenizer.advance(1);
    }
  }
  if (tokenizer.rest().empty())
    return tokenizer.source().expected({begin, tokenizer.offset()},
                                       "a '\"' that ends the text that begins here",
                                       "the end of the file");
  tokenizer.advance(1);
  return text;
}

// Words have the dots of places and the apostrophe that pleco allows in names: the parser then
// names the whole word that it refuses.
constexpr language::Grammar kGrammar = {
    .blanks = kBlanks,
    .is_word =
        [](char c) { return is_letter(c) || is_digit(c) || std::string_view("_.'").contains(c); },
    .symbols = kSymbols,
    .quotes = "\"",
    .read_text = read_text,
    .comment = "//",
    .has_block_comments = true};

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kText:
      return "a text in quotes";
    case Token::Kind::kEnd:
      return "the end of the file";
    case Token::Kind::kOther:
      return describe_byte(token.spelling);
    default:
      return fmt::format("\"{}{}\"", token.spelling.substr(0, kMaxQuote),
                         token.spelling.size() > kMaxQuote ? "..." : "");
  }
}

language::Tokenizer tokenizer_of(const language::SourceText& schema) {
  return {schema, kGrammar};
}

Result<Token> next_token(language::Tokenizer& tokenizer) {
  SJ_TRY(token, tokenizer.next());
  if (token.kind == Token::Kind::kOther)
    return tokenizer.source().expected(token.at, "a word, a text or one of { } , ; --",
                                       describe(token));
  return std::move(token);
}

}  // namespace sojourn::schema_language
