#include "analysis/present/queues/sampled_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/present/queues/queue_graph.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using queues::SampledQueue;

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? duration(*seconds * 1e9) : "-";
}

std::string way(const model::QueueInfo& about, const QueueEndsById& ends) {
  const QueueEnds threads = ends_of(ends, about.id);
  return printable(fmt::format("{} -> {}", end_text(about.producer, threads.feeds),
                               end_text(about.consumer, threads.drains)));
}

std::string sampling_text(const trace::Reader& reader, const queues::SampledQueues& sampled_queues,
                          std::size_t width) {
  std::string text;
  const model::Sampling& sampling = reader.sampling();
  const auto with_samples = std::ranges::count_if(
      sampled_queues.queues(), [](const SampledQueue& one) { return !one.gauge.empty(); });
  std::string line = fmt::format(
      "{} queues, sampled {}{}", with_samples, name(sampling.mode),
      sampling.period_ns == 0
          ? ""
          : fmt::format(" every {}", duration(static_cast<double>(sampling.period_ns))));
  if (sampling.passes != 0 && sampling.looks != 0) {
    const auto passes = static_cast<double>(sampling.passes);
    const auto pass_ns = static_cast<double>(sampling.pass_ns);
    line +=
        fmt::format("; {} looks took {} each, {} a pass, at most {}", count(sampling.looks),
                    duration(pass_ns / static_cast<double>(sampling.looks)),
                    duration(pass_ns / passes), duration(static_cast<double>(sampling.longest_ns)));
  }
  if (sampling.missed != 0) line += fmt::format("; {} ticks missed", count(sampling.missed));
  if (sampling.held_back != 0)
    line += fmt::format("; {} passes left out as the disk was behind", count(sampling.held_back));
  text += fmt::format("{}\n", wrapped(line, 2, width));
  if (sampling.refused != 0)
    text += fmt::format(
        "{} queues found no place in the target, and are not here: start it with a larger "
        "SJ_QUEUE_COUNT\n",
        count(sampling.refused));
  return text;
}

std::string longest_wait_text(const queues::SampledQueues& sampled_queues,
                              const QueueEndsById& ends) {
  std::string text;
  const SampledQueue* slowest = nullptr;
  for (const SampledQueue& stats : sampled_queues.queues()) {
    if (!is_waiting_line(stats.about.kind) || !stats.mean_wait_s()) continue;
    if (slowest == nullptr || *stats.mean_wait_s() > *slowest->mean_wait_s()) slowest = &stats;
  }
  if (slowest == nullptr) return text;
  const std::string thread = ends_of(ends, slowest->about.id).drains;
  text += fmt::format("longest wait: {}, {} on average, up to {} items, drained by {}\n",
                      printable(slowest->name()), seconds_text(slowest->mean_wait_s()),
                      count(slowest->gauge.max_depth()),
                      printable(end_text(slowest->about.consumer, thread)));
  return text;
}

// The number of events beside the number that the counters give.
std::string of_counters(std::uint64_t events, std::uint64_t counted) {
  return events == counted ? count(events) : fmt::format("{} of {}", count(events), count(counted));
}

// Its peaks, as high as characters are dark.
std::string over_time(const queues::DepthSeries& series) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  constexpr std::size_t kColumns = 64;
  const auto& stretches = series.stretches();
  const std::size_t each = (stretches.size() + kColumns - 1) / kColumns;
  std::vector<std::uint64_t> peaks;
  for (std::size_t at = 0; at < stretches.size(); ++at) {
    if (at % each == 0) peaks.push_back(0);
    peaks.back() = std::max(peaks.back(), stretches[at].max);
  }
  const std::uint64_t most = peaks.empty() ? 0 : std::ranges::max(peaks);
  if (most == 0) return {};
  std::string shades;
  for (const std::uint64_t peak : peaks)
    shades += kShades[static_cast<std::size_t>(
        std::ceil(9 * static_cast<double>(peak) / static_cast<double>(most)))];
  return fmt::format("over time |{}| each {}, '@' is {}\n", shades,
                     duration(static_cast<double>(each * series.stretch_ns())), count(most));
}

}  // namespace

std::string listed(const std::vector<std::uint64_t>& first, std::uint64_t all) {
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (all > first.size()) text += fmt::format(" and {} more", count(all - first.size()));
  return text;
}

std::string since_text(std::uint64_t ts_ns, std::uint64_t origin_ns) {
  return fmt::format("{:.6f} s", static_cast<double>(ts_ns - std::min(ts_ns, origin_ns)) / 1e9);
}

std::string rate(double per_s) {
  return per_s < 100 ? fmt::format("{:.1f}", per_s) : count(static_cast<std::uint64_t>(per_s));
}

std::string stretches(const queues::Stretches& stretches, std::uint64_t of_ns) {
  if (stretches.count == 0) return "-";
  const double share =
      of_ns == 0 ? 0 : static_cast<double>(stretches.total_ns) / static_cast<double>(of_ns);
  return fmt::format("{} ({})", count(stretches.count), percent(share));
}

std::string sampled_text(const trace::Reader& reader, const queues::SampledQueues& sampled_queues,
                         const QueueEndsById& ends, std::size_t width) {
  std::string text = sampling_text(reader, sampled_queues, width);
  text += '\n';
  Table table({"queue", "kind", "producer -> consumer", "capacity", "samples", "depth", "p50",
               "p99", "max", "empty", "full", "in/s", "out/s", "in", "out", "used", "wait",
               "sample takes"});
  table.left(1);
  table.left(2);
  // The least important columns first. `--topology` shows the threads that feed and drain a queue.
  for (const std::size_t column : {17U, 4U, 14U, 13U, 1U, 2U, 3U, 12U, 6U, 11U, 10U, 9U})
    table.spare(column);
  for (const SampledQueue& stats : sampled_queues.queues()) {
    const auto& gauge = stats.gauge;
    const auto& levels = gauge.levels();
    const auto used = stats.utilisation();
    table.row({printable(stats.name()), std::string(name(stats.about.kind)), way(stats.about, ends),
               stats.about.capacity == 0 ? "-" : count(stats.about.capacity),
               count(gauge.samples()), fmt::format("{:.2f}", levels.mean()),
               count(levels.quantile(0.5)), count(levels.quantile(0.99)), count(gauge.max_depth()),
               stretches(gauge.empty_stretches(), levels.total_ns()),
               stretches(gauge.full_stretches(), levels.total_ns()), rate(stats.arrivals_per_s()),
               rate(stats.services_per_s()), count(gauge.in()), count(gauge.out()),
               used ? percent(*used) : "-", seconds_text(stats.mean_wait_s()),
               duration(static_cast<double>(gauge.mean_span_ns()))});
  }
  text += table.text(width);
  text += longest_wait_text(sampled_queues, ends);
  return text;
}

std::string levels_text(const std::string& name, const queues::DepthHistogram& levels,
                        const queues::DepthSeries& series, std::size_t width) {
  std::string text;
  if (levels.total_ns() == 0) return text;
  const auto total = static_cast<double>(levels.total_ns());
  text += fmt::format("\n{}: {} empty\n{}", name,
                      percent(static_cast<double>(levels.at_ns(0)) / total), over_time(series));
  Table table({"depth", "time", "share", "up to it"});
  auto sum = static_cast<double>(levels.at_ns(0));
  for (const auto& [depth, span_ns] : levels.by_depth()) {
    if (depth == 0) continue;
    const auto span = static_cast<double>(span_ns);
    sum += span;
    table.row({count(depth), duration(span), percent(span / total), percent(sum / total)});
  }
  if (!table.empty()) text += table.text(width);
  return text;
}

std::string sampled_depths_text(const queues::SampledQueues& sampled_queues, std::size_t width) {
  std::string text;
  for (const SampledQueue& stats : sampled_queues.queues())
    text += levels_text(printable(stats.name()), stats.gauge.levels(), stats.gauge.series(), width);
  return text;
}

std::string sampled_marks_text(const queues::SampledQueues& sampled_queues,
                               const queues::HighWaterMarks& marks, std::uint64_t origin_ns,
                               std::size_t width) {
  std::string text;
  Table table({"high-water marks", "depth", "at", "journeys inside"});
  table.left(3);
  table.fold(3);
  bool any_unknown = false;
  for (const SampledQueue& stats : sampled_queues.queues()) {
    const bool is_pool = stats.about.kind == model::QueueKind::kPool;
    if (is_pool || stats.gauge.max_depth() == 0) continue;
    const queues::HighWaterMark* const mark = marks.find(stats.about.id);
    any_unknown |= mark == nullptr;
    table.row({"  " + printable(stats.name()), count(stats.gauge.max_depth()),
               since_text(stats.gauge.max_at_ns(), origin_ns),
               mark == nullptr ? "?" : listed(mark->journeys, mark->inside)});
  }
  if (table.empty()) return text;
  text += fmt::format("\n{}", table.text(width));
  if (any_unknown)
    text += fmt::format(
        "{}\n",
        wrapped("  ? no place of packets is called so, or lies between such threads: who was "
                "inside is not known",
                4, width));
  return text;
}

std::string sampled_topology_text(const trace::Reader& reader,
                                  const queues::SampledQueues& sampled_queues,
                                  const QueueEndsById& ends, std::size_t width) {
  std::string text = "\n";
  Table table({"producer", "", "queue", "", "consumer", "kind", "group"});
  for (std::size_t column = 1; column < 6; ++column) table.left(column);
  for (const SampledQueue& stats : sampled_queues.queues()) {
    const QueueEnds threads = ends_of(ends, stats.about.id);
    table.row({printable(end_text(stats.about.producer, threads.feeds)), "->",
               printable(stats.name()), "->",
               printable(end_text(stats.about.consumer, threads.drains)),
               std::string(name(stats.about.kind)),
               stats.about.group == 0 ? "-" : std::to_string(stats.about.group)});
  }
  text += table.text(width);

  Table changes({"between", "and", "", "queue", "producer -> consumer"});
  for (std::size_t column = 2; column < 5; ++column) changes.left(column);
  const std::uint64_t origin_ns = reader.capture().open_ns;
  for (const model::QueueChange& change : reader.queue_changes()) {
    if (change.event == model::QueueEvent::kFound) continue;
    changes.row({since_text(change.after_ns, origin_ns), since_text(change.ts_ns, origin_ns),
                 std::string(name(change.event)), printable(change.about.name),
                 way(change.about, ends)});
  }
  if (!changes.empty()) text += fmt::format("\nchanges\n{}", changes.text(width));
  return text;
}

std::string comparisons_text(const queues::SampledQueues& sampled_queues,
                             const queues::Verifier& verifier, std::uint64_t origin_ns,
                             std::size_t width) {
  std::string text;
  std::map<std::uint64_t, std::string> names;
  for (const SampledQueue& stats : sampled_queues.queues())
    names[stats.about.id] = printable(stats.name());
  text += fmt::format("\nsamples compared with the events of enqueues and dequeues\n");
  Table table(
      {"queue", "compared", "equal", "in a race", "different", "in, by events", "out, by events"});
  for (const queues::CounterComparison& one : verifier.comparisons())
    table.row({names[one.id], count(one.compared), count(one.equal), count(one.in_race),
               count(one.different), of_counters(one.in_by_events, one.in_by_counters),
               of_counters(one.out_by_events, one.out_by_counters)});
  text += table.text(width);
  if (verifier.discrepancies().empty()) return text;

  text += fmt::format("\n{} discrepancies\n", count(verifier.discrepancies_in_all()));
  Table list({"at", "queue", "sampled depth", "by events", "samples", "cause"});
  list.left(1);
  list.left(5);
  for (const queues::Discrepancy& one : verifier.discrepancies())
    list.row({since_text(one.ts_ns, origin_ns), names[one.queue], count(one.sampled_depth),
              std::to_string(one.event_depth), count(one.samples),
              one.events_lost ? "events were lost" : "none found"});
  text += list.text(width);
  return text;
}

}  // namespace sojourn::present
