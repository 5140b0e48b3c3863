#include "analysis/present/report/facts_text.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

std::string name_of(const Facts& facts, model::PointId point) {
  return fmt::format("{} {}", letter(facts.schema.points[point].direction),
                     facts.schema.points[point].name());
}

}  // namespace

std::string processes_text(const Facts& facts) {
  constexpr std::size_t kMaxRows = 20;
  const auto& targets = facts.targets;
  const auto is_plain = [](const model::Target& target) {
    return target.since_ns == 0 && target.until_ns == 0;
  };
  if (targets.size() < 3 && std::ranges::all_of(targets, is_plain)) return {};
  Table table({"process", "pid", "forked from", "from", "until", "executable"});
  table.left(5);
  const auto since_open = [&facts](std::uint64_t at_ns) {
    return at_ns <= facts.capture.open_ns
               ? std::string("the open mark")
               : duration(static_cast<double>(at_ns - facts.capture.open_ns));
  };
  for (const auto& target : targets | std::views::take(kMaxRows))
    table.row(
        {printable(target.name), std::to_string(target.pid),
         target.parent == 0 ? "" : std::to_string(target.parent),
         target.parent != 0 && target.since_ns == 0 ? "the fork" : since_open(target.since_ns),
         target.until_ns == 0 ? "the end" : since_open(target.until_ns), printable(target.exe)});
  auto text = "\n" + table.text();
  if (targets.size() > kMaxRows)
    text += fmt::format("and {} more processes\n", targets.size() - kMaxRows);
  return text;
}

std::string hosts_text(const Facts& facts) {
  const auto& hosts = facts.capture.hosts;
  if (hosts.empty()) return {};
  const auto own = std::ranges::max(hosts, {}, &model::MergedHost::stamp_error_ns);
  std::string text =
      fmt::format("of {} hosts: times from one to another may be off by {}", hosts.size(),
                  duration(static_cast<double>(facts.capture.stamp_error_ns)));
  if (own.stamp_error_ns != 0)
    text += ", times on one by " + duration(static_cast<double>(own.stamp_error_ns));
  return text + "\n";
}

std::string ledger_text(const Facts& facts) {
  std::map<std::pair<model::PointId, model::LossCause>, std::uint64_t> sums;
  for (const auto& entry : facts.ledger)
    if (entry.count > 0) sums[{entry.point, entry.cause}] += entry.count;
  if (sums.empty()) return {};
  Table table({"ledger: hit, not kept", "events", "cause"});
  table.left(2);
  for (const auto& [key, sum] : sums) {
    const bool known = key.first != model::kNoPoint;
    table.row({"  " + (known ? name_of(facts, key.first) : "points not distinguished"), count(sum),
               std::string(model::name(key.second))});
  }
  return "\n" + table.text();
}

// Points that were off together have one row.
std::string shed_text(const Facts& facts) {
  if (facts.capture.shed.empty()) return {};
  struct Row {
    std::string first;
    std::string times;
    std::string in_all;
    std::size_t points = 0;
  };
  std::vector<Row> rows;
  for (const auto& [point, ns] : model::times_shed_ns(facts.capture)) {
    const auto times = std::ranges::count(facts.capture.shed, point, &model::ShedSpan::point);
    Row row = {
        .first = point < facts.schema.points.size() ? name_of(facts, point) : "unknown point",
        .times = count(static_cast<std::uint64_t>(times)),
        .in_all = duration(static_cast<double>(ns)),
        .points = 1};
    const auto alike = std::ranges::find_if(rows, [&](const Row& other) {
      return other.times == row.times && other.in_all == row.in_all;
    });
    if (alike == rows.end())
      rows.push_back(std::move(row));
    else
      ++alike->points;
  }
  Table table({"off, for the budget or switched off", "times", "in all"});
  for (const Row& row : rows)
    table.row(
        {"  " + row.first + (row.points == 1 ? "" : fmt::format(" and {} more", row.points - 1)),
         row.times, row.in_all});
  return "\n" + table.text();
}

std::string unarmed_text(const Facts& facts) {
  const auto& spans = facts.capture.unarmed;
  if (spans.empty()) return {};
  constexpr std::size_t kMaxRows = 10;
  std::string text = "\n";
  for (const auto& span : spans | std::views::take(kMaxRows)) {
    const auto from = std::max(span.from_ns, facts.capture.open_ns);
    text += fmt::format(
        "not armed yet: {} of process {}, {} from {} after the open mark on; its hits in that time "
        "are not known\n",
        span.point < facts.schema.points.size() ? name_of(facts, span.point) : "the points",
        span.pid, duration(static_cast<double>(std::max(span.until_ns, from) - from)),
        duration(static_cast<double>(from - facts.capture.open_ns)));
  }
  if (spans.size() > kMaxRows)
    text += fmt::format("and {} more such spans (--json has them)\n", spans.size() - kMaxRows);
  return text;
}

}  // namespace sojourn::present
