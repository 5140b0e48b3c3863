#include "analysis/language/source_text.h"

#include <algorithm>

namespace sojourn::language {

namespace {

// Returns whether a byte continues a character of UTF-8.
bool continues_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// One column for each character, or the caret would stand elsewhere.
std::string columns_of(std::string_view line) {
  std::string columns;
  for (const char c : line) {
    if (continues_a_character(c)) continue;
    const bool is_printable = c >= ' ' && c <= '~';
    columns += is_printable ? c : (c == '\t' ? ' ' : '?');
  }
  return columns;
}

}  // namespace

void Position::pass(char c) {
  if (c == '\n') {
    line += 1;
    column = 1;
  } else if (!continues_a_character(c)) {
    column += 1;
  }
}

Position SourceText::position_of(std::size_t offset) const {
  Position position;
  for (const char c : text_.substr(0, offset)) position.pass(c);
  return position;
}

std::size_t SourceText::offset_of(Position position) const {
  Position here;
  std::size_t offset = 0;
  const auto is_before = [&](char c) {
    return here.line < position.line || (here.column < position.column && c != '\n') ||
           continues_a_character(c);
  };
  while (offset < text_.size() && is_before(text_[offset])) here.pass(text_[offset++]);
  return offset;
}

std::string SourceText::name_of(Position position) const {
  if (!name_.empty()) return fmt::format("{}:{}:{}", name_, position.line, position.column);
  if (position.line == 1) return fmt::format("column {}", position.column);
  return fmt::format("line {}, column {}", position.line, position.column);
}

std::unexpected<Error> SourceText::complain(TextRange at, std::string_view what) const {
  // A long line is shown around the cause only.
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kShown = 100;
  const std::size_t begin = std::min(at.begin, text_.size());
  const std::size_t line_begin = text_.substr(0, begin).rfind('\n') + 1;
  const std::size_t line_end = std::min(text_.find('\n', begin), text_.size());
  const std::size_t end = std::clamp(at.end, begin, line_end);
  const Position position = position_of(begin);
  const std::string line = columns_of(text_.substr(line_begin, line_end - line_begin));
  const std::size_t column = position.column - 1;
  const std::size_t from = column > kBefore + 3 ? column - kBefore : 0;
  const std::string shown = line.substr(std::min(from, line.size()), kShown);
  const std::string_view lead = from != 0 ? "..." : "";
  const std::string_view tail = from + kShown < line.size() ? "..." : "";
  const std::size_t room = from + shown.size() + 1 - column;
  const std::size_t width =
      std::clamp(columns_of(text_.substr(begin, end - begin)).size(), std::size_t{1}, room);
  return fail("{}: {}\n  {}{}{}\n  {:>{}}{}", name_of(position), what, lead, shown, tail, '^',
              lead.size() + column - from + 1, std::string(width - 1, '~'));
}

std::unexpected<Error> SourceText::expected(TextRange at, std::string_view wanted,
                                            std::string_view found) const {
  return complain(at, fmt::format("expected {}, found {}", wanted, found));
}

}  // namespace sojourn::language
