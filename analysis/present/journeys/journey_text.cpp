#include "analysis/present/journeys/journey_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/journeys/known_ids.h"
#include "analysis/model/links.h"
#include "analysis/model/value_text.h"
#include "analysis/present/words/field_text.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

constexpr std::size_t kMaxNamed = 3;     // alternatives, activities; JSON has all of them
constexpr std::size_t kTextColumn = 17;  // of a step's point

using journeys::Alternative;
using journeys::Ambiguity;
using journeys::Journey;
using journeys::kNoStep;
using journeys::Meanwhile;
using journeys::Outcome;
using journeys::Step;

// Fields that the step's parent does not already say.
std::string news(const Journey& journey, const Step& step, const model::Schema& schema) {
  const auto& point = schema.points[step.point];
  std::string text;
  for (std::size_t i = 0; i < point.fields.size(); ++i) {
    bool known = false;
    if (!step.parents.empty()) {
      const auto& parent = journey.steps[step.parents.front()];
      const auto index = schema.points[parent.point].field(point.fields[i].name);
      known = index && parent.values[*index] == step.values[i];
    }
    if (known || model::is_auxiliary_field(point.fields[i].name)) continue;
    if (!text.empty()) text += ' ';
    text += fmt::format("{} {}", point.fields[i].name, model::value_text(point, i, step.values));
  }
  return text;
}

std::string plural(std::uint32_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// A step is indented below a parent that has more than one child.
std::vector<std::size_t> indents(const Journey& journey) {
  std::vector<std::size_t> children(journey.steps.size(), 0);
  for (const auto& step : journey.steps)
    for (const auto parent : step.parents) ++children[parent];
  std::vector<std::size_t> result;
  for (const auto& step : journey.steps) {
    if (step.parents.empty()) {
      result.push_back(0);
      continue;
    }
    const auto parent = step.parents.front();
    const bool joins = step.parents.size() > 1;
    const auto deeper = !joins && children[parent] > 1 ? 1U : 0U;
    const auto shallower = joins && result[parent] > 0 ? 1U : 0U;
    result.push_back(std::min<std::size_t>(result[parent] + deeper - shallower, 12));
  }
  return result;
}

std::string words(const Alternative& other, const Step& step, const model::Schema& schema) {
  const auto& point = schema.points[other.point];
  const auto before_ns = step.ts_ns - std::min(step.ts_ns, other.ts_ns);
  return fmt::format("{} {} earlier,{} (stream {} seq {})", point.name(),
                     duration(static_cast<double>(before_ns)), ids_text(point, other.values),
                     other.stream, other.seq);
}

// "ambiguous: ...": what else the step may belong to, and what else is not sure of it.
std::string words(const Ambiguity& ambiguity, const Step& step, const model::Schema& schema) {
  std::vector<std::string> said;
  const auto& others = ambiguity.alternatives;
  for (const auto& other : others.first(std::min(others.size(), kMaxNamed)))
    said.push_back((said.empty() ? "or from " : "") + words(other, step, schema));
  if (others.size() > kMaxNamed || ambiguity.more_fit)
    said.push_back(fmt::format(
        "{}{} more", ambiguity.more_fit ? "at least " : "",
        others.size() + (ambiguity.more_fit ? 1 : 0) - std::min(others.size(), kMaxNamed)));
  for (const auto& doubt : journeys::kAmbiguityReasons)
    if (doubt.doubt != journeys::kOthersFit && (ambiguity.doubts & doubt.doubt) != 0)
      said.emplace_back(doubt.sentence);
  return fmt::format("ambiguous: {}", fmt::join(said, "; "));
}

// An activity or a marker during the stay that a step ended: "meanwhile mutex.waited for 34 us
// mutex 7".
std::string meanwhile_words(const Meanwhile& made, const model::Schema& schema) {
  const model::Point& point = schema.points[made.point];
  std::string text = "meanwhile " + printable(point.name());
  if (point.field(model::kDurationField))
    text += " for " + duration(static_cast<double>(made.end_ns - made.begin_ns));
  for (std::size_t at = 0; at < point.fields.size(); ++at)
    if (point.fields[at].name != model::kDurationField)
      text +=
          fmt::format("  {} {}", point.fields[at].name, model::value_text(point, at, made.values));
  return text;
}

// Limits the lines for each step.
std::string meanwhile_lines(std::span<const Meanwhile> made, std::size_t indent,
                            const model::Schema& schema) {
  std::string text;
  for (const Meanwhile& one : made.first(std::min(made.size(), kMaxNamed)))
    text += fmt::format("{:{}}{}\n", "", indent, meanwhile_words(one, schema));
  if (made.size() > kMaxNamed)
    text += fmt::format("{:{}}meanwhile {} more\n", "", indent, made.size() - kMaxNamed);
  return text;
}

}  // namespace

std::string journey_headline(const Journey& journey, const model::Schema& schema) {
  const bool at_one_point = journey.outcome == Outcome::kComplete && !journey.has_latency();
  auto text = fmt::format("journey {}  {}{}  {}  {}", journey.id, letter(journey.direction),
                          ids_text(schema, journeys::PacketNames(schema).of(journey)),
                          name(journey.outcome),
                          at_one_point ? "seen at one point only"
                                       : duration(static_cast<double>(journey.latency_ns())));
  if (journey.segments > 1) text += fmt::format("  {} pieces", journey.segments);
  if (journey.retransmissions > 0) text += "  " + plural(journey.retransmissions, "repeat");
  if (journey.ambiguous) text += "  ambiguous";
  if (journey.headless) text += "  beginning not seen";
  if (journey.inside_until_ns != 0)
    text += fmt::format("  inside at the end, after {}",
                        duration(static_cast<double>(journey.inside_until_ns - journey.start_ns)));
  return text;
}

const Step& namesake(const Journey& journey) {
  return journey.steps[journey.own_step];
}

std::optional<StepError> step_error(const Journey& journey, std::size_t step, const Hosts& hosts) {
  if (hosts.empty() || journey.steps.empty()) return std::nullopt;
  const auto stamp = [&](const Step& of) {
    return model::StampOfHost{.host = model::host_of(hosts, of.stream), .ts_ns = of.ts_ns};
  };
  const auto began = std::ranges::find_if(journey.steps, [&](const Step& each) {
    return each.ts_ns == journey.start_ns || each.entered_ns == journey.start_ns;
  });
  const auto first = stamp(began == journey.steps.end() ? journey.steps.front() : *began);
  const auto here = stamp(journey.steps[step]);
  return StepError{.host = here.host,
                   .crosses = first.host != here.host,
                   .ns = model::time_error_ns(hosts, first, here)};
}

std::string journey_text(const Journey& journey, const model::Schema& schema, const Hosts& hosts) {
  auto text = journey_headline(journey, schema);
  // Beside times from one host to another: how far they may be off.
  const auto off = [&](std::size_t step) -> std::string {
    const auto error = step_error(journey, step, hosts);
    if (!error || !error->crosses) return "";
    return "  +- " + duration(static_cast<double>(error->ns));
  };
  text += off(journey.end_step) + "\n";
  const auto deep = indents(journey);
  auto ambiguity = journey.ambiguities.begin();
  for (std::size_t i = 0; i < journey.steps.size(); ++i) {
    const auto& step = journey.steps[i];
    const auto since = step.ts_ns - std::min(step.ts_ns, journey.start_ns);
    auto line = fmt::format("  {:>3}  {:>8}  {:{}}{}", fmt::format("#{}", i),
                            duration(static_cast<double>(since)), "", 2 * deep[i],
                            schema.points[step.point].name());
    if (const auto fields = news(journey, step, schema); !fields.empty()) line += "  " + fields;
    if (step.parents.size() > 1) line += fmt::format("  joins {}", step.parents.size());
    if (step.repeat_of != kNoStep) line += fmt::format("  repeats #{}", step.repeat_of);
    if (i == journey.end_step && journey.outcome == Outcome::kComplete) line += "  whole";
    line += off(i);
    if (journey.inside_until_ns != 0 && step.inside)
      line += fmt::format("  in {} for {}", schema.points[step.point].dest,
                          duration(static_cast<double>(journey.inside_until_ns - step.entered_ns)));
    text += line + "\n";
    const std::size_t indent = kTextColumn + 2 * deep[i];
    if (ambiguity != journey.ambiguities.end() && ambiguity->step == i)
      text += fmt::format("{:{}}{}\n", "", indent, words(*ambiguity++, step, schema));
    const auto made = std::ranges::equal_range(journey.meanwhile, i, {}, &Meanwhile::step);
    text += meanwhile_lines({made.begin(), made.end()}, indent, schema);
  }
  if (journey.lacks_meanwhile)
    text += "  some activities of that time are left out: there are too many\n";
  return text;
}

}  // namespace sojourn::present
