#include "analysis/filter/journey_filter.h"

#include <algorithm>
#include <utility>

#include "analysis/filter/bind.h"

namespace sojourn::filter {

namespace {

using journeys::Journey;
using journeys::Outcome;

enum class Truth : std::uint8_t { kFalse, kTrue, kUnknown };

Truth truth(bool is_true) {
  return is_true ? Truth::kTrue : Truth::kFalse;
}

Truth negated(Truth value) {
  if (value == Truth::kUnknown) return value;
  return truth(value == Truth::kFalse);
}

bool flag(Keyword word, const Journey& journey) {
  switch (word) {
    case Keyword::kComplete:
      return journey.outcome == Outcome::kComplete;
    case Keyword::kCensored:
      return journey.outcome == Outcome::kCensored;
    case Keyword::kIncomplete:
      return journey.outcome == Outcome::kIncomplete;
    case Keyword::kDropped:
      return journey.outcome == Outcome::kDropped;
    default:
      return journey.ambiguous;
  }
}

}  // namespace

// A condition and the data that its leaf is evaluated with.
struct Compiled {
  Condition::Kind kind = Condition::Kind::kLeaf;
  bool is_negated = false;
  Leaf leaf;
  std::optional<Program> program;  // of an event
  std::vector<bool> points;        // points at which the leaf can be evaluated, or is true
  std::vector<Compiled> parts;
};

struct JourneyFilter::State {
  model::Schema schema;
  std::uint64_t origin_ns = 0;
  Span span;
  Compiled root;
  mutable std::vector<std::optional<Number>> outer;

  Compiled compile(Condition condition, const BindContext& around) const;
  Truth evaluate(const Compiled& node, const Journey& journey) const;
  Truth leaf(const Compiled& node, const Journey& journey) const;
  Truth number(const Compiled& node, const Journey& journey) const;
  static Truth thread(const Leaf& leaf, const Journey& journey);
  std::optional<Number> longest_stay(const Pattern& place, const Journey& journey) const;
  std::optional<Number> of_journey(const Step& step, const Leaf& leaf,
                                   const Journey& journey) const;
};

Compiled JourneyFilter::State::compile(Condition condition, const BindContext& around) const {
  Compiled made;
  made.kind = condition.kind;
  made.is_negated = condition.is_negated;
  if (condition.kind != Condition::Kind::kLeaf) {
    for (Condition& part : condition.parts) made.parts.push_back(compile(std::move(part), around));
    return made;
  }
  made.leaf = condition.leaf;
  const Leaf& leaf = made.leaf;
  for (const model::Point& point : schema.points) {
    if (leaf.kind == Leaf::Kind::kText)
      made.points.push_back(text_matches(point, leaf.word, leaf.patterns));
    else
      made.points.push_back(std::ranges::all_of(
          leaf.names, [&](const std::string& name) { return point.field(name).has_value(); }));
  }
  if (leaf.kind == Leaf::Kind::kEvent || leaf.kind == Leaf::Kind::kNumber) {
    condition.is_negated = false;
    const Condition& of_event =
        leaf.kind == Leaf::Kind::kEvent ? condition.parts.front() : condition;
    made.program.emplace(of_event, schema, origin_ns, Missing::kReject);
    for (const model::Stream& stream : around.streams) made.program->add_stream(stream);
  }
  return made;
}

// The longest stay of any of the journey's units at the place.
std::optional<Number> JourneyFilter::State::longest_stay(const Pattern& place,
                                                         const Journey& journey) const {
  std::optional<Number> longest;
  for (const journeys::Step& step : journey.steps) {
    if (step.point >= schema.points.size()) continue;
    for (const std::uint32_t parent : step.parents) {
      const journeys::Step& from = journey.steps[parent];
      if (from.point >= schema.points.size()) continue;
      if (!place_matches(schema.points[from.point].dest, place) &&
          !place_matches(schema.points[step.point].src, place))
        continue;
      const Number stay = Number{step.ts_ns} - Number{from.entered_ns};
      longest = std::max(longest.value_or(stay), stay);
    }
  }
  return longest;
}

std::optional<Number> JourneyFilter::State::of_journey(const Step& step, const Leaf& leaf,
                                                       const Journey& journey) const {
  if (step.kind == Step::Kind::kAt) return longest_stay(leaf.patterns[step.index], journey);
  switch (step.word) {
    case Keyword::kLatency:
      return Number{journey.latency_ns()};
    case Keyword::kSegments:
      return Number{journey.segments};
    case Keyword::kRetransmissions:
      return Number{journey.retransmissions};
    case Keyword::kHarq:
      return Number{journey.harq_retransmissions};
    case Keyword::kDrops:
      return Number{journey.drops};
    case Keyword::kEvents:
      return Number{journey.steps.size()};
    default:
      return std::nullopt;
  }
}

Truth JourneyFilter::State::number(const Compiled& node, const Journey& journey) const {
  outer.clear();
  for (const Step& step : node.program->outer_steps()) {
    const auto value = of_journey(step, node.leaf, journey);
    if (!value) return Truth::kUnknown;
    outer.push_back(value);
  }
  bool is_known = false;
  for (const journeys::Step& step : journey.steps) {
    if (step.point >= node.points.size() || !node.points[step.point]) continue;
    is_known = true;
    model::EventView event = {.ts_ns = step.ts_ns,
                              .seq = step.seq,
                              .stream = step.stream,
                              .tid = step.tid,
                              .point = step.point,
                              .values = step.values};
    // A journey's time is its start.
    if (!node.leaf.of_events) event.ts_ns = journey.start_ns;
    if (node.program->matches(event, outer)) return Truth::kTrue;
    if (!node.leaf.of_events) return Truth::kFalse;
  }
  return is_known ? Truth::kFalse : Truth::kUnknown;
}

Truth JourneyFilter::State::thread(const Leaf& leaf, const Journey& journey) {
  bool is_known = false;
  for (const journeys::Step& step : journey.steps) {
    if (in_ranges(leaf.ranges, step.tid)) return Truth::kTrue;
    is_known |= in_ranges(leaf.known, step.tid);
  }
  return is_known ? Truth::kFalse : Truth::kUnknown;
}

Truth JourneyFilter::State::leaf(const Compiled& node, const Journey& journey) const {
  const auto any_step = [&](auto test) { return truth(std::ranges::any_of(journey.steps, test)); };
  switch (node.leaf.kind) {
    case Leaf::Kind::kFlag:
      return truth(flag(node.leaf.word, journey));
    case Leaf::Kind::kText:
      if (node.leaf.word == Keyword::kDir)
        return truth(std::ranges::any_of(node.leaf.patterns, [&](const Pattern& pattern) {
          return pattern.text == std::string(1, letter(journey.direction));
        }));
      [[fallthrough]];
    case Leaf::Kind::kHas:
      return any_step([&](const journeys::Step& step) {
        return step.point < node.points.size() && node.points[step.point];
      });
    case Leaf::Kind::kEvent:
      return any_step([&](const journeys::Step& step) {
        return node.program->matches({.ts_ns = step.ts_ns,
                                      .seq = step.seq,
                                      .stream = step.stream,
                                      .tid = step.tid,
                                      .point = step.point,
                                      .values = step.values});
      });
    case Leaf::Kind::kThread:
      return thread(node.leaf, journey);
    case Leaf::Kind::kNumber:
      break;
  }
  return number(node, journey);
}

Truth JourneyFilter::State::evaluate(const Compiled& node, const Journey& journey) const {
  if (node.kind == Condition::Kind::kLeaf) {
    const Truth value = leaf(node, journey);
    return node.is_negated ? negated(value) : value;
  }
  const Truth settles = node.kind == Condition::Kind::kAnd ? Truth::kFalse : Truth::kTrue;
  Truth all = node.kind == Condition::Kind::kAnd ? Truth::kTrue : Truth::kFalse;
  for (const Compiled& part : node.parts) {
    const Truth value = evaluate(part, journey);
    if (value == settles) return settles;
    if (value == Truth::kUnknown) all = Truth::kUnknown;
  }
  return all;
}

JourneyFilter::JourneyFilter(std::unique_ptr<State> state) : state_(std::move(state)) {}
JourneyFilter::JourneyFilter(JourneyFilter&&) noexcept = default;
JourneyFilter& JourneyFilter::operator=(JourneyFilter&&) noexcept = default;
JourneyFilter::~JourneyFilter() = default;

Result<JourneyFilter> JourneyFilter::compile(const Expression& expression,
                                             const model::Schema& schema,
                                             const BindContext& around) {
  SJ_TRY(condition, bind(expression, Scope::kJourney, schema, around));
  auto state = std::make_unique<State>();
  state->schema = schema;
  state->origin_ns = around.origin_ns;
  state->span = span_of(condition, around.origin_ns);
  state->root = state->compile(std::move(condition), around);
  return JourneyFilter(std::move(state));
}

const Span& JourneyFilter::span() const {
  return state_->span;
}

bool JourneyFilter::operator()(const Journey& journey) const {
  return state_->evaluate(state_->root, journey) == Truth::kTrue;
}

}  // namespace sojourn::filter
