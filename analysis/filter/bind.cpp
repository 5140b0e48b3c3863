#include "analysis/filter/bind.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sojourn::filter {

namespace {

using Kind = Node::Kind;

class Binder {
 public:
  Binder(const language::SourceText& source, Scope scope, const model::Schema& schema,
         const BindContext& around)
      : source_(source), scope_(scope), schema_(schema), around_(around), names_(around.names) {}

  Result<Condition> condition(const Node& node, bool negated) {
    switch (node.kind) {
      case Kind::kNot:
        return condition(node.parts.front(), !negated);
      case Kind::kAnd:
      case Kind::kOr: {
        Condition all;
        const bool is_and = (node.kind == Kind::kAnd) != negated;
        all.kind = is_and ? Condition::Kind::kAnd : Condition::Kind::kOr;
        for (const Node& part : node.parts) {
          SJ_TRY(bound, condition(part, negated));
          all.parts.push_back(std::move(bound));
        }
        return all;
      }
      default:
        break;
    }
    Condition one;
    one.is_negated = negated;
    SJ_CHECK(leaf(node, one));
    return one;
  }

 private:
  Result<void> leaf(const Node& node, Condition& into) {
    Leaf& leaf = into.leaf;
    const bool is_number = node.kind == Kind::kCompare || node.kind == Kind::kIn;
    if (scope_ == Scope::kThread && !is_number) return not_of_threads(node);
    switch (node.kind) {
      case Kind::kCompare:
        return compare(node, leaf);
      case Kind::kIn:
        return in(node, leaf);
      case Kind::kText:
        return text(node, leaf);
      case Kind::kFlag:
        leaf.kind = Leaf::Kind::kFlag;
        return word(node, leaf);
      case Kind::kHas:
        leaf.kind = Leaf::Kind::kHas;
        leaf.of_events = true;
        leaf.names = {node.name};
        return require_field(node);
      case Kind::kEvent: {
        if (scope_ == Scope::kEvent)
          return source_.complain(node.at,
                                  "this is about single events already: event() says nothing");
        leaf.kind = Leaf::Kind::kEvent;
        leaf.of_events = true;
        SJ_TRY(
            inner,
            Binder(source_, Scope::kEvent, schema_, around_).condition(node.parts.front(), false));
        into.parts.push_back(std::move(inner));
        return {};
      }
      default:
        return source_.complain(node.at, "a condition is wanted here");  // the parser sees to it
    }
  }

  // ---- names ----

  std::vector<std::string> known_names() const {
    std::vector<std::string> names;
    for (const KeywordInfo& word : all_keywords()) {
      const bool is_known = scope_ == Scope::kThread  ? word.of_threads
                            : scope_ == Scope::kEvent ? word.of_events
                                                      : true;
      if (is_known) names.emplace_back(word.name);
    }
    for (const model::Point& point : schema_.points)
      for (const model::Field& field : point.fields) names.push_back(field.name);
    return names;
  }

  bool has_field(const std::string& name) const {
    return std::ranges::any_of(
        schema_.points, [&](const model::Point& point) { return point.field(name).has_value(); });
  }

  Result<void> require_field(const Node& node) const {
    if (names_ == NameCheck::kAreChecked || has_field(node.name)) return {};
    return source_.complain(node.at, fmt::format("no point has a field \"{}\"{}", node.name,
                                                 did_you_mean(node.name, known_names())));
  }

  // Refuses a keyword that does not belong to this scope.
  Result<void> word(const Node& node, Leaf& leaf) const {
    const KeywordInfo& info = *find_keyword(node.name);
    leaf.word = info.word;
    if (scope_ == Scope::kEvent && !info.of_events) return not_of_events(node);
    if (!info.of_journeys) leaf.of_events = true;
    return {};
  }

  std::unexpected<Error> not_of_threads(const Node& node) const {
    const bool is_call =
        node.kind == Kind::kAt || node.kind == Kind::kHas || node.kind == Kind::kEvent;
    return source_.complain(
        node.at,
        fmt::format("{} in a filter of threads, which has time, thread, tid and cpu{}",
                    is_call ? "no such thing is known" : fmt::format("{} is not known", node.name),
                    is_call ? "" : did_you_mean(node.name, known_names())));
  }

  // A span of time is cut at the limits of comparisons with constants. Other comparisons are
  // refused.
  Result<void> require_plain_time(const Node& node, const Leaf& leaf) const {
    const bool has_time = std::ranges::any_of(leaf.steps, [](const Step& step) {
      return step.kind == Step::Kind::kWord && step.word == Keyword::kTime;
    });
    if (scope_ != Scope::kThread || !has_time || leaf.steps.size() == 1) return {};
    return source_.complain(
        node.at,
        "in a filter of threads, time can only be compared with constants, without arithmetic");
  }

  std::unexpected<Error> not_of_events(const Node& node) const {
    const std::string name = node.kind == Kind::kAt ? "at()" : node.name;
    return source_.complain(
        node.at,
        fmt::format("{} is known of whole journeys, and this is about single events{}", name,
                    has_field(name) ? fmt::format(": the field is field({})", name) : ""));
  }

  // ---- numbers ----

  Result<std::vector<Step>> number(const Node& node, Leaf& leaf) {
    switch (node.kind) {
      case Kind::kConstant:
        return std::vector{Step{.number = node.number}};
      case Kind::kName:
        return name(node, leaf);
      case Kind::kAt:
        return stay(node, leaf);
      case Kind::kNegate: {
        SJ_TRY(steps, number(node.parts.front(), leaf));
        steps.push_back({.kind = Step::Kind::kNegate});
        return std::move(steps);
      }
      case Kind::kCalculate: {
        SJ_TRY(left, number(node.parts[0], leaf));
        SJ_TRY(right, number(node.parts[1], leaf));
        left.insert(left.end(), right.begin(), right.end());
        left.push_back({.kind = Step::Kind::kCalculate, .op = node.op});
        return std::move(left);
      }
      default:
        return source_.complain(node.at, "a number is wanted here");  // the parser sees to it
    }
  }

  Result<std::vector<Step>> name(const Node& node, Leaf& leaf) {
    const KeywordInfo* const known_word = node.is_field ? nullptr : find_keyword(node.name);
    if (scope_ == Scope::kThread && (known_word == nullptr || !known_word->of_threads))
      return not_of_threads(node);
    if (known_word != nullptr) {
      SJ_CHECK(word(node, leaf));
      return std::vector{Step{.kind = Step::Kind::kWord, .word = leaf.word}};
    }
    SJ_CHECK(require_field(node));
    leaf.of_events = true;
    const auto known = std::ranges::find(leaf.names, node.name);
    const auto index = static_cast<std::uint32_t>(known - leaf.names.begin());
    if (known == leaf.names.end()) leaf.names.push_back(node.name);
    return std::vector{Step{.kind = Step::Kind::kField, .index = index}};
  }

  Result<std::vector<Step>> stay(const Node& node, Leaf& leaf) {
    if (scope_ == Scope::kEvent) return not_of_events(node);
    if (scope_ == Scope::kThread) return not_of_threads(node);
    const Pattern& pattern = node.patterns.front();
    std::vector<std::string> places;
    for (const model::Point& point : schema_.points) {
      places.push_back(point.src);
      places.push_back(point.dest);
    }
    if (names_ == NameCheck::kMustBeKnown &&
        std::ranges::none_of(
            places, [&](const std::string& place) { return place_matches(place, pattern); }))
      return source_.complain(pattern.at, fmt::format("there is no place \"{}\"{}", pattern.text,
                                                      did_you_mean(pattern.text, places)));
    leaf.patterns.push_back(pattern);
    return std::vector{Step{.kind = Step::Kind::kAt,
                            .index = static_cast<std::uint32_t>(leaf.patterns.size() - 1)}};
  }

  static void add_range(Comparison comparison, Number to, Leaf& leaf) {
    switch (comparison) {
      case Comparison::kEqual:
        leaf.ranges.push_back({to, to});
        return;
      case Comparison::kLess:
        if (to != kMinNumber) leaf.ranges.push_back({kMinNumber, to - 1});
        return;
      case Comparison::kLessOrEqual:
        leaf.ranges.push_back({kMinNumber, to});
        return;
      case Comparison::kGreater:
        if (to != kMaxNumber) leaf.ranges.push_back({to + 1, kMaxNumber});
        return;
      case Comparison::kGreaterOrEqual:
        leaf.ranges.push_back({to, kMaxNumber});
        return;
    }
  }

  static Comparison mirrored(Comparison comparison) {
    switch (comparison) {
      case Comparison::kLess:
        return Comparison::kGreater;
      case Comparison::kLessOrEqual:
        return Comparison::kGreaterOrEqual;
      case Comparison::kGreater:
        return Comparison::kLess;
      case Comparison::kGreaterOrEqual:
        return Comparison::kLessOrEqual;
      case Comparison::kEqual:
        break;
    }
    return comparison;
  }

  Result<void> compare(const Node& node, Leaf& leaf) {
    const Node& before = node.parts[0];
    const Node& behind = node.parts[1];
    SJ_TRY(left, number(before, leaf));
    SJ_TRY(right, number(behind, leaf));
    if (behind.kind == Kind::kConstant) {
      leaf.steps = std::move(left);
      add_range(node.comparison, behind.number, leaf);
    } else if (before.kind == Kind::kConstant) {
      leaf.steps = std::move(right);
      add_range(mirrored(node.comparison), before.number, leaf);
    } else {
      leaf.steps = std::move(left);
      leaf.steps.insert(leaf.steps.end(), right.begin(), right.end());
      leaf.steps.push_back({.kind = Step::Kind::kCalculate, .op = Operator::kSubtract});
      add_range(node.comparison, 0, leaf);
    }
    return require_plain_time(node, leaf);
  }

  Result<void> in(const Node& node, Leaf& leaf) {
    SJ_TRY(steps, number(node.parts.front(), leaf));
    leaf.steps = std::move(steps);
    for (std::size_t i = 1; i + 1 < node.parts.size(); i += 2)
      leaf.ranges.push_back({node.parts[i].number, node.parts[i + 1].number});
    tidy(leaf.ranges);
    if (!node.patterns.empty()) return called(node, leaf);
    return require_plain_time(node, leaf);
  }

  // A thread's name matches the thread ids that have had it so far.
  Result<void> called(const Node& node, Leaf& leaf) const {
    leaf.kind = Leaf::Kind::kThread;
    leaf.known = leaf.ranges;
    const ThreadNames& threads = around_.threads;
    for (const auto& [tid, name] : threads) leaf.known.push_back({tid, tid});
    for (const Pattern& pattern : node.patterns) {
      const std::size_t before = leaf.ranges.size();
      for (const auto& [tid, name] : threads)
        if (matches(pattern, name)) leaf.ranges.push_back({tid, tid});
      if (leaf.ranges.size() == before && !around_.more_threads)
        return no_such_thread(pattern, threads);
    }
    tidy(leaf.ranges);
    tidy(leaf.known);
    return {};
  }

  std::unexpected<Error> no_such_thread(const Pattern& pattern, const ThreadNames& threads) const {
    if (threads.empty())
      return source_.complain(pattern.at,
                              "no thread's name is known here: compare with its number");
    std::vector<std::string> names;
    for (const auto& [tid, name] : threads) names.push_back(name);
    return source_.complain(
        pattern.at,
        fmt::format("no thread{} \"{}\"{}", pattern.is_glob ? "'s name matches" : " is called",
                    pattern.text, did_you_mean(pattern.text, names)));
  }

  // Sorts the ranges and joins those that touch.
  static void tidy(std::vector<Range>& ranges) {
    std::ranges::sort(ranges, {}, &Range::low);
    std::vector<Range> apart;
    for (const Range& range : ranges) {
      if (!apart.empty() && (apart.back().high == kMaxNumber || range.low <= apart.back().high + 1))
        apart.back().high = std::max(apart.back().high, range.high);
      else
        apart.push_back(range);
    }
    ranges = std::move(apart);
  }

  // ---- texts ----

  Result<void> text(const Node& node, Leaf& leaf) {
    leaf.kind = Leaf::Kind::kText;
    leaf.patterns = node.patterns;
    SJ_CHECK(word(node, leaf));
    for (const Pattern& pattern : node.patterns) {
      if (leaf.word != Keyword::kDir && names_ == NameCheck::kMustBeKnown &&
          std::ranges::none_of(schema_.points, [&](const model::Point& point) {
            return text_matches(point, leaf.word, {pattern});
          })) {
        return source_.complain(
            pattern.at, fmt::format("no {} {} \"{}\"{}", node.name == "point" ? "point" : "place",
                                    pattern.is_glob ? "matches" : "is called", pattern.text,
                                    did_you_mean(pattern.text, texts(leaf.word))));
      }
    }
    return {};
  }

  std::vector<std::string> texts(Keyword word) const {
    std::vector<std::string> all;
    for (const model::Point& point : schema_.points) {
      if (word == Keyword::kPoint) {
        all.push_back(point.name());
      } else {
        if (word != Keyword::kDest) all.push_back(point.src);
        if (word != Keyword::kSrc) all.push_back(point.dest);
      }
    }
    return all;
  }

  language::SourceText source_;
  Scope scope_;
  const model::Schema& schema_;
  const BindContext& around_;
  NameCheck names_;
};

}  // namespace

Result<Condition> bind(const Expression& expression, Scope scope, const model::Schema& schema,
                       const BindContext& around) {
  return Binder(language::SourceText(expression.text), scope, schema, around)
      .condition(expression.root, false);
}

namespace {

// Converts to the clock of the events, whose numbers are never negative.
std::uint64_t clamped(Number ns) {
  return static_cast<std::uint64_t>(std::clamp(ns, Number{0}, Number{UINT64_MAX}));
}

// The span in which one comparison with times holds, or does not hold.
Span span_of_leaf(const Leaf& leaf, bool is_negated, std::uint64_t origin_ns) {
  const bool is_time = leaf.kind == Leaf::Kind::kNumber && leaf.steps.size() == 1 &&
                       leaf.steps.front().kind == Step::Kind::kWord &&
                       leaf.steps.front().word == Keyword::kTime;
  if (!is_time || leaf.ranges.empty()) return {};
  Range hull = {leaf.ranges.front().low, leaf.ranges.back().high};
  if (is_negated) {
    if (hull.low == kMinNumber && hull.high != kMaxNumber)
      hull = {leaf.ranges.front().high + 1, kMaxNumber};
    else if (hull.high == kMaxNumber && hull.low != kMinNumber)
      hull = {kMinNumber, leaf.ranges.back().low - 1};
    else
      return {};
  }
  const Number origin = origin_ns;
  return {.from_ns = hull.low < -origin ? 0 : clamped(hull.low + origin),
          .until_ns = hull.high > kMaxNumber - origin ? UINT64_MAX : clamped(hull.high + origin)};
}

}  // namespace

Span span_of(const Condition& condition, std::uint64_t origin_ns) {
  if (condition.kind == Condition::Kind::kLeaf)
    return span_of_leaf(condition.leaf, condition.is_negated, origin_ns);
  const bool is_and = condition.kind == Condition::Kind::kAnd;
  Span all = is_and ? Span{} : Span{.from_ns = UINT64_MAX, .until_ns = 0};
  for (const Condition& part : condition.parts) {
    const Span one = span_of(part, origin_ns);
    all.from_ns = is_and ? std::max(all.from_ns, one.from_ns) : std::min(all.from_ns, one.from_ns);
    all.until_ns =
        is_and ? std::min(all.until_ns, one.until_ns) : std::max(all.until_ns, one.until_ns);
  }
  return all;
}

bool in_ranges(const std::vector<Range>& ranges, Number number) {
  const auto after = std::ranges::upper_bound(ranges, number, {}, &Range::low);
  return after != ranges.begin() && std::prev(after)->holds(number);
}

bool text_matches(const model::Point& point, Keyword word, const std::vector<Pattern>& patterns) {
  const std::string direction(1, letter(point.direction));
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) {
    switch (word) {
      case Keyword::kDir:
        return pattern.text == direction;
      case Keyword::kPoint:
        return matches(pattern, point.name()) || matches(pattern, direction + " " + point.name());
      case Keyword::kSrc:
        return matches(pattern, point.src);
      case Keyword::kDest:
        return matches(pattern, point.dest);
      default:
        return matches(pattern, point.src) || matches(pattern, point.dest);
    }
  });
}

bool place_matches(const std::string& place, const Pattern& pattern) {
  if (matches(pattern, place)) return true;
  return !pattern.is_glob && place.size() > pattern.text.size() &&
         place.starts_with(pattern.text) && place[pattern.text.size()] == '.';
}

}  // namespace sojourn::filter
