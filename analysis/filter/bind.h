// An expression checked against a schema: every name is known, and negations stand at single
// comparisons only. program.h and journey_filter.h evaluate it. Plain data, which does not refer to
// the expression or the schema.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/schema.h"

namespace sojourn::filter {

// Decides whether a name that the schema lacks is an error. It is not if the expression was already
// checked against a larger schema.
enum class NameCheck : std::uint8_t { kMustBeKnown, kAreChecked };

// The newest name of each thread, by its number.
using ThreadNames = std::map<std::uint32_t, std::string>;

// The parts of a trace, besides the schema, that an expression may refer to.
struct BindContext {
  std::uint64_t origin_ns = 0;  // `time` counts from it
  std::vector<model::Stream> streams;
  NameCheck names = NameCheck::kMustBeKnown;
  ThreadNames threads = {};
  bool more_threads = false;  // threads may come later, so an unknown name is no error
};

// One step of a calculation on a stack.
struct Step {
  enum class Kind : std::uint8_t { kConstant, kField, kWord, kAt, kNegate, kCalculate };

  Kind kind = Kind::kConstant;
  Operator op = Operator::kAdd;
  Keyword word = Keyword::kTime;
  std::uint32_t index = 0;  // of Leaf::names or Leaf::patterns
  Number number = 0;
};

// A condition without parts.
struct Leaf {
  enum class Kind : std::uint8_t {
    kNumber,  // the result of `steps` is in one of the ranges
    kText,    // `word` matches one of the patterns
    kFlag,    // `word`
    kThread,  // the thread is in one of the ranges; unknown where it is not in `known`
    kHas,     // the field names[0] is there
    kEvent,   // Condition::parts[0] holds for one event
  };

  Kind kind = Kind::kNumber;
  Keyword word = Keyword::kDir;
  std::vector<Step> steps;
  std::vector<Range> ranges;
  std::vector<Range> known;
  std::vector<std::string> names;  // of fields, each once
  std::vector<Pattern> patterns;
  bool of_events = false;  // in the scope of journeys: evaluated for each event
};

struct Condition {
  enum class Kind : std::uint8_t { kLeaf, kAnd, kOr };

  Kind kind = Kind::kLeaf;
  bool is_negated = false;  // of a leaf only
  Leaf leaf;
  std::vector<Condition> parts;
};

// Fails if the schema does not have a name, a pattern matches no point, or a word belongs to the
// other scope. The error has a caret, as in parse().
Result<Condition> bind(const Expression& expression, Scope scope, const model::Schema& schema,
                       const BindContext& around);

// The span outside of which the condition is never true.
struct Span {
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = UINT64_MAX;

  bool operator==(const Span&) const = default;
};
Span span_of(const Condition& condition, std::uint64_t origin_ns);

// Returns whether the number is in one of the ranges, which are sorted.
bool in_ranges(const std::vector<Range>& ranges, Number number);

// Returns whether a text keyword of a point matches one of the patterns: dir, point ("a--b" or "D
// a--b"), src, dest, and hop (src or dest).
bool text_matches(const model::Point& point, Keyword word, const std::vector<Pattern>& patterns);

// Returns whether at() means this place: the same, or one inside of it after a dot.
bool place_matches(const std::string& place, const Pattern& pattern);

}  // namespace sojourn::filter
