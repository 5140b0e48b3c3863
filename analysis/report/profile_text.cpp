#include "analysis/report/profile_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/report/table.h"
#include "analysis/report/text_format.h"

namespace sojourn::report {

namespace {

using profile::HotFunction;
using profile::HotFunctions;
using profile::SampledWork;
using profile::SampleSum;

constexpr std::size_t kFunctionsOfRow = 3;

// From so many stacks on that end early it is worth a word.
constexpr double kManyShort = 0.25;

double share_of(const SampleSum& part, const SampleSum& whole) {
  return whole.weight == 0 ? 0
                           : static_cast<double>(part.weight) / static_cast<double>(whole.weight);
}

std::string function_name(const ProfileContent& content, std::uint32_t function) {
  if (function == profile::kNoFunction) return "(no stack)";
  const profile::Function& about = content.names.function(function);
  return printable(about.name) + (about.is_kernel ? " [k]" : "");
}

// Templates make names of any length; what is cut ends in dots.
std::string cut(std::string name, std::size_t most) {
  if (name.size() > most) name = name.substr(0, most - 3) + "...";
  return name;
}

template <typename Key>
using Parts = std::vector<std::pair<Key, SampleSum>>;

// The greatest first.
template <typename Key, typename KeyOf>
Parts<Key> parts_by(const ProfileContent& content, KeyOf key_of) {
  std::map<Key, SampleSum> sums;
  for (const auto& [key, amount] : content.work.stacks())
    if (content.wanted(key.at)) sums[key_of(key.at)].add(amount);
  Parts<Key> parts(sums.begin(), sums.end());
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [](const auto& part) { return part.second.weight; });
  return parts;
}

Parts<std::uint16_t> parts_by_place(const ProfileContent& content) {
  return parts_by<std::uint16_t>(content,
                                 [](const profile::ThreadLocation& at) { return at.place; });
}

// Between which two events the time between units was; nothing of places.
using Ends = std::pair<model::PointId, model::PointId>;

Parts<Ends> parts_between(const ProfileContent& content) {
  ProfileContent between = content;
  between.wanted = [&](const profile::ThreadLocation& at) {
    return at.place == profile::kBetweenUnits && content.wanted(at);
  };
  return parts_by<Ends>(
      between, [](const profile::ThreadLocation& at) { return Ends(at.after, at.before); });
}

Parts<std::uint32_t> parts_by_thread(const ProfileContent& content) {
  return parts_by<std::uint32_t>(content, [](const profile::ThreadLocation& at) { return at.tid; });
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
  const auto parts = parts_between(content);
  const std::size_t rows = std::min(parts.size(), content.max_rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto& [ends, amount] = parts[row];
    const auto said = [&](model::PointId point) {
      const std::string name = content.point(point);
      return name.empty() ? std::string("(none)") : name;
    };
    std::vector<std::string> cells = part_row(
        said(ends.first), amount, hot.all, hottest(content, [&](const profile::ThreadLocation& at) {
          return at.place == profile::kBetweenUnits && Ends(at.after, at.before) == ends;
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

nlohmann::ordered_json functions_json(const ProfileContent& content, const HotFunctions& hot) {
  auto list = nlohmann::ordered_json::array();
  for (const HotFunction& hot_one : hot.functions) {
    const bool is_known = hot_one.function != profile::kNoFunction;
    const profile::Function about =
        is_known ? content.names.function(hot_one.function) : profile::Function{};
    list.push_back({{"function", about.name},
                    {"module", about.module},
                    {"kernel", about.is_kernel},
                    {"named", about.has_name},
                    {"self_ns", hot_one.self.weight},
                    {"self_samples", hot_one.self.samples},
                    {"total_ns", hot_one.total.weight},
                    {"total_samples", hot_one.total.samples}});
  }
  return list;
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
  for (const auto& [place, amount] : parts_by_place(content))
    places.row(part_row(
        content.place(place), amount, hot.all,
        hottest(content, [&](const profile::ThreadLocation& at) { return at.place == place; })));
  Table threads({"CPU time by thread", "in all", "", "hottest functions"});
  threads.left(3);
  threads.fold(3, Table::At::kCommas);
  const auto by_thread = parts_by_thread(content);
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

nlohmann::ordered_json profile_json(const ProfileContent& content) {
  const HotFunctions hot = hot_functions(content.work, content.names, content.wanted);
  auto places = nlohmann::ordered_json::array();
  for (const auto& [place, amount] : parts_by_place(content)) {
    nlohmann::ordered_json dir = nullptr;
    nlohmann::ordered_json at = nullptr;
    if (place != profile::kBetweenUnits) {
      dir = std::string(1, letter(content.work.topology().places[place].direction));
      at = content.work.topology().places[place].name;
    }
    const auto of_place = hot_functions(content.work, content.names,
                                        [&, here = place](const profile::ThreadLocation& one) {
                                          return content.wanted(one) && one.place == here;
                                        });
    places.push_back({{"dir", dir},
                      {"at", at},
                      {"ns", amount.weight},
                      {"samples", amount.samples},
                      {"functions", functions_json(content, of_place)}});
  }
  auto between = nlohmann::ordered_json::array();
  for (const auto& [ends, amount] : parts_between(content))
    between.push_back({{"after", content.point(ends.first)},
                       {"before", content.point(ends.second)},
                       {"ns", amount.weight},
                       {"samples", amount.samples}});
  auto threads = nlohmann::ordered_json::array();
  for (const auto& [tid, amount] : parts_by_thread(content)) {
    const auto of_thread = hot_functions(content.work, content.names,
                                         [&, here = tid](const profile::ThreadLocation& one) {
                                           return content.wanted(one) && one.tid == here;
                                         });
    threads.push_back({{"tid", tid},
                       {"name", content.thread(tid)},
                       {"ns", amount.weight},
                       {"samples", amount.samples},
                       {"functions", functions_json(content, of_thread)}});
  }
  return {{"target", {{"pid", content.target.pid}, {"name", content.target.name}}},
          {"period_ns", content.counter.period},
          {"user_only", content.counter.user_only},
          {"ns", hot.all.weight},
          {"samples", hot.all.samples},
          {"kernel_ns", hot.in_kernel.weight},
          {"without_stack_samples", hot.all.samples - hot.with_stack.samples},
          {"short_stack_samples", hot.short_ones.samples},
          {"functions", functions_json(content, hot)},
          {"hops", std::move(places)},
          {"between_units", std::move(between)},
          {"threads", std::move(threads)}};
}

std::string profile_folded(const ProfileContent& content) {
  return profile::folded(
      content.work, content.names, content.wanted,
      [&](std::uint32_t tid) { return content.thread(tid); },
      [&](std::uint16_t place) { return content.place(place); });
}

}  // namespace sojourn::report
