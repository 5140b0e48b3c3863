#include "analysis/present/report/groups_report.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/report/deadline_part.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/json_format.h"
#include "analysis/present/words/shed_words.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxGroupRows = 50;
constexpr std::size_t kMaxName = 30;

std::string direction_of(const report::Group& group) {
  return group.direction == ' ' ? std::string() : fmt::format("{} ", group.direction);
}

// Names that are long get a number, and stand in full below.
std::vector<std::string> labels(const report::Groups& groups) {
  std::vector<std::string> result;
  result.reserve(groups.all().size());
  const bool numbered =
      std::ranges::any_of(groups.all() | std::views::take(kMaxGroupRows),
                          [](const report::Group& group) { return group.name.size() > kMaxName; });
  for (const report::Group& group : groups.all())
    result.push_back(numbered ? fmt::format("  {}{} {}", direction_of(group), name(groups.by()),
                                            result.size() + 1)
                              : fmt::format("  {}{}", direction_of(group), printable(group.name)));
  return result;
}

std::string legend(const report::Groups& groups, const std::vector<std::string>& shown) {
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.all().size(), kMaxGroupRows); ++i) {
    const report::Group& group = groups.all()[i];
    if (!shown[i].ends_with(printable(group.name)))
      text += fmt::format("{}  {}\n", shown[i], printable(group.name));
  }
  return text.empty() ? text : "\n" + text;
}

double a_second(const ReportContent& content, double amount) {
  return amount / std::max(content.selected_s(), 1e-9);
}

std::string at_one_point(const ReportContent& content, const report::Groups& groups) {
  std::uint64_t packets = 0;
  for (const report::Group& group : groups.all()) packets += group.at_one_point;
  if (packets == 0) return {};
  const auto text =
      fmt::format("{} {} seen at one point only, and {} no latency", count(packets),
                  packets == 1 ? "packet was" : "packets were", packets == 1 ? "has" : "have");
  return wrapped(text, 2, content.width) + "\n";
}

std::string times(const ReportContent& content, const report::Groups& groups,
                  const std::vector<std::string>& shown) {
  std::vector<std::string> header = {fmt::format("by {}", name(groups.by())),
                                     "count",
                                     "mean",
                                     "stdev",
                                     "p50",
                                     "p99",
                                     "p99.9",
                                     "p99.99",
                                     "max",
                                     "jitter"};
  if (content.deadline_ns) header.emplace_back("late");
  Table table(std::move(header));
  table.spare(3);
  table.spare(6);
  bool any_guess = false;
  bool exact = true;
  for (std::size_t i = 0; i < std::min(groups.all().size(), kMaxGroupRows); ++i) {
    const report::Group& group = groups.all()[i];
    const statistics::Distribution& all = group.times_ns;
    if (all.count() == 0) continue;
    exact = exact && all.exact();
    std::vector<std::string> cells = {shown[i], count(all.count()), duration(all.mean()),
                                      duration(all.stdev())};
    for (const double share : {0.5, 0.99, 0.999, 0.9999}) {
      const bool guess = !all.confidence(share).high;
      any_guess |= guess;
      cells.push_back((guess ? "~" : "") + duration(static_cast<double>(all.quantile(share))));
    }
    cells.push_back(duration(static_cast<double>(all.max())));
    cells.push_back(group.changes_ns.count() == 0 ? "-" : duration(group.jitter_ns()));
    if (content.deadline_ns) cells.push_back(count(all.above(*content.deadline_ns)));
    table.row(std::move(cells));
  }
  std::string text = table.empty() ? std::string() : "\n" + table.text(content.width);
  if (any_guess)
    text +=
        "~: too few samples to say how much higher it may be (95 % confidence; --json has all)\n";
  if (!exact) text += kInexact;
  return text + at_one_point(content, groups);
}

std::string arrivals(const ReportContent& content, const report::Groups& groups,
                     const std::vector<std::string>& shown) {
  Table table({fmt::format("by {}", name(groups.by())), "count", "a second", "Mbit/s", "gap mean",
               "stdev", "p50", "p99", "max", "busiest ms"});
  table.spare(5);
  table.spare(6);
  for (std::size_t i = 0; i < std::min(groups.all().size(), kMaxGroupRows); ++i) {
    const report::Group& group = groups.all()[i];
    const statistics::Distribution& gaps = group.arrivals.gaps_ns();
    const auto gap = [&](double ns) { return gaps.count() == 0 ? "-" : duration(ns); };
    table.row(
        {shown[i], count(group.arrivals.count()),
         fmt::format("{:.1f}", a_second(content, static_cast<double>(group.arrivals.count()))),
         group.bytes ? fmt::format("{:.3f}", a_second(content, *group.bytes * 8 / 1e6)) : "-",
         gap(gaps.mean()), gap(gaps.stdev()), gap(static_cast<double>(gaps.quantile(0.5))),
         gap(static_cast<double>(gaps.quantile(0.99))), gap(static_cast<double>(gaps.max())),
         fmt::format("{} ({:.1f}x)", count(group.arrivals.busiest_ms()),
                     group.arrivals.burstiness())});
  }
  return "\n" + table.text(content.width);
}

}  // namespace

std::string groups_text(const ReportContent& content, const report::Groups& groups) {
  std::string text = shed_notice(content.facts.schema, content.facts.capture);
  if (content.selection) text += selection_text(*content.selection) + "\n";
  if (groups.all().empty()) return text + "nothing to group: no complete journeys, no events\n";
  const auto shown = labels(groups);
  if (!report::counts_events(groups.by())) text += times(content, groups, shown);
  text += arrivals(content, groups, shown);
  text += legend(groups, shown);
  if (groups.all().size() > kMaxGroupRows)
    text += fmt::format("and {} more (--json has them)\n", groups.all().size() - kMaxGroupRows);
  return text.starts_with('\n') ? text.substr(1) : text;
}

ordered_json groups_json(const ReportContent& content, const report::Groups& groups) {
  auto list = ordered_json::array();
  for (const report::Group& group : groups.all()) {
    ordered_json object;
    if (group.direction != ' ') object["dir"] = std::string(1, group.direction);
    object["name"] = group.name;
    const std::uint64_t number =
        report::counts_events(groups.by()) ? group.arrivals.count() : group.journeys();
    object["count"] = number;
    object["a_second"] = a_second(content, static_cast<double>(number));
    if (group.bytes) object["bits_a_second"] = a_second(content, *group.bytes * 8);
    if (!report::counts_events(groups.by())) {
      const bool is_timed = group.times_ns.count() != 0;
      object["latency_us"] = is_timed ? times_json(group.times_ns) : ordered_json();
      object["jitter_us"] = is_timed ? ordered_json(group.jitter_ns() / 1e3) : ordered_json();
      if (!report::counts_stays(groups.by())) object["at_one_point"] = group.at_one_point;
      object["change_us"] = is_timed ? times_json(group.changes_ns) : ordered_json();
      object["out_of_order"] = group.disorder;
      if (content.deadline_ns) object["late"] = misses_json(group.times_ns, *content.deadline_ns);
    }
    object["gap_us"] = times_json(group.arrivals.gaps_ns());
    object["busiest_ms"] = group.arrivals.busiest_ms();
    object["burstiness"] = group.arrivals.burstiness();
    list.push_back(std::move(object));
  }
  ordered_json report;
  report["by"] = name(groups.by());
  report["duration_s"] = content.selected_s();
  if (content.selection) report["where"] = selection_json(*content.selection);
  if (content.deadline_ns) report["deadline_us"] = static_cast<double>(*content.deadline_ns) / 1e3;
  report["file"] = completeness_json(content.facts.file);
  report["groups"] = std::move(list);
  return report;
}

}  // namespace sojourn::present
