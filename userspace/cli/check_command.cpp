// `sojourn check`: what of a trace file is whole, and whether every lost event was counted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/rebuild.h"
#include "analysis/present/words/text_format.h"
#include "analysis/trace/completeness.h"
#include "analysis/trace/reader.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

struct CheckOptions {
  std::string path;
  bool json = false;
};

struct Findings {
  trace::Completeness file;
  std::map<std::uint32_t, std::uint64_t> gaps;      // by stream
  std::map<std::uint32_t, std::uint64_t> filtered;  // by stream: hits without a number
  std::map<std::string, std::uint64_t> ledger;      // by cause

  std::string_view losses() const {
    if (file.unaccounted != 0) return "unaccounted";
    if (!file.ended_in_order || file.is_import) return "unknown";
    return file.lost != 0 || file.missing != 0 ? "accounted" : "complete";
  }
};

Result<Findings> examine(trace::Reader& reader) {
  Findings found;
  ProgressLine line;
  base::ThreadExecutor threads;
  SJ_CHECK(pipeline::read_events(threads, reader, {.progress = line.progress()}));
  found.file = trace::completeness_of(reader);
  for (const trace::Gap& gap : reader.gaps()) ++found.gaps[gap.stream];
  for (const model::LedgerEntry& entry : reader.ledger()) {
    found.ledger[std::string(name(entry.cause))] += entry.count;
    if (entry.cause == model::LossCause::kFiltered) found.filtered[entry.stream] += entry.count;
  }
  return found;
}

double bytes_per_event(const trace::Reader& reader, const Findings& found) {
  return found.file.events == 0
             ? 0
             : static_cast<double>(reader.bytes()) / static_cast<double>(found.file.events);
}

std::uint64_t of_stream(const std::map<std::uint32_t, std::uint64_t>& counts, std::uint32_t id) {
  const auto known = counts.find(id);
  return known == counts.end() ? 0 : known->second;
}

void print_json(const trace::Reader& reader, const Findings& found) {
  using nlohmann::json;
  json streams = json::array();
  for (const auto& [id, stream] : found.file.streams)
    streams.push_back({{"stream", id},
                       {"blocks", stream.blocks},
                       {"events", stream.events},
                       {"gaps", of_stream(found.gaps, id)},
                       {"missing", stream.missing},
                       {"counted", stream.counted},
                       {"filtered", of_stream(found.filtered, id)}});
  json damage = json::array();
  for (const trace::Damage& one : reader.damage())
    damage.push_back({{"offset", one.offset}, {"bytes", one.bytes}, {"what", one.what}});
  json offsets = json::array();
  for (const model::CounterOffset& each : reader.capture().counter_offsets)
    offsets.push_back(
        {{"cpu", each.cpu}, {"ahead_ns", each.ahead_ns}, {"error_ns", each.error_ns}});
  const json counters = {{"offsets", std::move(offsets)},
                         {"corrected", reader.capture().counters_corrected},
                         {"events_of_unknown_cpu", reader.capture().events_of_unknown_cpu}};
  json hosts = json::array();
  for (const model::MergedHost& each : reader.capture().hosts)
    hosts.push_back({{"first_stream", each.first_stream},
                     {"stamp_error_ns", each.stamp_error_ns},
                     {"rate_error_ppb", each.rate_error_ppb}});
  const json all = {{"whole", reader.damage().empty()},
                    {"losses", found.losses()},
                    {"bytes", reader.bytes()},
                    {"events", found.file.events},
                    {"bytes_per_event", bytes_per_event(reader, found)},
                    {"blocks", reader.blocks().size()},
                    {"points", reader.schema().points.size()},
                    {"clock_pairs", reader.clocks().size()},
                    {"counters", counters},
                    {"stamp_error_ns", reader.capture().stamp_error_ns},
                    {"hosts", std::move(hosts)},
                    {"index", reader.had_index()},
                    {"open_ns", reader.capture().open_ns},
                    {"close_ns", reader.capture().close_ns},
                    {"missing", found.file.missing},
                    {"unaccounted", found.file.unaccounted},
                    {"lost", found.file.lost},
                    {"filtered", found.file.filtered},
                    {"ledger", found.ledger},
                    {"streams", std::move(streams)},
                    {"damage", std::move(damage)}};
  fmt::print("{}\n", all.dump(-1, ' ', true, json::error_handler_t::replace));
}

void print_counters(const model::Capture& capture) {
  if (capture.counter_offsets.empty()) return;
  const auto furthest =
      std::ranges::max(capture.counter_offsets, {}, [](const model::CounterOffset& each) {
        return static_cast<std::uint64_t>(std::abs(each.ahead_ns)) + each.error_ns;
      });
  const std::size_t cpus = capture.counter_offsets.size() + 1;
  if (!capture.counters_corrected) {
    fmt::print("counters of {} CPUs agree as far as was measured, within {}\n", cpus,
               present::duration(static_cast<double>(std::abs(furthest.ahead_ns)) +
                                 static_cast<double>(furthest.error_ns)));
    return;
  }
  fmt::print(
      "counters of {} CPUs disagree, CPU {}'s by {:+} ns, and stamps of rings are corrected; "
      "of {} the CPU is not known\n",
      cpus, furthest.cpu, furthest.ahead_ns, counted(capture.events_of_unknown_cpu, "event"));
}

void print_hosts(const model::Capture& capture) {
  if (capture.hosts.empty()) return;
  const auto own = std::ranges::max(capture.hosts, {}, &model::MergedHost::stamp_error_ns);
  fmt::print("hosts    {}: stamps of one host are right within {}, of two within {}\n",
             capture.hosts.size(), present::duration(static_cast<double>(own.stamp_error_ns)),
             present::duration(static_cast<double>(capture.stamp_error_ns)));
}

void print_text(const trace::Reader& reader, const Findings& found) {
  fmt::print("{}   {} of {} in {}, {:.2f} bytes an event\n", bytes(reader.bytes()),
             counted(found.file.events, "event"), counted(reader.schema().points.size(), "point"),
             counted(reader.blocks().size(), "block"), bytes_per_event(reader, found));
  const model::Capture& capture = reader.capture();
  if (!found.file.ended_in_order)
    fmt::print("marks    capture never ended in order: exact from the first mark on only\n");
  else
    fmt::print("marks    exact over {:.3f} s, ended by {}\n",
               static_cast<double>(capture.close_ns - capture.open_ns) / 1e9, capture.ended_by);
  fmt::print("clocks   {} of monotonic and wall time\n", counted(reader.clocks().size(), "pair"));
  print_counters(capture);
  print_hosts(capture);
  fmt::print("index    {}\n", reader.had_index() ? "whole" : "missing: rebuilt from the blocks");

  fmt::print("\nstream       blocks        events     missing      counted\n");
  for (const auto& [id, stream] : found.file.streams)
    if (stream.blocks != 0 || stream.counted != 0)
      fmt::print("{:<6} {:>12} {:>13} {:>11} {:>12}\n", id, grouped(stream.blocks),
                 grouped(stream.events), grouped(stream.missing), grouped(stream.counted));
  for (const auto& [cause, count] : found.ledger)
    if (cause == name(model::LossCause::kFiltered))
      fmt::print("filtered {} (not wanted: no loss)\n", grouped(count));
    else
      fmt::print("lost     {} ({})\n", grouped(count), cause);
  for (const trace::Damage& one : reader.damage())
    fmt::print("damage   {} at {}: {}\n", counted(one.bytes, "byte"), one.offset, one.what);
}

// Describes the unfinished file beside this one, or this one if it is unfinished.
void tell_of_partial(const std::string& path) {
  constexpr std::string_view kPartial = ".partial";
  const bool is_partial = path.ends_with(kPartial);
  const std::string words =
      partial_words(is_partial ? path.substr(0, path.size() - kPartial.size()) : path);
  if (!words.empty()) tell("{}\n", words);
}

Result<void> run(const CheckOptions& options) {
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(found, examine(reader));
  if (options.json)
    print_json(reader, found);
  else
    print_text(reader, found);

  tell_of_partial(options.path);

  const trace::Completeness& file = found.file;
  if (file.damaged_places != 0)
    return fail("{}: damaged in {}, {} in all", options.path, counted(file.damaged_places, "place"),
                counted(file.damaged_bytes, "byte"));
  if (file.unaccounted != 0)
    return fail("{}: {} neither in the trace nor counted as lost", options.path,
                counted(file.unaccounted, "event"));
  if (options.json) return {};
  if (!file.ended_in_order) {
    fmt::print(
        "\nwhole as far as it goes; the capture did not end in order: what came last is missing\n");
    return {};
  }
  if (file.lost != 0 || file.missing != 0)
    fmt::print("\nwhole, and every lost event is accounted for: {}\n", grouped(file.lost));
  else if (file.is_import)
    fmt::print("\nwhole; an import: what its tracer lost is not known\n");
  else
    fmt::print("\nwhole, and nothing was lost\n");
  return {};
}

}  // namespace

Action define_check(Arguments& arguments) {
  auto options = std::make_shared<CheckOptions>();
  add_trace(arguments, options->path);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "Reads and verifies every block.\n"
      "Exit code 0: the file is whole, and every lost event was counted. Exit code 1: the file is "
      "damaged, or events are missing that the ledger does not account for.\n"
      "--json: {\"whole\", \"losses\": complete | accounted | unaccounted | unknown, \"bytes\", "
      "\"events\", \"bytes_per_event\", \"blocks\", \"points\", \"clock_pairs\", "
      "\"counters\": {\"offsets\": [{\"cpu\", \"ahead_ns\", \"error_ns\"}], \"corrected\", "
      "\"events_of_unknown_cpu\"}, \"stamp_error_ns\", "
      "\"hosts\": [{\"first_stream\", \"stamp_error_ns\", \"rate_error_ppb\"}], \"index\", "
      "\"open_ns\", \"close_ns\", \"missing\", \"unaccounted\", \"lost\", \"filtered\", "
      "\"ledger\": {cause: count}, \"streams\": [{\"stream\", \"blocks\", \"events\", \"gaps\", "
      "\"missing\", \"counted\", \"filtered\"}], \"damage\": [{\"offset\", \"bytes\", \"what\"}]}");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
