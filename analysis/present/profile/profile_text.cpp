#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/present/profile/profile_content.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "analysis/profile/work_parts.h"

namespace sojourn::present {

namespace {

using profile::HotFunction;
using profile::HotFunctions;
using profile::SampledWork;
using profile::SampleSum;
using profile::share_of;

constexpr std::size_t kFunctionsOfRow = 3;

// The share of stacks that end early from which on a remark is printed.
constexpr double kManyShort = 0.25;

std::string function_name(const ProfileContent& content, std::uint32_t function) {
  if (function == profile::kNoFunction) return "(no stack)";
  const profile::Function& about = content.names.function(function);
  return printable(about.name) + (about.is_kernel ? " [k]" : "");
}

// Templates make names of any length. A name that is cut ends in dots.
std::string cut(std::string name, std::size_t most) {
  if (name.size() > most) name = name.substr(0, most - 3) + "...";
  return name;
}

std::string hottest(const ProfileContent& content, const profile::LocationFilter& part) {
  const HotFunctions hot = hot_functions(
      content.work, content.names,
      [&](const profile::ThreadLocation& at) { return content.wanted(at) && part(at); });
  std::string text;
  for (std::size_t row = 0; row < std::min(hot.functions.size(), kFunctionsOfRow); ++row) {
    const HotFunction& function = hot.functions[row];
    if (function.self.samples == 0) break;
    text += fmt::format("{}{} {}", row == 0 ? "" : ", ",
                        cut(function_name(content, function.function), 32),
                        percent(share_of(function.self, hot.all)));
  }
  return text;
}

std::vector<std::string> part_row(std::string name, const SampleSum& amount, const SampleSum& all,
                                  std::string functions) {
  return {"  " + std::move(name), duration(static_cast<double>(amount.weight)),
          percent(share_of(amount, all)), std::move(functions)};
}

std::string heading(const ProfileContent& content, const HotFunctions& hot) {
  std::string text =
      wrapped(fmt::format(
                  "{}, pid {}: {} samples, one every {} of a thread's CPU time: {}, {} of it in "
                  "the kernel",
                  content.target.name.empty() ? "unnamed target" : printable(content.target.name),
                  content.target.pid, count(hot.all.samples),
                  duration(static_cast<double>(content.counter.period)),
                  duration(static_cast<double>(hot.all.weight)),
                  percent(share_of(hot.in_kernel, hot.all))),
              2, content.width) +
      "\n";
  if (content.counter.user_only)
    text += "of the target's own code only: recording had no rights to the kernel's\n";
  if (share_of(hot.short_ones, hot.with_stack) > kManyShort)
    text +=
        wrapped(
            fmt::format(
                "{} of the stacks end after one or two of the target's functions: build it with "
                "-fno-omit-frame-pointer to have their callers",
                percent(share_of(hot.short_ones, hot.with_stack))),
            2, content.width) +
        "\n";
  return text;
}

std::string functions_table(const ProfileContent& content, const HotFunctions& hot) {
  Table table({"hot functions", "self", "", "total", "", "in"});
  table.left(5);
  table.spare(5, "the file that each is in");
  table.fold(0);
  const std::size_t rows = std::min(hot.functions.size(), content.max_rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const HotFunction& function = hot.functions[row];
    const bool is_known = function.function != profile::kNoFunction;
    table.row({"  " + cut(function_name(content, function.function), 56),
               duration(static_cast<double>(function.self.weight)),
               percent(share_of(function.self, hot.all)),
               duration(static_cast<double>(function.total.weight)),
               percent(share_of(function.total, hot.all)),
               is_known ? printable(content.names.function(function.function).module) : ""});
  }
  std::string text = "\n" + table.text(content.width);
  if (hot.functions.size() > rows)
    text += fmt::format("  and {} more: --limit {}\n", count(hot.functions.size() - rows),
                        hot.functions.size());
  return text;
}

std::string between_table(const ProfileContent& content, const HotFunctions& hot) {
  Table table({"between a thread's event", "and its next one", "in all", "", "hottest functions"});
  table.left(1);
  table.left(4);
  table.fold(4, Table::At::kCommas);
  table.spare(4);
  const auto parts = profile::parts_between_units(content.work, content.wanted);
  const std::size_t rows = std::min(parts.size(), content.max_rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto& [ends, amount] = parts[row];
    const auto said = [&](model::PointId point) {
      const std::string name = content.point(point);
      return name.empty() ? std::string("(none)") : name;
    };
    std::vector<std::string> cells = part_row(
        said(ends.first), amount, hot.all, hottest(content, [&](const profile::ThreadLocation& at) {
          return at.place == profile::kBetweenUnits &&
                 profile::EventPair(at.after, at.before) == ends;
        }));
    cells.insert(cells.begin() + 1, said(ends.second));
    table.row(std::move(cells));
  }
  if (parts.empty()) return {};
  std::string text = "\n" + table.text(content.width);
  if (parts.size() > rows)
    text += fmt::format("  and {} more: --limit {}\n", parts.size() - rows, parts.size());
  return text;
}

}  // namespace

std::string ProfileContent::thread(std::uint32_t tid) const {
  const auto known = threads.find(tid);
  return known == threads.end() || known->second.empty() ? fmt::format("thread {}", tid)
                                                         : known->second;
}

std::string ProfileContent::place(std::uint16_t place) const {
  if (place == profile::kBetweenUnits) return "between units";
  const auto& about = work.topology().places[place];
  return fmt::format("{} {}", letter(about.direction), about.name);
}

std::string ProfileContent::point(model::PointId point) const {
  if (point >= schema.points.size()) return {};
  return fmt::format("{} {}", letter(schema.points[point].direction), schema.points[point].name());
}

std::string profile_text(const ProfileContent& content) {
  const HotFunctions hot = hot_functions(content.work, content.names, content.wanted);
  std::string text = heading(content, hot);
  if (hot.all.samples == 0) return text;
  Table places({"CPU time by hop", "in all", "", "hottest functions"});
  places.left(3);
  places.fold(3, Table::At::kCommas);
  for (const auto& [place, amount] : profile::parts_by_place(content.work, content.wanted))
    places.row(part_row(
        content.place(place), amount, hot.all,
        hottest(content, [&](const profile::ThreadLocation& at) { return at.place == place; })));
  Table threads({"CPU time by thread", "in all", "", "hottest functions"});
  threads.left(3);
  threads.fold(3, Table::At::kCommas);
  const auto by_thread = profile::parts_by_thread(content.work, content.wanted);
  const std::size_t rows = std::min(by_thread.size(), content.max_rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t tid = by_thread[row].first;
    threads.row(part_row(
        fmt::format("{} ({})", printable(content.thread(tid)), tid), by_thread[row].second, hot.all,
        hottest(content, [&](const profile::ThreadLocation& at) { return at.tid == tid; })));
  }
  text += "\n" + places.text(content.width) + between_table(content, hot) + "\n" +
          threads.text(content.width);
  if (by_thread.size() > rows)
    text += fmt::format("  and {} more: --limit {}\n", by_thread.size() - rows, by_thread.size());
  return text + functions_table(content, hot);
}

std::string hot_functions_text(const ProfileContent& content) {
  const HotFunctions hot = hot_functions(content.work, content.names, content.wanted);
  return hot.all.samples == 0 ? heading(content, hot)
                              : heading(content, hot) + functions_table(content, hot);
}

std::string profile_folded(const ProfileContent& content) {
  return profile::folded(
      content.work, content.names, content.wanted,
      [&](std::uint32_t tid) { return content.thread(tid); },
      [&](std::uint16_t place) { return content.place(place); });
}

}  // namespace sojourn::present
