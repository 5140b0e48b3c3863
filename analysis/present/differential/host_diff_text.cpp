#include "analysis/present/differential/host_diff_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/present/differential/p_text.h"
#include "analysis/present/host/host_text.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using differential::HostDiff;
using differential::HostFinding;
using differential::MeasurementDiff;

std::string finding_text(const MeasurementDiff& one) {
  switch (one.finding) {
    case HostFinding::kNone:
      return one.p ? fmt::format("same ({})", p_text(*one.p, one.adjusted_p)) : "within the spread";
    case HostFinding::kApart:
      return "apart, by one run each";
    case HostFinding::kChanged:
      return fmt::format("changed ({})", p_text(one.p.value_or(1), one.adjusted_p));
    case HostFinding::kTooLittle:
      return fmt::format("too little data ({})", p_text(one.p.value_or(1), one.adjusted_p));
    case HostFinding::kUnstable:
      return "not stable: nothing can be said";
    case HostFinding::kOnlyLeft:
      return "only left";
    case HostFinding::kOnlyRight:
      break;
  }
  return "only right";
}

std::string change_text(const MeasurementDiff& one) {
  if (one.finding == HostFinding::kOnlyLeft || one.finding == HostFinding::kOnlyRight ||
      one.left == 0)
    return "-";
  std::string text = fmt::format("{:+.1f} %", one.change() * 100);
  if (one.half) text += fmt::format(" +-{:.1f} %", *one.half / one.left * 100);
  return text;
}

std::string facts_text(const HostDiff& diff, std::size_t width) {
  Table facts({"machine", "left", "right"});
  facts.left(1);
  facts.left(2);
  facts.fold(2);
  for (const differential::FactDiff& fact : diff.facts)
    facts.row({fact.name, fact.left.empty() ? "not told" : printable(fact.left),
               fact.right.empty() ? "not told" : printable(fact.right)});
  return facts.empty() ? std::string() : facts.text(width) + "\n";
}

}  // namespace

std::string host_diff_text(const HostDiff& diff, std::size_t width) {
  std::string text = facts_text(diff, width);
  Table table({"measured", "left", "right", "change", ""});
  table.left(4);
  for (const MeasurementDiff& one : diff.measurements)
    table.row({one.name,
               one.finding == HostFinding::kOnlyRight ? "-" : quantity(one.left, one.unit),
               one.finding == HostFinding::kOnlyLeft ? "-" : quantity(one.right, one.unit),
               change_text(one), finding_text(one)});
  text += table.text(width);
  if (diff.tests == 0)
    return text +
           "\n"
           "one run on a side: differences may be chance. Give several runs a side, with commas "
           "between them\n";
  text += fmt::format(
      "\n{} and {} runs; k-sample Anderson-Darling of their medians, Holm over {} tests\n",
      diff.left_runs, diff.right_runs, diff.tests);
  if (std::min(diff.left_runs, diff.right_runs) < diff.runs_needed)
    text += fmt::format(
        "only {} runs of each side can show a difference in this many tests. `host --only` makes "
        "fewer tests\n",
        diff.runs_needed);
  return text;
}

}  // namespace sojourn::present
