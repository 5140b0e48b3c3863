#include "userspace/doctor/target_checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/doctor/host_checks.h"

namespace sojourn::doctor {

namespace {

using nlohmann::ordered_json;

double took_ns(std::uint64_t hits, std::uint64_t ps) {
  return static_cast<double>(hits) * static_cast<double>(ps) / 1e3;
}

double per_second(const TargetInspection& look, std::uint64_t hits) {
  return look.span_ns == 0 ? 0
                           : static_cast<double>(hits) * 1e9 / static_cast<double>(look.span_ns);
}

// The share of the target's CPU time, which is known in ticks of 10 ms.
double share(const TargetInspection& look, double ns) {
  return ns / static_cast<double>(std::max<std::uint64_t>(look.cpu_ns, 10'000'000));
}

template <typename Has>
std::size_t count_points(const TargetInspection& look, Has has) {
  return static_cast<std::size_t>(std::ranges::count_if(look.points, has));
}

Check process(const TargetInspection& look) {
  Check check{
      .id = "process",
      .title = "process",
      .verdict = look.is_stopped ? CheckStatus::kDegraded : CheckStatus::kPass,
      .finding = look.title + (look.is_stopped ? " is stopped" : ""),
      .advice = look.is_stopped ? "resume it (kill -CONT), or nothing will be recorded" : ""};
  check.values = {{"stopped", look.is_stopped}};
  return check;
}

Check points(const TargetInspection& look) {
  const auto by_ring = count_points(look, [](const auto& point) { return point.ring_sites != 0; });
  const auto by_bpf = count_points(look, [](const auto& point) { return point.sites != 0; });
  Check check{.id = "points",
              .title = "points",
              .verdict = CheckStatus::kPass,
              .finding = fmt::format("{} points: {} have rings, {} can be attached to",
                                     look.points.size(), by_ring, by_bpf),
              .advice = {}};
  if (look.points.empty()) {
    check.verdict = CheckStatus::kDegraded;
    check.finding = "none was built into it";
    check.advice =
        "what its threads do: sojourn record -p PID --auto; its functions as points: sojourn list "
        "-p PID --suggest, --map (docs/coarse-tracing.md); exact ones: build it with "
        "<sojourn/point.h> (docs/instrumenting.md)";
  } else if (by_ring != 0 && !look.why_not_rings.empty()) {
    check.verdict = CheckStatus::kDegraded;
    check.finding += "; its rings cannot be read: " + look.why_not_rings;
    check.advice = "record by eBPF (--engine bpf)";
  }
  check.values = {{"points", look.points.size()}, {"ring", by_ring}, {"bpf", by_bpf}};
  return check;
}

Check refused(const TargetInspection& look) {
  Check check{.id = "refused",
              .title = "refused sites",
              .verdict = CheckStatus::kPass,
              .finding = "none",
              .advice = {}};
  auto list = ordered_json::array();
  for (const Refused& one : look.refused) list.push_back({{"where", one.where}, {"why", one.why}});
  if (!look.refused.empty()) {
    const Refused& first = look.refused.front();
    check.verdict = CheckStatus::kDegraded;
    check.finding = fmt::format("{}: {}: {}", look.refused.size(), first.where, first.why);
    check.advice = look.refused.size() > 1 ? "not recorded; sojourn list -p PID names them all"
                                           : "it is not recorded; the others are";
  }
  check.values = {{"sites", std::move(list)}};
  return check;
}

Check cost(const TargetInspection& look, const UsableEngines& ways) {
  Check check{.id = "cost",
              .title = "expected cost",
              .verdict = CheckStatus::kPass,
              .finding = {},
              .advice = {}};
  if (!look.why_not_counted.empty()) {
    check.verdict = CheckStatus::kDegraded;
    check.finding = "not known, as hits could not be counted: " + look.why_not_counted;
    check.advice = "end the other tracer, or see the lines above";
    return check;
  }
  std::uint64_t hits = 0;
  double by_ring = 0;
  double by_bpf = 0;
  auto list = ordered_json::array();
  for (const PointInspection& point : look.points) {
    hits += point.hits;
    const double bpf_ns = took_ns(point.hits, point.bpf_hit_ps);
    const double ring_ns = point.ring_sites != 0 ? took_ns(point.hits, point.ring_hit_ps) : bpf_ns;
    by_bpf += bpf_ns;
    by_ring += ring_ns;
    list.push_back({{"name", point.name},
                    {"hits_per_second", per_second(look, point.hits)},
                    {"ring_hit_ns", point.ring_sites != 0
                                        ? ordered_json(static_cast<double>(point.ring_hit_ps) / 1e3)
                                        : ordered_json(nullptr)},
                    {"bpf_hit_ns", point.sites != 0 && point.bpf_hit_ps != 0
                                       ? ordered_json(static_cast<double>(point.bpf_hit_ps) / 1e3)
                                       : ordered_json(nullptr)}});
  }
  std::vector<std::string> words;
  if (ways.why_not_rings.empty())
    words.push_back(fmt::format("{:.2g} % by rings", 100 * share(look, by_ring)));
  if (ways.why_not_bpf.empty())
    words.push_back(fmt::format("{:.2g} % by eBPF", 100 * share(look, by_bpf)));
  check.finding = fmt::format("{:.0f} hits a second now: {} of its CPU time",
                              std::round(per_second(look, hits)), fmt::join(words, ", "));
  constexpr double kMuch = 0.05;
  if (look.points.empty()) {
    check.finding =
        "none for points, as there are none; of a map's: sojourn list -p PID --map FILE";
  } else if (hits == 0) {
    check.finding = "no point was hit while it was looked at";
    check.advice = "is there traffic?";
    check.verdict = CheckStatus::kDegraded;
  } else if (share(look, ways.why_not_rings.empty() ? by_ring : by_bpf) > kMuch) {
    check.verdict = CheckStatus::kDegraded;
    check.advice = "--budget 2 keeps it under 2 %";
  }
  check.values = {{"hits_per_second", per_second(look, hits)},
                  {"ring_share", share(look, by_ring)},
                  {"bpf_share", share(look, by_bpf)},
                  {"points", std::move(list)}};
  return check;
}

Check post_mortem(const TargetInspection& look) {
  Check check{.id = "post_mortem",
              .title = "after a crash",
              .verdict = CheckStatus::kPass,
              .finding = {},
              .advice = {}};
  if (!look.why_not_rings.empty()) {
    check.verdict = CheckStatus::kNo;
    check.finding = "nothing is left of it: it has no rings";
    check.advice = "what was recorded until then is in the trace";
  } else if (look.is_ring_file_named) {
    check.finding = "its rings are in named files, which outlive it";
  } else if (look.core_has_rings) {
    check.finding = "its rings are in its core file, if one is written (ulimit -c)";
  } else {
    check.verdict = CheckStatus::kDegraded;
    check.finding = "only a collector that runs then has its last events";
    check.advice = "start it with SJ_RING_DIR=DIR, or set bit 1 of its coredump_filter";
  }
  if (check.verdict == CheckStatus::kPass)
    check.advice = fmt::format(
        "afterwards: sojourn record --post-mortem {}; started with SJ_RINGS=flight it keeps its "
        "last events while nobody records, too",
        look.is_ring_file_named ? "FILE" : "CORE");
  check.values = {{"ring_file", look.is_ring_file_named}, {"core_file", look.core_has_rings}};
  return check;
}

}  // namespace

void judge_target(const TargetInspection& look, Diagnosis& diagnosis) {
  const bool has_bpf = count_points(look, [](const auto& point) { return point.sites != 0; }) != 0;
  // If the program has no points at all, a map may define some.
  if (!has_bpf && !look.points.empty())
    diagnosis.ways.why_not_bpf = "the process has no points for it";
  if (!look.why_not_rings.empty()) diagnosis.ways.why_not_rings = look.why_not_rings;
  for (Check& check : std::vector{process(look), points(look), refused(look),
                                  cost(look, diagnosis.ways), post_mortem(look)})
    diagnosis.checks.push_back(std::move(check));
}

std::string points_text(const TargetInspection& look) {
  if (!look.why_not_counted.empty() || look.points.empty()) return {};
  std::vector<PointInspection> rows = look.points;
  std::ranges::stable_sort(rows, std::greater{}, &PointInspection::hits);
  std::size_t widest = 0;
  for (const PointInspection& row : rows) widest = std::max(widest, row.name.size());
  std::string text = fmt::format("\n{:<{}}  {:>8}  {:>8}  {:>8}\n", "points", widest, "hits/s",
                                 "by ring", "by eBPF");
  for (const PointInspection& row : rows)
    text += fmt::format("{:<{}}  {:>8.0f}  {:>8}  {:>8}\n", row.name, widest,
                        per_second(look, row.hits),
                        row.ring_sites != 0 ? nanoseconds(row.ring_hit_ps) : "-",
                        row.sites != 0 && row.bpf_hit_ps != 0 ? nanoseconds(row.bpf_hit_ps) : "-");
  return text;
}

}  // namespace sojourn::doctor
