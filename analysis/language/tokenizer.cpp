#include "analysis/language/tokenizer.h"

#include <algorithm>
#include <utility>

namespace sojourn::language {

Result<Token> Tokenizer::next() {
  SJ_CHECK(skip_blanks());
  if (rest_.empty()) return take(Token::Kind::kEnd, 0);
  if (grammar_->quotes.contains(rest_.front())) return take_text();
  for (const std::string_view symbol : grammar_->symbols)
    if (rest_.starts_with(symbol)) return take(Token::Kind::kSymbol, symbol.size());
  const auto end = std::ranges::find_if_not(rest_, grammar_->is_word);
  if (end == rest_.begin()) return take(Token::Kind::kOther, 1);
  return take(Token::Kind::kWord, static_cast<std::size_t>(end - rest_.begin()));
}

Result<void> Tokenizer::skip_blanks() {
  while (!rest_.empty()) {
    if (grammar_->blanks.contains(rest_.front()))
      advance(1);
    else if (!grammar_->comment.empty() && rest_.starts_with(grammar_->comment))
      advance(std::min(rest_.find('\n'), rest_.size()));
    else if (grammar_->has_block_comments && rest_.starts_with("/*"))
      SJ_CHECK(skip_block_comment());
    else
      break;
  }
  return {};
}

Result<void> Tokenizer::skip_block_comment() {
  const std::size_t begin = offset();
  std::size_t depth = 0;
  while (!rest_.empty()) {
    const bool opens = rest_.starts_with("/*");
    const bool closes = rest_.starts_with("*/");
    advance(opens || closes ? 2 : 1);
    if (opens) ++depth;
    if (closes && --depth == 0) return {};
  }
  return source_.expected({begin, begin + 2},
                          "a \"*/\" for every \"/*\" of the comment that begins here",
                          "the end of the file");
}

Result<Token> Tokenizer::take_text() {
  const Position place = place_;
  const std::size_t begin = offset();
  advance(1);
  SJ_TRY(text, grammar_->read_text(*this, begin));
  return Token{.kind = Token::Kind::kText,
               .spelling = source_.text().substr(begin, offset() - begin),
               .text = std::move(text),
               .at = {begin, offset()},
               .place = place};
}

void Tokenizer::advance(std::size_t bytes) {
  for (const char c : rest_.substr(0, bytes)) place_.pass(c);
  rest_.remove_prefix(bytes);
}

Token Tokenizer::take(Token::Kind kind, std::size_t bytes) {
  Token token{.kind = kind,
              .spelling = rest_.substr(0, bytes),
              .text = {},
              .at = {offset(), offset() + bytes},
              .place = place_};
  advance(bytes);
  return token;
}

}  // namespace sojourn::language
