// The tokens that a grammar makes of a text.
#include "analysis/language/tokenizer.h"

#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::language {
namespace {

constexpr std::array<std::string_view, 3> kSymbols = {"->", "-", "\n"};

Result<std::string> read_text(Tokenizer& tokenizer, std::size_t begin) {
  const std::size_t length = tokenizer.rest().find('"');
  if (length == std::string_view::npos)
    return tokenizer.source().complain({begin, begin + 1}, "no end");
  std::string text(tokenizer.rest().substr(0, length));
  tokenizer.advance(length + 1);
  return text;
}

constexpr Grammar kGrammar = {.is_word = [](char c) { return c >= 'a' && c <= 'z'; },
                              .symbols = kSymbols,
                              .quotes = "\"",
                              .read_text = read_text,
                              .comment = "#",
                              .has_block_comments = true};

std::vector<Token> tokens_of(std::string_view text) {
  Tokenizer tokenizer(SourceText(text), kGrammar);
  std::vector<Token> tokens;
  do {
    auto token = tokenizer.next();
    REQUIRE(token);
    tokens.push_back(std::move(*token));
  } while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

std::string error_of(std::string_view text) {
  Tokenizer tokenizer(SourceText(text), kGrammar);
  for (;;) {
    const auto token = tokenizer.next();
    if (!token) return token.error().text();
    REQUIRE(token->kind != Token::Kind::kEnd);
  }
}

TEST_CASE("words, texts, symbols and other bytes are distinguished, with their places") {
  const auto tokens = tokens_of("ab->c-\n \"d e\"!");
  REQUIRE(tokens.size() == 8);
  CHECK(tokens[0].is_word("ab"));
  CHECK(tokens[1].is("->"));
  CHECK(tokens[2].is_word("c"));
  CHECK(tokens[3].is("-"));
  CHECK(tokens[4].is("\n"));
  CHECK(tokens[5].kind == Token::Kind::kText);
  CHECK(tokens[5].text == "d e");
  CHECK(tokens[5].spelling == "\"d e\"");
  CHECK(tokens[5].place.line == 2);
  CHECK(tokens[5].place.column == 2);
  CHECK(tokens[5].at.begin == 8);
  CHECK(tokens[5].at.end == 13);
  CHECK(tokens[6].kind == Token::Kind::kOther);
  CHECK(tokens[6].spelling == "!");
  CHECK(tokens[7].at.begin == 14);
}

TEST_CASE("comments are passed over: to the end of their line, or nested") {
  const auto tokens = tokens_of("a # b\n/* c /* \n d */ e */ f");
  REQUIRE(tokens.size() == 4);
  CHECK(tokens[0].is_word("a"));
  CHECK(tokens[1].is("\n"));
  CHECK(tokens[2].is_word("f"));
  CHECK(tokens[2].place.line == 3);
}

TEST_CASE("a comment or a text without an end is refused where it begins") {
  CHECK(error_of("a /* b /* c */").starts_with("column 3: expected a \"*/\""));
  CHECK(error_of("ab \"cd").starts_with("column 4: no end"));
}

TEST_CASE("a copy looks ahead, and the tokenizer stays where it was") {
  Tokenizer tokenizer(SourceText("a b"), kGrammar);
  REQUIRE(tokenizer.next());
  Tokenizer ahead = tokenizer;
  CHECK(ahead.next()->is_word("b"));
  CHECK(ahead.offset() == 3);
  CHECK(tokenizer.offset() == 1);
  CHECK(tokenizer.next()->is_word("b"));
}

}  // namespace
}  // namespace sojourn::language
