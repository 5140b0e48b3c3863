#include "analysis/present/report/context_part.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using context::ThreadTime;
using Row = std::pair<std::uint32_t, const ThreadTime*>;

constexpr std::size_t kMaxContextRows = 20;

std::string share(std::uint64_t part_ns, std::uint64_t whole_ns) {
  return whole_ns == 0 ? "-"
                       : percent(static_cast<double>(part_ns) / static_cast<double>(whole_ns));
}

// The busiest first.
std::vector<Row> rows_of(const context::ThreadTimes& times) {
  std::vector<Row> rows;
  for (const auto& [tid, time] : times.threads()) rows.emplace_back(tid, &time);
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const Row& row) { return row.second->running_ns; });
  return rows;
}

std::vector<std::string> cells(const context::ThreadTimes& times, const Row& row) {
  const auto& [tid, time] = row;
  const bool sched = times.has("sched");
  const auto shared = [&](std::uint64_t ns) {
    return sched ? share(ns, time->total_ns()) : std::string("-");
  };
  const auto counted = [&](std::string_view family, std::uint64_t value) {
    return times.has(family) ? count(value) : std::string("-");
  };
  return {"  " + printable(time->name),       std::to_string(tid),
          shared(time->running_ns),           shared(time->runnable_ns),
          shared(time->blocked_ns),           times.has("irq") ? shared(time->interrupted_ns) : "-",
          counted("sched", time->switches),   counted("sched", time->preempted),
          counted("sched", time->migrations), counted("syscalls", time->syscalls),
          counted("faults", time->faults)};
}

}  // namespace

std::string context_text(const context::ThreadTimes& times, std::size_t width) {
  std::string text;
  for (const model::ContextFamily& family : times.families())
    if (!family.missing.empty())
      text +=
          fmt::format("no context of {}: {}\n", printable(family.name), printable(family.missing));
  Table table({"kernel context, threads", "tid", "running", "runnable", "blocked", "interrupted",
               "switches", "preempted", "migrations", "syscalls", "faults"});
  table.spare(8);
  table.spare(10);
  table.spare(9);
  table.spare(6);
  const std::vector<Row> rows = rows_of(times);
  std::uint64_t unknown_ns = 0;
  std::uint64_t total_ns = 0;
  for (const Row& row : rows) {
    unknown_ns += row.second->unknown_ns;
    total_ns += row.second->total_ns();
  }
  for (std::size_t row = 0; row < std::min(rows.size(), kMaxContextRows); ++row)
    table.row(cells(times, rows[row]));
  if (!table.empty()) text += table.text(width);
  if (rows.size() > kMaxContextRows)
    text += fmt::format("  and {} more: --json has all\n", rows.size() - kMaxContextRows);
  if (unknown_ns != 0)
    text += fmt::format("  {} of their time is not known: events of the scheduler are missing\n",
                        share(unknown_ns, total_ns));
  return text.empty() ? text : "\n" + text;
}

nlohmann::ordered_json context_json(const context::ThreadTimes& times) {
  nlohmann::ordered_json families = nlohmann::ordered_json::array();
  for (const model::ContextFamily& family : times.families())
    families.push_back(
        {{"name", family.name}, {"recorded", family.missing.empty()}, {"missing", family.missing}});
  nlohmann::ordered_json threads = nlohmann::ordered_json::array();
  for (const auto& [tid, time] : rows_of(times))
    threads.push_back({{"tid", tid},
                       {"name", time->name},
                       {"running_ns", time->running_ns},
                       {"runnable_ns", time->runnable_ns},
                       {"blocked_ns", time->blocked_ns},
                       {"interrupted_ns", time->interrupted_ns},
                       {"unknown_ns", time->unknown_ns},
                       {"switches", time->switches},
                       {"preempted", time->preempted},
                       {"wakeups", time->wakeups},
                       {"migrations", time->migrations},
                       {"syscalls", time->syscalls},
                       {"faults", time->faults}});
  return {{"families", std::move(families)}, {"threads", std::move(threads)}};
}

}  // namespace sojourn::present
