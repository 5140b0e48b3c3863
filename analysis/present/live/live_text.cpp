#include "analysis/present/live/live_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/base/printable.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/live/live_words.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using live::Quantiles;
using live::Snapshot;

void add_quantiles(std::vector<std::string>& cells, const Quantiles& times) {
  cells.push_back(count(static_cast<std::uint64_t>(std::lround(times.per_s))));
  for (const std::uint64_t ns :
       {times.p50_ns, times.p90_ns, times.p99_ns, times.p999_ns, times.max_ns})
    cells.push_back(times.count == 0 ? "-" : duration(static_cast<double>(ns)));
}

const live::QueueRow* queue_of(const Snapshot& snapshot, const live::TimesRow& place) {
  const auto found = std::ranges::find_if(snapshot.queues, [&](const live::QueueRow& queue) {
    return queue.direction == place.direction && queue.name == place.name;
  });
  return found == snapshot.queues.end() ? nullptr : &*found;
}

std::string first_lines(const Snapshot& snapshot, std::size_t width) {
  std::string line = fmt::format(
      "{}   {}   {} events   {} events/s   {}", elapsed_words(snapshot), snapshot.target,
      count(snapshot.events), count(static_cast<std::uint64_t>(std::lround(snapshot.events_per_s))),
      loss_words(snapshot));
  for (const std::string& part : cost_words(snapshot)) line += "   " + part;
  if (snapshot.has_ended)
    line += "   ended" + (snapshot.ended_by.empty() ? "" : " by " + printable(snapshot.ended_by));
  std::string text = wrapped(line, 2, width) + "\n";
  if (!snapshot.filter.empty())
    text += wrapped("only journeys where " + printable(snapshot.filter), 2, width) + "\n";
  if (snapshot.sample)
    text += wrapped(sample_words(snapshot) +
                        ": all packets would take more of a core than --view-budget allows",
                    2, width) +
            "\n";
  for (const std::string& doubt : doubts(snapshot)) text += wrapped(doubt, 2, width) + "\n";
  return text;
}

std::string latencies(const Snapshot& snapshot, bool since_start, std::size_t width) {
  Table table({"latency, " + span_words(snapshot, since_start), "packets", "a second", "p50", "p90",
               "p99", "p99.9", "max"});
  table.spare(6);
  table.spare(4);
  for (const live::DirectionRow& row : snapshot.directions) {
    const Quantiles& times = since_start ? row.times.all : row.times.window;
    std::vector<std::string> cells = {
        fmt::format("{} {}", letter(row.times.direction), row.times.name), count(times.count)};
    add_quantiles(cells, times);
    table.row(std::move(cells));
  }
  return table.empty() ? "" : table.text(width);
}

std::string stays(const Snapshot& snapshot, bool since_start, std::size_t width) {
  Table table({"where they spend it", "count", "a second", "p50", "p90", "p99", "p99.9", "max",
               "in flight", "max "});
  table.spare(6);
  table.spare(4);
  table.spare(1);
  for (const live::TimesRow& row : snapshot.places) {
    const Quantiles& times = since_start ? row.all : row.window;
    std::vector<std::string> cells = {fmt::format("{} {}", letter(row.direction), row.name),
                                      count(times.count)};
    add_quantiles(cells, times);
    const live::QueueRow* const queue = queue_of(snapshot, row);
    cells.push_back(queue == nullptr ? "-" : count(queue->now));
    cells.push_back(queue == nullptr ? "-" : count(since_start ? queue->max : queue->window_max));
    table.row(std::move(cells));
  }
  return table.empty() ? "" : table.text(width);
}

std::string activities(const Snapshot& snapshot, bool since_start, std::size_t width) {
  Table table({"activity, " + span_words(snapshot, since_start), "count", "a second", "p50", "p90",
               "p99", "p99.9", "max"});
  for (const live::TimesRow& row : snapshot.activities) {
    const Quantiles& times = since_start ? row.all : row.window;
    std::vector<std::string> cells = {printable(row.name), count(times.count)};
    add_quantiles(cells, times);
    table.row(std::move(cells));
  }
  std::string text = table.empty() ? "" : table.text(width);
  for (const live::TimesRow& row : snapshot.markers) {
    const Quantiles& times = since_start ? row.all : row.window;
    text += fmt::format("marker {}: {} {}\n", printable(row.name), count(times.count),
                        span_words(snapshot, since_start));
  }
  return text;
}

std::string worst(const Snapshot& snapshot, std::size_t width) {
  constexpr std::size_t kHanging = 6;
  std::string text;
  for (const causes::Verdict& verdict : snapshot.worst)
    text += wrapped(fmt::format("  {} {} {} (journey {}{}): {}",
                                duration(static_cast<double>(verdict.latency_ns())),
                                letter(verdict.direction), packet_words(snapshot, verdict),
                                verdict.journey, verdict.is_ambiguous ? ", ambiguous" : "",
                                sentence(verdict, *snapshot.names, *snapshot.topology)),
                    kHanging, width) +
            "\n";
  return text.empty() ? text
                      : fmt::format("the slowest, {}\n{}", span_words(snapshot, false), text);
}

}  // namespace

std::string live_text(const Snapshot& snapshot, bool since_start, std::size_t width) {
  return first_lines(snapshot, width) + latencies(snapshot, since_start, width) +
         stays(snapshot, since_start, width) + activities(snapshot, since_start, width) +
         worst(snapshot, width) + "\n";
}

}  // namespace sojourn::present
