#include "analysis/present/report/counters_part.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using nlohmann::ordered_json;
using profile::kBetweenUnits;
using profile::SampledWork;
using profile::SampleSum;

std::vector<std::size_t> recorded_counters(const SampledWork& work) {
  std::vector<std::size_t> recorded;
  for (std::size_t index = 0; index < work.counters().size(); ++index)
    if (work.counters()[index].missing.empty() && work.counters()[index].name != model::kProfile)
      recorded.push_back(index);
  return recorded;
}

SampleSum in_place(const SampledWork& work, std::size_t counter, std::uint16_t place) {
  SampleSum amount;
  for (const auto& [at, more] : work.of_counter(counter))
    if (at.place == place) amount.add(more);
  return amount;
}

SampleSum in_all(const SampledWork& work, std::size_t counter) {
  SampleSum amount;
  for (const auto& [at, more] : work.of_counter(counter)) amount.add(more);
  return amount;
}

// "0.021": three significant digits, for values far below or above one.
std::string each(double value) {
  if (value == 0) return "0";
  if (value < 0.001) return "< 0.001";
  return value < 10 ? fmt::format("{:.3f}", value)
                    : count(static_cast<std::uint64_t>(std::llround(value)));
}

// 0: unknown. Counters include all packets' work, even in a report about some journeys only.
std::uint64_t packets_of(const ReportContent& content, std::uint16_t place) {
  if (content.selection) return 0;
  return content.summary.direction(content.topology.places[place].direction).count();
}

double per_packet(const SampleSum& amount, std::uint64_t packets) {
  return static_cast<double>(amount.weight) / static_cast<double>(packets);
}

std::string point_name(const ReportContent& content, model::PointId point) {
  const auto& points = content.facts.schema.points;
  return point < points.size() ? points[point].name() : std::string();
}

std::string place_cell(const SampleSum& amount, std::uint64_t packets) {
  return fmt::format("{} ({})", count(amount.weight),
                     packets == 0 ? "-" : each(per_packet(amount, packets)));
}

std::string notes(const ReportContent& content) {
  const SampledWork& work = *content.work;
  std::string text;
  for (const model::Counter& counter : work.counters()) {
    const std::string name = printable(counter.name);
    if (!counter.missing.empty())
      text += fmt::format("no {}: {}\n", name, printable(counter.missing));
    else if (counter.user_only)
      text +=
          fmt::format("{}: of the target's own code only, not of the kernel's work for it\n", name);
    if (counter.missing.empty() && counter.period > 1 && counter.name != model::kProfile)
      text += fmt::format(
          "{}: estimated from {} samples, one every {}\n", name,
          count(in_all(work, static_cast<std::size_t>(&counter - work.counters().data())).samples),
          count(counter.period));
  }
  return text;
}

ordered_json hops_json(const ReportContent& content, std::size_t counter) {
  auto hops = ordered_json::array();
  for (std::size_t place = 0; place < content.topology.places.size(); ++place) {
    const std::uint64_t passes = content.work->passes()[place];
    if (passes == 0) continue;
    const auto index = static_cast<std::uint16_t>(place);
    const SampleSum amount = in_place(*content.work, counter, index);
    const std::uint64_t packets = packets_of(content, index);
    ordered_json a_packet = nullptr;
    if (packets != 0) a_packet = per_packet(amount, packets);
    hops.push_back({{"dir", std::string(1, letter(content.topology.places[place].direction))},
                    {"at", content.topology.places[place].name},
                    {"count", amount.weight},
                    {"samples", amount.samples},
                    {"passes", passes},
                    {"a_packet", std::move(a_packet)}});
  }
  return hops;
}

ordered_json between_json(const ReportContent& content, std::size_t counter) {
  std::map<std::pair<model::PointId, model::PointId>, SampleSum> sums;
  for (const auto& [at, amount] : content.work->of_counter(counter))
    if (at.place == kBetweenUnits) sums[{at.after, at.before}].add(amount);
  auto between = ordered_json::array();
  for (const auto& [ends, amount] : sums)
    between.push_back({{"after", point_name(content, ends.first)},
                       {"before", point_name(content, ends.second)},
                       {"count", amount.weight}});
  return between;
}

ordered_json threads_json(const ReportContent& content, std::size_t counter) {
  std::map<std::uint32_t, std::pair<SampleSum, SampleSum>> sums;  // in all, between units
  for (const auto& [at, amount] : content.work->of_counter(counter)) {
    sums[at.tid].first.add(amount);
    if (at.place == kBetweenUnits) sums[at.tid].second.add(amount);
  }
  auto threads = ordered_json::array();
  for (const auto& [tid, amounts] : sums) {
    const auto name = content.thread_names.find(tid);
    threads.push_back({{"tid", tid},
                       {"name", name == content.thread_names.end() ? "" : name->second},
                       {"count", amounts.first.weight},
                       {"between_units", amounts.second.weight}});
  }
  return threads;
}

}  // namespace

std::string counters_text(const ReportContent& content) {
  if (content.work == nullptr || content.work->is_empty()) return {};
  const SampledWork& work = *content.work;
  const auto recorded = recorded_counters(work);
  std::string text = notes(content);
  if (recorded.empty()) return text.empty() ? text : "\n" + text;
  std::vector<std::string> head = {"counters by hop (a packet)"};
  for (const std::size_t counter : recorded)
    head.push_back(printable(work.counters()[counter].name));
  Table table(head);
  for (std::size_t place = 0; place < content.topology.places.size(); ++place) {
    // A place in which no thread works is a queue: a thread that works while units wait there works
    // on something else.
    if (work.passes()[place] == 0) continue;
    const auto& about = content.topology.places[place];
    const auto index = static_cast<std::uint16_t>(place);
    std::vector<std::string> cells = {fmt::format("  {} {}", letter(about.direction), about.name)};
    for (const std::size_t counter : recorded)
      cells.push_back(place_cell(in_place(work, counter, index), packets_of(content, index)));
    table.row(std::move(cells));
  }
  std::vector<std::string> between = {"  between units"};
  std::vector<std::string> all = {"  all"};
  for (const std::size_t counter : recorded) {
    between.push_back(count(in_place(work, counter, kBetweenUnits).weight));
    all.push_back(count(in_all(work, counter).weight));
  }
  table.row(std::move(between));
  table.row(std::move(all));
  return "\n" + table.text() + text;
}

nlohmann::ordered_json counters_json(const ReportContent& content) {
  const SampledWork& work = *content.work;
  auto list = nlohmann::ordered_json::array();
  for (std::size_t counter = 0; counter < work.counters().size(); ++counter) {
    const model::Counter& about = work.counters()[counter];
    const SampleSum all = in_all(work, counter);
    list.push_back({{"name", about.name},
                    {"period", about.period},
                    {"user_only", about.user_only},
                    {"missing", about.missing},
                    {"count", all.weight},
                    {"samples", all.samples},
                    {"between_units", in_place(work, counter, kBetweenUnits).weight},
                    {"hops", hops_json(content, counter)},
                    {"between", between_json(content, counter)},
                    {"threads", threads_json(content, counter)}});
  }
  return list;
}

}  // namespace sojourn::present
