// An expression compared with a schema: every name is known, negations stand at single comparisons
// only. What remains to be done for each point is in program.h and
// journey_filter.h. Plain data; does not refer to the expression or the schema.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/schema.h"

namespace sojourn::filter {

// Names that the schema does not have: an error, unless they were found in a larger one before.
enum class NameCheck : std::uint8_t { kMustBeKnown, kAreChecked };

// What threads are called, by number: a name that changed is the newest one.
using ThreadNames = std::map<std::uint32_t, std::string>;

// What an expression may ask besides the schema.
struct BindContext {
  std::uint64_t origin_ns = 0;  // `time` counts from it
  std::vector<model::Stream> streams;
  NameCheck names = NameCheck::kMustBeKnown;
  ThreadNames threads = {};
  bool more_threads = false;  // may come later: a name that nobody has yet is no error
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

// What can be true or false by itself.
struct Leaf {
  enum class Kind : std::uint8_t {
    kNumber,  // what `steps` calculate is in one of the ranges
    kText,    // `word` matches one of the patterns
    kFlag,    // `word`
    kThread,  // the thread is in one of the ranges: where it is in `known`, else nobody can tell
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
  bool of_events = false;  // in the scope of journeys: asks each event for its own
};

struct Condition {
  enum class Kind : std::uint8_t { kLeaf, kAnd, kOr };

  Kind kind = Kind::kLeaf;
  bool is_negated = false;  // of a leaf only
  Leaf leaf;
  std::vector<Condition> parts;
};

// Fails where the schema does not have a name, no point is meant by a pattern, or a word belongs to
// the other scope; with a caret, as parse().
Result<Condition> bind(const Expression& expression, Scope scope, const model::Schema& schema,
                       const BindContext& around);

// When it may be true: never outside of [from, until], whatever else holds.
struct Span {
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = UINT64_MAX;

  bool operator==(const Span&) const = default;
};
Span span_of(const Condition& condition, std::uint64_t origin_ns);

// Of ranges in order, as a leaf has them.
bool in_ranges(const std::vector<Range>& ranges, Number number);

// Whether a text word of a point is one of the patterns: dir, point ("a--b" or "D a--b"), src,
// dest, and hop (either of both).
bool text_matches(const model::Point& point, Keyword word, const std::vector<Pattern>& patterns);

// Whether at() means this place: the same, or one inside of it after a dot.
bool place_matches(const std::string& place, const Pattern& pattern);

}  // namespace sojourn::filter
