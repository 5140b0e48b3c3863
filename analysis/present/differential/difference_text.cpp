#include "analysis/present/differential/difference_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/differential/p_text.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

std::string figure(double value, bool is_time) {
  return is_time ? duration(value) : fmt::format("{:.2f}", value);
}

// "+51.2 us (+4.1 %) +-3.0 us"
std::string shift_text(const differential::Shift* shift, bool is_time) {
  if (shift == nullptr) return "-";
  const char* const sign = shift->by() < 0 ? "-" : "+";
  std::string text = sign + figure(std::abs(shift->by()), is_time);
  if (shift->base != 0) text += fmt::format(" ({:+.1f} %)", 100 * shift->by() / shift->base);
  return text + (shift->half ? " +-" + figure(*shift->half, is_time) : " +-?");
}

// A sure shift that stamps and tracing may have made.
bool is_unresolved(const differential::Comparison& each, double level) {
  return each.p && each.adjusted_p <= level && each.is_below_resolution();
}

std::string verdict_text(const differential::Comparison& each, double level) {
  if (each.base_count == 0) return "only in new";
  if (each.now_count == 0) return "only in base";
  if (!each.p) return name(each.verdict);
  return fmt::format("{} ({}{})", name(each.verdict), p_text(*each.p, each.adjusted_p),
                     is_unresolved(each, level) ? ", within " + duration(each.resolution_ns) : "");
}

std::string of_both(std::size_t base, std::size_t now) {
  return fmt::format("{} and {}", count(base), count(now));
}

std::string heading(const DifferenceContent& content) {
  const auto side = [](std::string_view title, std::span<const differential::RunFigures> runs) {
    std::string text = fmt::format("{}: {} run{}", title, runs.size(), runs.size() == 1 ? "" : "s");
    for (const differential::RunFigures& run : runs)
      text += fmt::format(", {} ({:.1f} s)", run.path, static_cast<double>(run.duration_ns) / 1e9);
    const std::string& build = runs.front().build_id;
    const bool is_one = std::ranges::all_of(
        runs, [&](const differential::RunFigures& run) { return run.build_id == build; });
    if (!build.empty())
      text += is_one ? fmt::format("; build {}", build.substr(0, 12)) : "; of several builds";
    return text + "\n";
  };
  return side("base", content.base) + side("new", content.now);
}

std::size_t runs_needed(const DifferenceContent& content) {
  return content.found.may_be_looked_at
             ? differential::turns_needed(content.found.tests, content.level)
             : differential::runs_needed(content.found.tests, content.level);
}

std::string unit_text(const DifferenceContent& content) {
  const differential::Difference& found = content.found;
  if (found.unit == differential::Unit::kBlock) {
    std::string text =
        "compared are blocks of runs that are as good as independent. What differs between two "
        "runs of one build is not known from one run a side";
    if (content.base.size() > 1 || content.now.size() > 1)
      text = "compared are blocks of runs; what differs between runs of one build counts as change";
    return wrapped(text, 2, content.width) + "\n";
  }
  std::string text =
      fmt::format("compared are runs: {}", of_both(content.base.size(), content.now.size()));
  if (found.may_be_looked_at) text += ", by a test that allows for looking after each run";
  const std::size_t needed = runs_needed(content);
  if (std::min(content.base.size(), content.now.size()) < needed)
    text += fmt::format("; {} tests at {:.2g} take {} and {} to show anything", found.tests,
                        content.level, needed, needed);
  return wrapped(text, 2, content.width) + "\n";
}

std::string effective_text(const DifferenceContent& content) {
  std::string text;
  for (const differential::Comparison& each : content.found.times)
    if (each.is_latency)
      text += wrapped(fmt::format("{}: {} packets, which say as much as {} independent ones",
                                  each.direction, of_both(each.base_count, each.now_count),
                                  of_both(static_cast<std::size_t>(each.base_effective),
                                          static_cast<std::size_t>(each.now_effective))),
                      2, content.width) +
              "\n";
  return text;
}

std::string times_text(const DifferenceContent& content) {
  Table table({"", "base mean", "new mean", "mean", "p50", "p90", "p99", "slowdown", "verdict"});
  table.left(8);
  table.spare(7);
  table.spare(5);
  table.spare(4);
  table.spare(1);
  table.spare(6);
  table.spare(2);
  table.fold(8);
  for (const differential::Comparison& each : content.found.times) {
    const differential::Shift* const mean = each.shift(differential::kMean);
    table.row({fmt::format("{} {}", each.direction, printable(each.name)),
               mean == nullptr ? "-" : duration(mean->base),
               mean == nullptr ? "-" : duration(mean->now), shift_text(mean, true),
               shift_text(each.shift(0.5), true), shift_text(each.shift(0.9), true),
               shift_text(each.shift(0.99), true),
               each.slowdown ? fmt::format("{:.2f}", *each.slowdown) : "-",
               verdict_text(each, content.level)});
  }
  const bool has_unresolved = std::ranges::any_of(
      content.found.times,
      [&](const differential::Comparison& each) { return is_unresolved(each, content.level); });
  return table.text(content.width) +
         (has_unresolved
              ? wrapped(
                    "same, within a time: stamps, or what a hit takes, may be off by that much, "
                    "so it is no change",
                    2, content.width) +
                    "\n"
              : "");
}

std::string depths_text(const DifferenceContent& content) {
  Table table({"in flight", "base", "new", "mean"});
  for (const differential::Comparison& each : content.found.depths) {
    const differential::Shift* const mean = each.shift(differential::kMean);
    // Differences of less than a hundredth of a unit in depth are left out.
    if (mean == nullptr || std::abs(mean->by()) < 0.005) continue;
    table.row({fmt::format("  {} {}", each.direction, printable(each.name)),
               figure(mean->base, false), figure(mean->now, false), shift_text(mean, false)});
  }
  return table.empty() ? "" : "\n" + table.text(content.width);
}

std::string flow_changes_text(const differential::Difference& found) {
  std::string text;
  for (const std::string& edge : found.appeared) text += "  appeared: " + printable(edge) + "\n";
  for (const std::string& edge : found.vanished) text += "  vanished: " + printable(edge) + "\n";
  return text.empty() ? "\nflow: the same edges\n" : "\nflow\n" + text;
}

std::string limit_text(const LatenessContent& lateness) {
  std::string text;
  const auto add = [&](char direction, std::uint64_t ns) {
    if (ns == UINT64_MAX) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", direction,
                        duration(static_cast<double>(ns)));
  };
  add('D', lateness.down_ns);
  add('U', lateness.up_ns);
  return text;
}

std::string lateness_text(const DifferenceContent& content) {
  if (content.lateness == nullptr) return "";
  constexpr std::size_t kShown = 12;
  const auto& changes = content.lateness->changes;
  std::string text = fmt::format("\nlate (longer than the base's slowest hundredth: {})\n",
                                 limit_text(*content.lateness));
  if (changes.empty()) return text + "  no packet was late\n";
  Table table({"cause", "packets, base", "new", "change", "time a packet, base", "new"});
  for (std::size_t at = 0; at < std::min(changes.size(), kShown); ++at) {
    const differential::CauseChange& each = changes[at];
    std::string change = fmt::format("{:+.2f} %", 100 * (each.now_packets - each.base_packets));
    change += each.half ? fmt::format(" +-{:.2f} %", 100 * *each.half) : " +-?";
    table.row({"  " + printable(each.cause), fmt::format("{:.2f} %", 100 * each.base_packets),
               fmt::format("{:.2f} %", 100 * each.now_packets), std::move(change),
               duration(each.base_ns), duration(each.now_ns)});
  }
  text += table.text(content.width);
  if (changes.size() > kShown)
    text += fmt::format("  {} causes that grew less or shrank are in --json\n",
                        changes.size() - kShown);
  return text;
}

ordered_json lateness_json(const LatenessContent& lateness) {
  const auto limit = [](std::uint64_t ns) {
    return ns == UINT64_MAX ? ordered_json(nullptr) : ordered_json(static_cast<double>(ns) * 1e-3);
  };
  ordered_json object = {{"down_us", limit(lateness.down_ns)},
                         {"up_us", limit(lateness.up_ns)},
                         {"causes", ordered_json::array()}};
  for (const differential::CauseChange& each : lateness.changes) {
    ordered_json one = {{"cause", each.cause},
                        {"base_share", each.base_packets},
                        {"new_share", each.now_packets},
                        {"base_us_per_packet", each.base_ns * 1e-3},
                        {"new_us_per_packet", each.now_ns * 1e-3}};
    if (each.half) one["half_interval"] = *each.half;
    object["causes"].push_back(std::move(one));
  }
  return object;
}

std::string tracing_text(const DifferenceContent& content) {
  const auto of = [](std::span<const differential::RunFigures> runs) -> std::string {
    double ns = 0;
    double share = 0;
    for (const differential::RunFigures& run : runs) {
      if (!run.tracing_share || !run.tracing_ns_per_packet) return "not measured";
      ns += *run.tracing_ns_per_packet;
      share += *run.tracing_share;
    }
    const auto all = static_cast<double>(runs.size());
    return fmt::format("{} a packet ({} of the target's CPU)", duration(ns / all),
                       percent(share / all));
  };
  return wrapped(fmt::format("tracing took: base {}, new {}", of(content.base), of(content.now)), 2,
                 content.width) +
         "\n";
}

// Counts, rates and depths are over the whole time of a run.
std::string shed_text(const DifferenceContent& content) {
  const auto of = [](std::span<const differential::RunFigures> runs) {
    double longest = 0;
    for (const differential::RunFigures& run : runs) longest = std::max(longest, run.off_share);
    return longest;
  };
  const double base = of(content.base);
  const double now = of(content.now);
  if (base == 0 && now == 0) return {};
  return wrapped(fmt::format("points were off, for the budget or switched off, for up to {} of the "
                             "time in base, {} in new: rates and depths differ by that",
                             percent(base), percent(now)),
                 2, content.width) +
         "\n";
}

ordered_json comparison_json(const differential::Comparison& each, double scale,
                             std::string_view unit) {
  ordered_json object = {{"dir", std::string(1, each.direction)},
                         {"name", each.name},
                         {"count", {each.base_count, each.now_count}},
                         {"units", {each.base_units, each.now_units}},
                         {"effective", {each.base_effective, each.now_effective}}};
  object["shifts"] = ordered_json::array();
  for (const differential::Shift& shift : each.shifts) {
    ordered_json one = {
        {"of",
         shift.share == differential::kMean ? "mean" : fmt::format("p{:g}", shift.share * 100)},
        {fmt::format("base{}", unit), shift.base * scale},
        {fmt::format("new{}", unit), shift.now * scale},
        {fmt::format("by{}", unit), shift.by() * scale}};
    if (shift.half) {
      one[fmt::format("low{}", unit)] = (shift.by() - *shift.half) * scale;
      one[fmt::format("high{}", unit)] = (shift.by() + *shift.half) * scale;
    }
    object["shifts"].push_back(std::move(one));
  }
  return object;
}

ordered_json runs_json(std::span<const differential::RunFigures> runs) {
  ordered_json all = ordered_json::array();
  for (const differential::RunFigures& run : runs) {
    ordered_json object = {{"path", run.path},
                           {"target", run.target},
                           {"build_id", run.build_id},
                           {"events", run.events},
                           {"duration_s", static_cast<double>(run.duration_ns) / 1e9},
                           {"packets_left_out", run.left_out}};
    if (run.off_share != 0) object["off_share"] = run.off_share;
    if (run.tracing_share) object["tracing_share"] = *run.tracing_share;
    if (run.tracing_ns_per_packet) object["tracing_ns_per_packet"] = *run.tracing_ns_per_packet;
    all.push_back(std::move(object));
  }
  return all;
}

}  // namespace

std::string difference_text(const DifferenceContent& content) {
  std::string text;
  for (const std::string& line : {heading(content), unit_text(content) + effective_text(content)}) {
    std::string_view rest = line;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      text += wrapped(rest.substr(0, end), 2, content.width) + "\n";
      rest.remove_prefix(end + 1);
    }
  }
  return text + "\n" + times_text(content) + depths_text(content) +
         flow_changes_text(content.found) + lateness_text(content) + tracing_text(content) +
         shed_text(content);
}

ordered_json difference_json(const DifferenceContent& content) {
  ordered_json object = {
      {"unit", name(content.found.unit)},
      {"test", content.found.may_be_looked_at ? "ranks, in turns" : "Anderson-Darling"},
      {"level", content.level},
      {"tests", content.found.tests},
      {"runs_needed", runs_needed(content)},
      {"base", runs_json(content.base)},
      {"new", runs_json(content.now)}};
  object["times"] = ordered_json::array();
  for (const differential::Comparison& each : content.found.times) {
    ordered_json one = comparison_json(each, 1e-3, "_us");
    one["p"] = each.p ? ordered_json(*each.p) : ordered_json(nullptr);
    one["adjusted_p"] = each.p ? ordered_json(each.adjusted_p) : ordered_json(nullptr);
    if (each.slowdown) one["slowdown"] = *each.slowdown;
    one["resolution_us"] = each.resolution_ns * 1e-3;
    one["verdict"] = name(each.verdict);
    object["times"].push_back(std::move(one));
  }
  object["depths"] = ordered_json::array();
  for (const differential::Comparison& each : content.found.depths)
    object["depths"].push_back(comparison_json(each, 1, ""));
  object["flow"] = {{"appeared", content.found.appeared}, {"vanished", content.found.vanished}};
  if (content.lateness != nullptr) object["late"] = lateness_json(*content.lateness);
  return object;
}

}  // namespace sojourn::present
