#include "analysis/present/queues/places_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/present/queues/sampled_text.h"
#include "analysis/present/words/depth_labels.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using queues::Meter;
using queues::Places;

template <typename... Args>
std::string hanging(std::size_t width, fmt::format_string<Args...> format, Args&&... args) {
  return wrapped(fmt::format(format, std::forward<Args>(args)...), 6, width) + "\n";
}

std::string said(double ns, bool is_known = true) {
  return is_known ? duration(ns) : "-";
}

std::vector<std::string> meter_cells(std::string name, const Meter& meter,
                                     std::optional<double> used, std::optional<double> predicted) {
  const auto& levels = meter.levels();
  const auto& waits = meter.waits_ns();
  const bool any = waits.count() != 0;
  return {std::move(name),
          fmt::format("{:.2f}", levels.mean()),
          any ? fmt::format("{:.2f}", meter.arrivals_times_wait()) : "-",
          count(levels.quantile(0.5)),
          count(levels.quantile(0.99)),
          count(meter.high_water().depth),
          stretches(meter.empty_stretches(), levels.total_ns()),
          rate(meter.arrivals_per_s()),
          rate(meter.services_per_s()),
          used ? percent(*used) : "-",
          said(waits.mean(), any),
          said(static_cast<double>(waits.quantile(0.5)), any),
          said(static_cast<double>(waits.quantile(0.99)), any),
          said(static_cast<double>(waits.max()), any),
          predicted ? duration(*predicted) : "-"};
}

// The name in a table's row. A mark refers to a line below the table.
std::string marked(const std::string& name, const Meter& meter) {
  return name + std::string(meter.is_depth_known() ? "" : kNoDepthMark);
}

std::string given_up_text(const std::string& name, const Meter& meter, std::size_t width) {
  std::string text;
  if (meter.given_up() == 0) return text;
  text += hanging(width, "  {}",
                  never_left_text(name, {.units = meter.given_up(),
                                         .of = meter.in(),
                                         .depth_share = meter.given_up_share(),
                                         .is_depth_known = meter.is_depth_known()}));
  return text;
}

// The row of a pool counts the buffers that were taken from it, not those inside.
std::string operated_text(const queues::OperatedQueue& queue) {
  const bool is_pool = queue.about.kind == model::QueueKind::kPool;
  return printable(queue.about.shown_name()) + (is_pool ? ", taken" : "");
}

Table meter_table(std::string heading) {
  Table table({std::move(heading), "depth", "Little", "p50", "p99", "max", "empty", "in/s", "out/s",
               "used", "wait", "p50", "p99", "max", "Kingman"});
  // The least important first: how often it was empty says little beside how long it was not.
  table.spare(8);
  table.spare(6);
  table.spare(2);
  table.spare(3, "p50 of depth");
  table.spare(7);
  table.spare(4, "p99 of depth");
  table.spare(13, "max of wait");
  return table;
}

// "ul-pdcp", "ul-pdcp 90 %, mac 10 %"; the busiest three.
std::string threads_text(const std::map<std::uint32_t, std::uint64_t>& units,
                         const queues::ThreadNames& threads) {
  std::uint64_t all = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (const auto& [tid, amount] : units) {
    all += amount;
    order.emplace_back(amount, tid);
  }
  std::ranges::sort(order, std::ranges::greater());
  std::vector<std::string> words;
  for (const auto& [amount, tid] : order) {
    if (words.size() == 3) {
      words.push_back(fmt::format("{} more", order.size() - 3));
      break;
    }
    const auto known = threads.find(tid);
    std::string name = known != threads.end() && !known->second.empty() ? printable(known->second)
                       : tid == 0                                       ? "?"
                                  : fmt::format("thread {}", tid);
    if (order.size() > 1)
      name += " " + percent(static_cast<double>(amount) / static_cast<double>(all));
    words.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// Names the place with the longest stays, and the one whose server is closest to its limit.
std::string slowest_text(const Places& places, const journeys::Topology& topology,
                         const queues::ThreadNames& threads, std::size_t width) {
  std::string text;
  auto order = places.order();
  std::erase_if(
      order, [&](std::uint16_t place) { return !places.queues()[place].meter.is_depth_known(); });
  const auto waits = [&](std::uint16_t place) {
    return places.queues()[place].meter.waits_ns().mean();
  };
  const auto served = [&](std::uint16_t place) { return places.queues()[place].meter.served(); };
  if (order.empty()) return text;
  const std::uint16_t slowest = *std::ranges::max_element(order, {}, waits);
  const std::uint16_t busiest = *std::ranges::max_element(order, {}, served);
  const auto drained = [&](std::uint16_t place) {
    return threads_text(places.queues()[place].drained_by, threads);
  };
  if (waits(slowest) > 0)
    text +=
        hanging(width, "slowest stage: {}, {} on average, drained by {}",
                queues::place_text(topology, slowest), duration(waits(slowest)), drained(slowest));
  if (served(busiest) > 0)
    text += hanging(
        width,
        "busiest stage: {}, {} of the time with what went on from it, drained by {}, {} for each",
        queues::place_text(topology, busiest), percent(served(busiest)), drained(busiest),
        duration(places.queues()[busiest].meter.service_ns().mean()));
  return text;
}

Table marks_table(std::string inside) {
  Table table({"high-water marks", "depth", "at", "empty until", std::move(inside)});
  table.left(4);
  table.fold(4);
  return table;
}

std::vector<std::string> mark_cells(std::string name, const queues::HighWater& mark,
                                    const std::vector<std::uint64_t>& first, std::uint64_t inside,
                                    std::uint64_t origin_ns) {
  return {std::move(name), count(mark.depth), since_text(mark.ts_ns, origin_ns),
          fmt::format("{} before", duration(static_cast<double>(mark.ts_ns - mark.since_ns))),
          listed(first, inside)};
}

std::string place_marks_text(const Places& places, const journeys::Topology& topology,
                             std::uint64_t origin_ns, std::size_t width) {
  std::string text;
  Table table = marks_table("journeys inside");
  for (const std::uint16_t place : places.order()) {
    const queues::PlaceQueue& stats = places.queues()[place];
    table.row(mark_cells("  " + marked(queues::place_text(topology, place), stats.meter),
                         stats.meter.high_water(), stats.journeys, stats.inside, origin_ns));
  }
  if (!table.empty()) text += fmt::format("\n{}", table.text(width));
  return text;
}

}  // namespace

std::string places_text(const Places& places, const journeys::Topology& topology,
                        const queues::ThreadNames& threads, std::uint64_t origin_ns,
                        std::size_t width) {
  std::string text;
  Table table = meter_table("in flight, from events");
  for (const std::uint16_t place : places.order()) {
    const Meter& meter = places.queues()[place].meter;
    table.row(meter_cells("  " + marked(queues::place_text(topology, place), meter), meter,
                          meter.utilisation(), meter.predicted_ns()));
  }
  if (table.empty()) return text;
  text += table.text(width);
  for (const std::uint16_t place : places.order())
    text += given_up_text(queues::place_text(topology, place), places.queues()[place].meter, width);
  text += slowest_text(places, topology, threads, width);
  text += place_marks_text(places, topology, origin_ns, width);
  return text;
}

std::string place_depths_text(const Places& places, const journeys::Topology& topology,
                              std::size_t width) {
  std::string text;
  for (const std::uint16_t place : places.order()) {
    const Meter& meter = places.queues()[place].meter;
    text += levels_text(marked(queues::place_text(topology, place), meter), meter.levels(),
                        meter.series(), width);
  }
  return text;
}

std::string place_threads_text(const Places& places, const journeys::Topology& topology,
                               const queues::ThreadNames& threads, std::size_t width) {
  std::string text;
  Table table({"fed by", "", "place", "", "drained by", "after"});
  for (std::size_t column = 1; column < 6; ++column) table.left(column);
  for (const std::uint16_t place : places.order()) {
    const queues::PlaceQueue& stats = places.queues()[place];
    std::vector<std::string> before;
    for (const std::uint16_t one : places.before(place))
      before.push_back(topology.places[one].name);
    table.row({threads_text(stats.fed_by, threads), "->", queues::place_text(topology, place), "->",
               threads_text(stats.drained_by, threads),
               fmt::format("{}", fmt::join(before, ", "))});
  }
  if (!table.empty()) text += fmt::format("\n{}", table.text(width));
  return text;
}

std::string operations_text(const queues::Operations& operations, std::uint64_t origin_ns,
                            std::size_t width) {
  std::string text;
  Table table = meter_table("queues, from their events");
  for (const queues::OperatedQueue* queue : operations.queues())
    table.row(meter_cells("  " + marked(operated_text(*queue), queue->meter), queue->meter,
                          queue->utilisation(), queue->predicted_ns()));
  if (table.empty()) return text;
  text += table.text(width);
  for (const queues::OperatedQueue* queue : operations.queues()) {
    const std::string name = operated_text(*queue);
    text += given_up_text(name, queue->meter, width);
    if (queue->unseen_in != 0 || queue->unseen_out != 0)
      text +=
          hanging(width,
                  "  {}: {} left without having come, {} came again without having left: events "
                  "were lost",
                  name, count(queue->unseen_in), count(queue->unseen_out));
    if (queue->namesakes != 0)
      text += hanging(width,
                      "  {}: {} had the number of a unit that was still inside: of equal numbers "
                      "the first to come counts as the first to leave",
                      name, count(queue->namesakes));
  }
  Table marks = marks_table("items inside");
  for (const queues::OperatedQueue* queue : operations.queues())
    marks.row(mark_cells("  " + marked(operated_text(*queue), queue->meter),
                         queue->meter.high_water(), queue->items, queue->inside, origin_ns));
  text += fmt::format("\n{}", marks.text(width));
  return text;
}

std::string operation_threads_text(const queues::Operations& operations,
                                   const queues::ThreadNames& threads, std::size_t width) {
  std::string text;
  Table table({"fed by", "", "queue", "", "drained by", "after"});
  for (std::size_t column = 1; column < 6; ++column) table.left(column);
  const auto all = operations.queues();
  const auto before = operations.before();
  for (std::size_t index = 0; index < all.size(); ++index) {
    std::vector<std::string> names;
    for (const std::size_t one : before[index].first) names.push_back(operated_text(*all[one]));
    if (before[index].all > names.size())
      names.push_back(fmt::format("{} more", count(before[index].all - names.size())));
    table.row({threads_text(all[index]->fed_by, threads), "->", operated_text(*all[index]), "->",
               threads_text(all[index]->drained_by, threads),
               fmt::format("{}", fmt::join(names, ", "))});
  }
  if (!table.empty()) text += fmt::format("\n{}", table.text(width));
  return text;
}

std::string operation_depths_text(const queues::Operations& operations, std::size_t width) {
  std::string text;
  for (const queues::OperatedQueue* queue : operations.queues())
    text += levels_text(marked(operated_text(*queue), queue->meter), queue->meter.levels(),
                        queue->meter.series(), width);
  return text;
}

std::string chains_text(const std::vector<queues::Chain>& chains,
                        const std::vector<queues::PressureName>& names, std::uint64_t origin_ns,
                        std::size_t width) {
  std::string text;
  if (chains.empty()) return text;
  text += fmt::format(
      "\n{}\n",
      wrapped("back-pressure: the queue before a slow stage was deep, and those before it "
              "became so meanwhile",
              2, width));
  for (const queues::Chain& chain : chains) {
    const std::string& stage = names[chain.front().node].stage;
    std::string line = "  " + (stage.empty() ? "?" : printable(stage));
    for (const queues::Episode& episode : chain)
      line += fmt::format(" <- {} (up to {}, {} from {})", printable(names[episode.node].queue),
                          count(episode.peak),
                          duration(static_cast<double>(episode.end_ns - episode.begin_ns)),
                          since_text(episode.begin_ns, origin_ns));
    text += hanging(width, "{}", line);
  }
  return text;
}

}  // namespace sojourn::present
