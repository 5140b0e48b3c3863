#include "analysis/filter/program.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sojourn::filter {

namespace {

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// All combinations of one field for each name. The result is empty if a name has no field.
std::vector<std::vector<std::uint32_t>> ways(const Leaf& leaf, const model::Point& point) {
  std::vector<std::vector<std::uint32_t>> all = {{}};
  for (const std::string& name : leaf.names) {
    std::vector<std::vector<std::uint32_t>> longer;
    for (std::uint32_t field = 0; field < point.fields.size(); ++field) {
      if (point.fields[field].name != name) continue;
      for (const auto& way : all) {
        longer.push_back(way);
        longer.back().push_back(field);
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace

// ---- compiling ----

Program::Program(const Condition& condition, const model::Schema& schema, std::uint64_t origin_ns,
                 Missing missing)
    : origin_ns_(origin_ns), missing_(missing), tests_(kFirstTest) {
  for (const model::Point& point : schema.points) {
    entries_.push_back(emit(condition, point, kAccept, kReject));
    fields_.push_back(static_cast<std::uint8_t>(point.fields.size()));
  }
}

std::uint32_t Program::add(Test test) {
  if (test.on_true == test.on_false && test.on_true == test.on_missing) return test.on_true;
  const auto known = std::ranges::find(tests_.begin() + kFirstTest, tests_.end(), test);
  const auto index = static_cast<std::uint32_t>(known - tests_.begin());
  if (known == tests_.end()) tests_.push_back(std::move(test));
  return index;
}

// Compiles backwards, since a jump leads to a test that exists already.
std::uint32_t Program::emit(const Condition& condition, const model::Point& point,
                            std::uint32_t on_true, std::uint32_t on_false) {
  if (condition.kind == Condition::Kind::kLeaf)
    return emit_leaf(condition, point, on_true, on_false);
  const bool is_and = condition.kind == Condition::Kind::kAnd;
  std::uint32_t entry = is_and ? on_true : on_false;
  for (auto part = condition.parts.rbegin(); part != condition.parts.rend(); ++part)
    entry = is_and ? emit(*part, point, entry, on_false) : emit(*part, point, on_true, entry);
  return entry;
}

std::uint32_t Program::emit_leaf(const Condition& condition, const model::Point& point,
                                 std::uint32_t on_true, std::uint32_t on_false) {
  const Leaf& leaf = condition.leaf;
  const std::uint32_t yes = condition.is_negated ? on_false : on_true;
  const std::uint32_t no = condition.is_negated ? on_true : on_false;
  const std::uint32_t unknown = missing_ == Missing::kAccept ? on_true : on_false;
  switch (leaf.kind) {
    case Leaf::Kind::kText:
      return text_matches(point, leaf.word, leaf.patterns) ? yes : no;
    case Leaf::Kind::kHas:
      return point.field(leaf.names.front()) ? yes : no;
    case Leaf::Kind::kFlag:  // belongs to journeys: it is never evaluated for an event
    case Leaf::Kind::kEvent:
      return unknown;
    case Leaf::Kind::kThread:
      return emit_thread(leaf, yes, no, unknown);
    case Leaf::Kind::kNumber:
      break;
  }
  const auto all = ways(leaf, point);
  if (all.empty()) return unknown;
  std::uint32_t entry = no;
  for (auto way = all.rbegin(); way != all.rend(); ++way) {
    // If one value cannot be calculated, the others decide.
    const bool go_on = (missing_ == Missing::kAccept) == condition.is_negated;
    Test targets;
    targets.on_true = yes;
    targets.on_false = entry;
    targets.on_missing = !go_on ? unknown : entry == no ? unknown : entry;
    entry = emit_number(leaf, point, *way, std::move(targets));
  }
  return entry;
}

Program::Calculation Program::resolve(const Step& step, const model::Point& point,
                                      const std::vector<std::uint32_t>& fields) {
  using CKind = Calculation::Kind;
  Calculation to;
  to.op = step.op;
  to.number = step.number;
  switch (step.kind) {
    case Step::Kind::kConstant:
      return to;
    case Step::Kind::kNegate:
      to.kind = CKind::kNegate;
      return to;
    case Step::Kind::kCalculate:
      to.kind = CKind::kCalculate;
      return to;
    case Step::Kind::kField:
      to.kind = CKind::kSource;
      to.index = fields[step.index];
      to.is_signed = point.fields[to.index].is_signed;
      return to;
    case Step::Kind::kWord:
    case Step::Kind::kAt:
      break;
  }
  to.kind = CKind::kSource;
  switch (step.kind == Step::Kind::kAt ? Keyword::kLatency : step.word) {
    case Keyword::kTime:
      to.source = Source::kTime;
      return to;
    case Keyword::kThread:
      to.source = Source::kThread;
      return to;
    case Keyword::kStream:
      to.source = Source::kStream;
      return to;
    case Keyword::kCpu:
      to.source = Source::kCpu;
      return to;
    default:
      break;
  }
  to.kind = CKind::kOuter;
  const auto known = std::ranges::find_if(outer_steps_, [&](const Step& one) {
    return one.kind == step.kind && one.word == step.word && one.index == step.index;
  });
  to.index = static_cast<std::uint32_t>(known - outer_steps_.begin());
  if (known == outer_steps_.end()) outer_steps_.push_back(step);
  return to;
}

std::uint32_t Program::emit_number(const Leaf& leaf, const model::Point& point,
                                   const std::vector<std::uint32_t>& fields, Test targets) {
  std::vector<Calculation> steps;
  steps.reserve(leaf.steps.size());
  for (const Step& step : leaf.steps) steps.push_back(resolve(step, point, fields));
  if (steps.size() == 1 && steps.front().kind == Calculation::Kind::kSource)
    return emit_simple(steps.front(), leaf.ranges, std::move(targets));
  targets.kind = Test::Kind::kCalculated;
  targets.steps = std::move(steps);
  targets.ranges = leaf.ranges;
  return add(std::move(targets));
}

// A thread whose name is not known makes the test unknown, not false.
std::uint32_t Program::emit_thread(const Leaf& leaf, std::uint32_t yes, std::uint32_t no,
                                   std::uint32_t unknown) {
  const Calculation thread = {.kind = Calculation::Kind::kSource, .source = Source::kThread};
  const auto among = [&](const std::vector<Range>& ranges, std::uint32_t in, std::uint32_t out) {
    Test test;
    test.on_true = in;
    test.on_false = out;
    return emit_simple(thread, ranges, std::move(test));
  };
  const std::uint32_t is_meant = among(leaf.ranges, yes, no);
  return no == unknown ? is_meant : among(leaf.known, is_meant, unknown);
}

// A test of a source without arithmetic, in ranges of its own 64 bits.
std::uint32_t Program::emit_simple(const Calculation& from, const std::vector<Range>& ranges,
                                   Test test) {
  const Number least = from.is_signed ? Number{INT64_MIN} : Number{0};
  const Number most = from.is_signed ? Number{INT64_MAX} : Number{UINT64_MAX};
  test.source = from.source;
  test.value = from.index;
  test.bias = from.is_signed ? kSignBit : 0;
  const Number shift = from.source == Source::kTime ? Number{origin_ns_} : Number{0};
  for (const Range& range : ranges) {
    if (range.low > most - shift || range.high < least - shift) continue;
    const Number low = std::max(range.low, least - shift) + shift;
    const Number high = std::min(range.high, most - shift) + shift;
    if (low == least && high == most && from.source != Source::kCpu) return test.on_true;
    test.set.emplace_back(static_cast<std::uint64_t>(low) + test.bias,
                          static_cast<std::uint64_t>(high) + test.bias);
  }
  if (test.set.empty() && from.source != Source::kCpu) return test.on_false;
  test.kind = Test::Kind::kSet;
  if (test.set.size() == 1) {
    test.kind = Test::Kind::kRange;
    test.low = test.set.front().first - test.bias;
    test.width = test.set.front().second - test.set.front().first;
    test.set.clear();
    test.bias = 0;
  }
  if (from.source != Source::kCpu) test.on_missing = test.on_false;  // they are never missing
  return add(std::move(test));
}

void Program::add_stream(const model::Stream& stream) {
  constexpr std::uint32_t kMaxStreams = 1 << 20;  // no capture makes more
  if (stream.id >= kMaxStreams) return;
  if (stream.id >= cpus_.size()) cpus_.resize(stream.id + 1, -1);
  cpus_[stream.id] = stream.cpu;
}

Program::PointMatch Program::point_match(model::PointId point) const {
  if (point >= entries_.size() || entries_[point] == kReject) return PointMatch::kNone;
  return entries_[point] == kAccept ? PointMatch::kAll : PointMatch::kSome;
}

std::optional<std::vector<FieldTest>> Program::field_tests(model::PointId point) const {
  if (point_match(point) == PointMatch::kNone) return std::nullopt;
  std::vector<FieldTest> found;
  for (std::uint32_t at = entries_[point]; at != kAccept;) {
    const Test& test = tests_[at];
    if (test.kind != Test::Kind::kRange || test.source != Source::kValue) return std::nullopt;
    const bool is_negated = test.on_true == kReject;
    if (!is_negated && test.on_false != kReject) return std::nullopt;
    found.push_back({test.value, test.low, test.width, is_negated});
    at = is_negated ? test.on_false : test.on_true;
  }
  return found;
}

// ---- one event ----

std::optional<std::uint64_t> Program::raw(Source source, std::uint32_t value,
                                          const model::EventView& event) const {
  switch (source) {
    case Source::kValue:
      if (value >= event.values.size()) return std::nullopt;
      return event.values[value];
    case Source::kTime:
      return event.ts_ns;
    case Source::kThread:
      return event.tid;
    case Source::kStream:
      return event.stream;
    case Source::kCpu:
      if (event.stream >= cpus_.size() || cpus_[event.stream] < 0) return std::nullopt;
      return static_cast<std::uint64_t>(cpus_[event.stream]);
  }
  return std::nullopt;
}

std::optional<Number> Program::read(const Calculation& step, const model::EventView& event) const {
  const auto bits = raw(step.source, step.index, event);
  if (!bits) return std::nullopt;
  if (step.is_signed) return Number{static_cast<std::int64_t>(*bits)};
  return step.source == Source::kTime ? Number{*bits} - Number{origin_ns_} : Number{*bits};
}

Program::Outcome Program::calculated(const Test& test, const model::EventView& event,
                                     Outer outer) const {
  std::array<Number, kStack> stack;
  std::size_t top = 0;  // past the newest
  for (const Calculation& step : test.steps) {
    std::optional<Number> result;
    switch (step.kind) {
      case Calculation::Kind::kConstant:
        result = step.number;
        break;
      case Calculation::Kind::kSource:
        result = read(step, event);
        break;
      case Calculation::Kind::kOuter:
        if (step.index < outer.size()) result = outer[step.index];
        break;
      case Calculation::Kind::kNegate:
        result = calculate(Operator::kSubtract, 0, stack[--top]);
        break;
      case Calculation::Kind::kCalculate:
        top -= 2;
        result = calculate(step.op, stack[top], stack[top + 1]);
        break;
    }
    if (!result || top == kStack) return Outcome::kMissing;
    stack[top++] = *result;
  }
  const bool held =
      std::ranges::any_of(test.ranges, [&](const Range& range) { return range.holds(stack[0]); });
  return held ? Outcome::kTrue : Outcome::kFalse;
}

Program::Outcome Program::outcome(const Test& test, const model::EventView& event,
                                  Outer outer) const {
  if (test.kind == Test::Kind::kCalculated) return calculated(test, event, outer);
  const auto bits = raw(test.source, test.value, event);
  if (!bits) return Outcome::kMissing;
  if (test.kind == Test::Kind::kRange)
    return *bits - test.low <= test.width ? Outcome::kTrue : Outcome::kFalse;
  const auto after = std::ranges::upper_bound(test.set, *bits + test.bias, {},
                                              &std::pair<std::uint64_t, std::uint64_t>::first);
  const bool held = after != test.set.begin() && *bits + test.bias <= std::prev(after)->second;
  return held ? Outcome::kTrue : Outcome::kFalse;
}

bool Program::matches(const model::EventView& event, Outer outer) const {
  if (event.point >= entries_.size()) return false;
  std::uint32_t at = entries_[event.point];
  if (at >= kFirstTest && event.values.size() < fields_[event.point]) return false;
  while (at >= kFirstTest) {
    const Test& test = tests_[at];
    switch (outcome(test, event, outer)) {
      case Outcome::kTrue:
        at = test.on_true;
        break;
      case Outcome::kFalse:
        at = test.on_false;
        break;
      case Outcome::kMissing:
        at = test.on_missing;
        break;
    }
  }
  return at == kAccept;
}

}  // namespace sojourn::filter
