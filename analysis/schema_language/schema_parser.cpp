#include "analysis/schema_language/schema_parser.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "analysis/base/letters.h"
#include "analysis/schema_language/macros.h"
#include "analysis/schema_language/schema_lexer.h"

namespace sojourn::schema_language {

namespace {

constexpr std::size_t kMaxNameSize = 100;  // of a subsystem or an event: macros get three of them

struct Type {
  std::string_view name;
  std::uint8_t bytes;
  bool is_signed;
};
constexpr std::array kTypes = {Type{"u8", 1, false},  Type{"u16", 2, false}, Type{"u32", 4, false},
                               Type{"u64", 8, false}, Type{"s8", 1, true},   Type{"s16", 2, true},
                               Type{"s32", 4, true},  Type{"s64", 8, true}};

// trace_event of Barrelfish: one argument of 32 bits.
model::Field plain_field() {
  return {.name = "arg", .role = model::Role::kProperty, .bytes = 4, .is_signed = false};
}

bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

// Pleco reserves its two words in any case, and lets no other name begin with anything but a
// letter.
bool is_reserved(std::string_view word) {
  const std::string capitals = upper(word);
  return capitals == "SUBSYSTEM" || capitals == "EVENT";
}

bool is_keyword(const Token& token, std::string_view keyword) {
  return token.kind == Token::Kind::kWord && upper(token.spelling) == upper(keyword);
}

bool is_name(const Token& token) {
  return token.kind == Token::Kind::kWord && token.spelling.size() <= kMaxNameSize &&
         is_letter(token.spelling.front()) &&
         std::ranges::all_of(token.spelling, is_name_character) && !is_reserved(token.spelling);
}

// A place as the point macro takes it: names with a dot between each two.
bool is_place(const Token& token) {
  const std::string_view word = token.spelling;
  return token.kind == Token::Kind::kWord && word.front() != '.' && word.back() != '.' &&
         !word.contains("..") &&
         std::ranges::all_of(word, [](char c) { return c == '.' || is_name_character(c); });
}

class Parser {
 public:
  explicit Parser(const language::SourceText& schema)
      : tokenizer_(tokenizer_of(schema)), schema_(schema) {}

  Result<Schema> parse_schema();

 private:
  Result<Subsystem> parse_subsystem();
  Result<Event> parse_event(std::string_view subsystem);
  Result<void> parse_way(model::Point& point);
  Result<void> parse_fields(model::Point& point);
  Result<model::Field> parse_field(const model::Point& point);

  Result<void> check_event(std::string_view subsystem, const Event& event, const Token& name);
  Result<void> claim(std::string macro, std::string_view owner, const Token& name);

  // `token_` is the one that is looked at.
  Result<void> advance();
  Result<void> skip_symbol(std::string_view symbol, std::string_view why);
  Result<Token> take_name(std::string_view of_what);
  std::unexpected<Error> expected_here(std::string_view wanted) const {
    return schema_.expected(token_.at, wanted, describe(token_));
  }

  struct Owner {
    std::string name;
    std::size_t line = 0;
  };

  language::Tokenizer tokenizer_;
  language::SourceText schema_;
  Token token_;
  std::size_t events_ = 0;
  std::map<std::string, Owner> macros_;
  std::map<std::string, Owner> points_;
};

Result<void> Parser::advance() {
  SJ_TRY(token, next_token(tokenizer_));
  token_ = std::move(token);
  return {};
}

Result<void> Parser::skip_symbol(std::string_view symbol, std::string_view why) {
  if (!token_.is(symbol)) return expected_here(fmt::format("\"{}\" {}", symbol, why));
  return advance();
}

Result<Token> Parser::take_name(std::string_view of_what) {
  if (!is_name(token_))
    return expected_here(
        fmt::format("the name of {}: a letter, then up to {} letters, digits and '_', not "
                    "\"subsystem\" or \"event\"",
                    of_what, kMaxNameSize - 1));
  Token name = token_;
  SJ_CHECK(advance());
  return name;
}

Result<Schema> Parser::parse_schema() {
  Schema schema;
  SJ_CHECK(advance());
  do {
    SJ_TRY(subsystem, parse_subsystem());
    schema.subsystems.push_back(std::move(subsystem));
  } while (token_.kind != Token::Kind::kEnd);
  return schema;
}

// "subsystem" name "{" event+ "}" ";"
Result<Subsystem> Parser::parse_subsystem() {
  if (!is_keyword(token_, "subsystem")) return expected_here("\"subsystem\"");
  SJ_CHECK(advance());
  SJ_TRY(name, take_name("a subsystem"));
  Subsystem subsystem{.name = std::string(name.spelling), .events = {}};
  SJ_CHECK(claim(subsystem_macro(subsystem.name), fmt::format("subsystem \"{}\"", subsystem.name),
                 name));
  SJ_CHECK(skip_symbol("{", "before the events of the subsystem"));
  do {
    SJ_TRY(event, parse_event(subsystem.name));
    subsystem.events.push_back(std::move(event));
  } while (!token_.is("}"));
  SJ_CHECK(advance());
  SJ_CHECK(skip_symbol(";", fmt::format("behind the subsystem \"{}\"", subsystem.name)));
  return subsystem;
}

// "event" name text [way] [fields] ","
Result<Event> Parser::parse_event(std::string_view subsystem) {
  if (!is_keyword(token_, "event")) return expected_here("\"event\"");
  SJ_CHECK(advance());
  SJ_TRY(name, take_name("an event"));
  Event event{.name = std::string(name.spelling), .text = {}, .point = {}};
  if (token_.kind != Token::Kind::kText)
    return expected_here(fmt::format("the text of event \"{}\" in quotes", event.name));
  event.text = token_.text.empty() ? event.name : token_.text;
  SJ_CHECK(advance());

  model::Point& point = event.point;
  point.direction = model::Direction::kScalar;
  point.src = subsystem;
  point.dest = event.name;
  const bool has_way = token_.kind == Token::Kind::kWord;
  if (has_way) SJ_CHECK(parse_way(point));
  if (token_.is("{")) {
    SJ_CHECK(parse_fields(point));
    if (!token_.is(",")) return expected_here(fmt::format("\",\" behind event \"{}\"", event.name));
  } else {
    point.fields.push_back(plain_field());
    if (!token_.is(","))
      return expected_here(fmt::format("{}fields in braces, or \",\" behind event \"{}\"",
                                       has_way ? "" : "a direction (D, U, I or S), ", event.name));
  }
  SJ_CHECK(check_event(subsystem, event, name));
  SJ_CHECK(advance());
  return event;
}

// direction place "--" place
Result<void> Parser::parse_way(model::Point& point) {
  const auto direction = token_.spelling.size() == 1
                             ? model::direction_from_letter(token_.spelling.front())
                             : std::nullopt;
  if (!direction) return expected_here("a direction (D, U, I or S), fields in braces, or \",\"");
  point.direction = *direction;
  SJ_CHECK(advance());
  constexpr std::string_view kPlace =
      "a place: names of letters, digits and '_', with one dot between two";
  if (!is_place(token_)) return expected_here(kPlace);
  point.src = token_.spelling;
  SJ_CHECK(advance());
  SJ_CHECK(skip_symbol("--", "between the two places"));
  if (!is_place(token_)) return expected_here(kPlace);
  point.dest = token_.spelling;
  return advance();
}

// "{" { role type name ";" } "}"
Result<void> Parser::parse_fields(model::Point& point) {
  SJ_CHECK(advance());
  while (!token_.is("}")) {
    SJ_TRY(field, parse_field(point));
    point.fields.push_back(std::move(field));
    SJ_CHECK(skip_symbol(";", "behind a field"));
  }
  return advance();
}

Result<model::Field> Parser::parse_field(const model::Point& point) {
  const auto role =
      token_.kind == Token::Kind::kWord ? model::role_from_name(token_.spelling) : std::nullopt;
  if (!role)
    return expected_here("a field (property, global or local, its type, its name), or \"}\"");
  // The order of a point's words; so the macro's arguments are as they are declared.
  if (!point.fields.empty() && *role < point.fields.back().role)
    return expected_here("properties first, then globals, then locals");
  if (point.fields.size() == model::kMaxFields)
    return expected_here(
        fmt::format("\"}}\" behind {} fields, the most there may be", model::kMaxFields));
  SJ_CHECK(advance());

  const auto type = std::ranges::find_if(
      kTypes, [this](const Type& candidate) { return token_.is_word(candidate.name); });
  if (type == kTypes.end()) return expected_here("a type (u8, u16, u32, u64, s8, s16, s32 or s64)");
  SJ_CHECK(advance());

  if (point.field(token_.spelling)) return expected_here("a field of another name");
  SJ_TRY(name, take_name("a field"));
  return model::Field{.name = std::string(name.spelling),
                      .role = *role,
                      .bytes = type->bytes,
                      .is_signed = type->is_signed};
}

Result<void> Parser::check_event(std::string_view subsystem, const Event& event,
                                 const Token& name) {
  if (++events_ > model::kMaxPoints)
    return schema_.expected(name.at, fmt::format("at most {} events", model::kMaxPoints),
                            "one more");
  // The model's own limits, among them the length of its words.
  const std::string where =
      fmt::format("{} {}", model::letter(event.point.direction), event.point.name());
  const std::string fields = model::format_fields(event.point);
  if (const auto read = model::parse_point(where, fields); !read)
    return schema_.expected(name.at, "an event that makes a point", read.error().text());

  const std::string owner = fmt::format("event \"{}\" of \"{}\"", event.name, subsystem);
  const auto [same, is_new] =
      points_.try_emplace(where + '|' + fields, Owner{owner, name.place.line});
  SJ_CHECK(claim(id_macro(subsystem, event.name), owner, name));
  SJ_CHECK(claim(fire_macro(subsystem, event.name), owner, name));
  for (std::string& alias : fire_aliases(subsystem, event.name))
    SJ_CHECK(claim(std::move(alias), owner, name));
  if (!is_new)
    return schema_.expected(name.at, "an event that is a point of its own",
                            fmt::format("the point \"{}\" of {} in line {}", where,
                                        same->second.name, same->second.line));
  return {};
}

// A macro that two declarations would define, e.g. of `event b_c` in `a` and `event c` in `a_b`.
Result<void> Parser::claim(std::string macro, std::string_view owner, const Token& name) {
  const auto [held, is_new] =
      macros_.try_emplace(std::move(macro), Owner{std::string(owner), name.place.line});
  if (is_new) return {};
  return schema_.expected(name.at, "a name whose macros are its own",
                          fmt::format("{}, which {} in line {} has already", held->first,
                                      held->second.name, held->second.line));
}

}  // namespace

Result<Schema> parse(std::string_view text, std::string_view file) {
  if (text.size() > kMaxSchemaBytes)
    return fail("{}: a schema of {} bytes: at most {} are allowed", file, text.size(),
                kMaxSchemaBytes);
  return Parser(language::SourceText(text, file)).parse_schema();
}

}  // namespace sojourn::schema_language
