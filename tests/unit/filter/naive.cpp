#include "tests/unit/filter/naive.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/filter/support.h"

namespace sojourn::filter_tests {

namespace {

using filter::Comparison;
using filter::Node;
using filter::Number;
using Kind = Node::Kind;
using Chosen = std::map<std::string, std::size_t>;  // the chosen field of each name

void collect(const Node& node, std::vector<std::string>& names) {
  const bool is_field = node.is_field || filter::find_keyword(node.name) == nullptr;
  if (node.kind == Kind::kName && is_field && std::ranges::find(names, node.name) == names.end())
    names.push_back(node.name);
  for (const Node& part : node.parts) collect(part, names);
}

std::optional<Number> number(const Node& node, const model::Point& point,
                             const model::EventView& event, const Chosen& chosen) {
  switch (node.kind) {
    case Kind::kConstant:
      return node.number;
    case Kind::kName: {
      if (const auto field = chosen.find(node.name); field != chosen.end()) {
        const std::uint64_t bits = event.values[field->second];
        if (point.fields[field->second].is_signed) return static_cast<std::int64_t>(bits);
        return bits;
      }
      if (node.name == "time") return event.ts_ns;
      if (node.name == "thread" || node.name == "tid") return event.tid;
      if (node.name == "stream") return event.stream;
      return std::nullopt;
    }
    case Kind::kNegate: {
      const auto of = number(node.parts[0], point, event, chosen);
      return of ? std::optional(-*of) : std::nullopt;
    }
    default: {
      const auto left = number(node.parts[0], point, event, chosen);
      const auto right = number(node.parts[1], point, event, chosen);
      if (!left || !right) return std::nullopt;
      return filter::calculate(node.op, *left, *right);
    }
  }
}

bool compare(Comparison comparison, Number left, Number right) {
  switch (comparison) {
    case Comparison::kEqual:
      return left == right;
    case Comparison::kLess:
      return left < right;
    case Comparison::kLessOrEqual:
      return left <= right;
    case Comparison::kGreater:
      return left > right;
    case Comparison::kGreaterOrEqual:
      return left >= right;
  }
  return false;
}

Truth judge(const Node& node, const model::Point& point, const model::EventView& event,
            const Chosen& chosen) {
  std::vector<Number> numbers;
  for (const Node& part : node.parts) {
    const auto value = number(part, point, event, chosen);
    if (!value) return Truth::kUnknown;
    numbers.push_back(*value);
  }
  if (node.kind == Kind::kCompare)
    return compare(node.comparison, numbers[0], numbers[1]) ? Truth::kTrue : Truth::kFalse;
  for (std::size_t i = 1; i + 1 < numbers.size(); i += 2)
    if (numbers[i] <= numbers[0] && numbers[0] <= numbers[i + 1]) return Truth::kTrue;
  if (node.patterns.empty()) return Truth::kFalse;
  const auto called = thread_names().find(event.tid);
  if (called == thread_names().end()) return Truth::kUnknown;
  const bool is_selected = std::ranges::any_of(node.patterns, [&](const filter::Pattern& pattern) {
    return filter::matches(pattern, called->second);
  });
  return is_selected ? Truth::kTrue : Truth::kFalse;
}

// True if it is true for any choice of fields.
Truth any_choice(const Node& node, const model::Point& point, const model::EventView& event,
                 const std::vector<std::string>& names, std::size_t next, Chosen& chosen) {
  if (next == names.size()) return judge(node, point, event, chosen);
  Truth best = Truth::kFalse;
  bool any = false;
  for (std::size_t field = 0; field < point.fields.size(); ++field) {
    if (point.fields[field].name != names[next]) continue;
    any = true;
    chosen[names[next]] = field;
    best = std::max(best, any_choice(node, point, event, names, next + 1, chosen));
  }
  return any ? best : Truth::kUnknown;
}

}  // namespace

Truth naive(const Node& node, const model::Schema& schema, const model::EventView& event) {
  const model::Point& point = schema.points[event.point];
  const auto truth = [](bool is_true) { return is_true ? Truth::kTrue : Truth::kFalse; };
  switch (node.kind) {
    case Kind::kNot: {
      const Truth of = naive(node.parts[0], schema, event);
      return of == Truth::kUnknown ? of : truth(of == Truth::kFalse);
    }
    case Kind::kAnd: {
      Truth all = Truth::kTrue;
      for (const Node& part : node.parts) all = std::min(all, naive(part, schema, event));
      return all;
    }
    case Kind::kOr: {
      Truth all = Truth::kFalse;
      for (const Node& part : node.parts) all = std::max(all, naive(part, schema, event));
      return all;
    }
    case Kind::kHas:
      return truth(point.field(node.name).has_value());
    case Kind::kText:
      return truth(std::ranges::any_of(node.patterns, [&](const filter::Pattern& pattern) {
        if (node.name == "dir") return pattern.text == std::string(1, letter(point.direction));
        if (node.name == "point") return filter::matches(pattern, point.name());
        if (node.name == "src") return filter::matches(pattern, point.src);
        return filter::matches(pattern, point.dest);
      }));
    default: {
      std::vector<std::string> names;
      collect(node, names);
      Chosen chosen;
      return any_choice(node, point, event, names, 0, chosen);
    }
  }
}

}  // namespace sojourn::filter_tests
