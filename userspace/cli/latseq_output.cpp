#include "userspace/cli/latseq_output.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/latseq/texts.h"
#include "analysis/model/schema.h"
#include "analysis/model/value_text.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "analysis/statistics/distribution.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {

namespace {

using present::count;
using present::duration;

constexpr std::array kLetters = {'D', 'U'};
constexpr std::array kShares = {0.5, 0.9, 0.99, 0.999};

// A name that stands several times has several values: "psn 1,2".
std::string ids_text(const latseq::Recording& recording, std::span<const latseq::Id> ids) {
  fmt::memory_buffer text;
  for (const latseq::Id& id : ids) {
    const auto& name = recording.names()[id.name];
    const model::ValueForm form = {.is_hexadecimal = model::is_hexadecimal(name)};
    fmt::format_to(std::back_inserter(text), " {} ", name);
    const std::vector<std::uint64_t> one = {id.value};
    const auto& values = id.list == latseq::kOneValue ? one : recording.lists()[id.list];
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (at != 0) text.push_back(',');
      model::append_value(text, form, values[at]);
    }
  }
  return fmt::to_string(text);
}

std::string journey_text(const LatseqJourneys& rebuilt, const latseq::Journey& journey) {
  const auto& [recording, all] = rebuilt;
  std::string text =
      fmt::format("journey {}  {}{}  path {}  {}\n", latseq::uid(recording, journey),
                  kLetters[journey.direction()], ids_text(recording, journey.globals), journey.path,
                  duration(static_cast<double>(journey.out_ns - journey.in_ns)));
  for (const std::uint32_t index : journey.way) {
    const latseq::Measure& measure = recording.measures()[index];
    text += fmt::format("  {:>6} {:>9}  {} {}{}\n", fmt::format("#{}", index),
                        duration(static_cast<double>(measure.ts_ns - journey.in_ns)),
                        recording.segment(measure),
                        ids_text(recording, recording.ids(measure.properties)),
                        ids_text(recording, recording.ids(measure.locals)));
  }
  return text + "\n";
}

std::vector<const latseq::Journey*> chosen(const LatseqJourneys& rebuilt,
                                           const LatseqJourneyOptions& options) {
  std::vector<const latseq::Journey*> journeys;
  for (const latseq::Journey& journey : rebuilt.all.journeys)
    if (options.direction.empty() || kLetters[journey.direction()] == options.direction[0])
      journeys.push_back(&journey);
  const auto latency_ns = [](const latseq::Journey* journey) {
    return journey->out_ns - journey->in_ns;
  };
  if (options.worst != 0) std::ranges::stable_sort(journeys, std::ranges::greater(), latency_ns);
  const auto most = std::min(options.worst == 0 ? journeys.size() : options.worst,
                             options.limit == 0 ? journeys.size() : options.limit);
  journeys.resize(std::min<std::size_t>(journeys.size(), most));
  return journeys;
}

// "ip.in -> phy.out.proc" of each path, with the journeys that took it.
std::string paths_text(const LatseqJourneys& rebuilt) {
  const auto& [recording, all] = rebuilt;
  present::Table table({"paths", "journeys", "way"});
  table.left(2);
  for (std::size_t direction = 0; direction < 2; ++direction) {
    for (std::size_t path = 0; path < all.paths[direction].size(); ++path) {
      std::vector<std::string> places;
      for (const latseq::NameId place : all.paths[direction][path])
        places.push_back(recording.names()[place]);
      const auto took = std::ranges::count_if(all.journeys, [&](const latseq::Journey& journey) {
        return journey.direction() == direction && journey.path == path;
      });
      table.row({fmt::format("  {}{}", kLetters[direction], path),
                 count(static_cast<std::uint64_t>(took)),
                 fmt::format("{}", fmt::join(places, " "))});
    }
  }
  return table.text();
}

std::string latency_text(const LatseqJourneys& rebuilt) {
  present::Table table({"latency", "journeys", "mean", "p50", "p90", "p99", "p99.9", "max"});
  for (std::size_t direction = 0; direction < 2; ++direction) {
    statistics::Distribution times;
    for (const latseq::Journey& journey : rebuilt.all.journeys)
      if (journey.direction() == direction) times.add(journey.out_ns - journey.in_ns);
    if (times.count() == 0) continue;
    std::vector<std::string> cells = {fmt::format("  {}", kLetters[direction]),
                                      count(times.count()), duration(times.mean())};
    for (const double share : kShares)
      cells.push_back(duration(static_cast<double>(times.quantile(share))));
    cells.push_back(duration(static_cast<double>(times.max())));
    table.row(std::move(cells));
  }
  return table.text();
}

}  // namespace

Result<LatseqJourneys> rebuild_as_latseq(trace::Reader& reader, const latseq::Ends& ends) {
  ProgressLine line;
  SJ_TRY(recording, latseq::Recording::read(reader, line.progress()));
  auto all = latseq::rebuild_as_latseq(recording, ends);
  if (!all) return std::unexpected(std::move(all).error().within(reader.path()));
  return LatseqJourneys{std::move(recording), std::move(*all)};
}

Result<void> print_latseq_journeys(trace::Reader& reader, const LatseqJourneyOptions& options) {
  SJ_TRY(rebuilt, rebuild_as_latseq(reader, options.ends));
  tell_if_not_whole(reader);
  for (const latseq::Journey* const journey : chosen(rebuilt, options))
    SJ_CHECK(print_data(options.json ? latseq::journey_json(rebuilt.recording, *journey)
                                     : journey_text(rebuilt, *journey)));
  return {};
}

Result<void> print_latseq_report(trace::Reader& reader, const latseq::Ends& ends, bool json) {
  SJ_TRY(rebuilt, rebuild_as_latseq(reader, ends));
  const auto& [recording, all] = rebuilt;
  const std::uint64_t orphans = recording.measures().size() - all.events.size();
  if (json) {
    tell_if_not_whole(reader);
    return latseq::print_statistics(recording, all, print_data);
  }
  return print_data(fmt::format(
      "{}{} as LatSeq's own rebuilder reads it: {} journeys from {} inputs\n"
      "{} of {} events are in none of them\n\n{}\n{}\n"
      "A packet that was cut is several journeys here, and events are never used up. Without "
      "--compat: each packet once.\n",
      first_line(reader), printable(recording.file()), count(all.journeys.size()),
      count(all.inputs), count(orphans), count(recording.measures().size()), latency_text(rebuilt),
      paths_text(rebuilt)));
}

}  // namespace sojourn::cli
