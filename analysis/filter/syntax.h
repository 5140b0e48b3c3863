// An expression of the filter language as a tree whose nodes know their place in the text, so that
// every error can point at its cause. Parsing needs no schema and refuses what is wrong for every
// trace; bind.h checks the rest against a schema. Plain data, immutable after parse().
// docs/filters.md has the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/keywords.h"
#include "analysis/filter/number.h"
#include "analysis/language/source_text.h"

namespace sojourn::filter {

using language::TextRange;

struct Pattern {
  std::string text;
  bool is_glob = false;  // '*', '?' and [a-z] mean what they mean in a shell
  TextRange at;
};

bool matches(const Pattern& pattern, const std::string& text);

enum class Unit : std::uint8_t {
  kPlain,  // a count, a number without a unit
  kTime,   // nanoseconds
  kAny,    // a field: its unit is not known
};

// "Unequal" is the negation of "equal": this matters for a field with several values.
enum class Comparison : std::uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct Node {
  enum class Kind : std::uint8_t {
    // numbers
    kConstant,
    kName,       // a field or a word
    kAt,         // at(place): patterns[0]
    kNegate,     // parts[0], no constant
    kCalculate,  // parts[0] op parts[1], not both of them constants
    // conditions
    kCompare,  // parts[0] comparison parts[1], not both of them constants
    kIn,    // parts[0] in the ranges of which the other parts, constants, are the ends, two by two,
            // or called as one of the patterns
    kText,  // name is one of the patterns
    kFlag,  // name
    kHas,   // has(name)
    kEvent,  // event(parts[0])
    kNot,    // parts[0]
    kAnd,    // all parts
    kOr,     // any part
  };

  Kind kind = Kind::kConstant;
  Operator op = Operator::kAdd;
  Comparison comparison = Comparison::kEqual;
  Unit unit = Unit::kPlain;
  Number number = 0;
  std::string name;
  bool is_field = false;  // named by field() or has(), even where it is also a keyword
  std::vector<Node> parts;
  std::vector<Pattern> patterns;
  TextRange at;

  bool is_condition() const { return kind >= Kind::kCompare; }
};

struct Expression {
  std::string text;
  Node root;
};

inline constexpr std::size_t kMaxText = 4096;
inline constexpr std::size_t kMaxDepth = 64;  // of parentheses, '!' and '-' in each other

// An error has three lines: the fault and its column, the text, a caret under the cause.
Result<Expression> parse(std::string_view text);

// Returns whether it refers to a property that only journeys have: a latency, a stay, an outcome.
bool is_about_journeys(const Expression& expression);

// Returns whether it uses the keyword, and not only a field of that name.
bool asks_for(const Expression& expression, Keyword word);

}  // namespace sojourn::filter
