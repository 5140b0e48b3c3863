// `sojourn check`: what of a trace file is whole, and whether every lost event was counted.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/trace/reader.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_file.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

struct Options {
  std::string path;
  bool json = false;
};

struct StreamState {
  std::uint64_t blocks = 0;
  std::uint64_t events = 0;   // that could be read
  std::uint64_t missing = 0;  // hits that are not in the file, as far as is known
  std::uint64_t gaps = 0;
  std::uint64_t counted = 0;   // by the ledger, of losses that took a sequence number
  std::uint64_t filtered = 0;  // hits that were not wanted: they have no number

  // More may be counted than is missed: what a stream lost after its last event leaves no gap, and
  // shows only in a capture that ended in order.
  std::uint64_t unaccounted() const { return missing > counted ? missing - counted : 0; }
};

struct Findings {
  std::uint64_t events = 0;
  std::map<std::uint32_t, StreamState> streams;
  std::map<std::string, std::uint64_t> ledger;  // by cause
  std::uint64_t lost = 0;                       // the ledger's total, but for
  std::uint64_t filtered = 0;                   // what was not wanted
  std::uint64_t missing = 0;
  std::uint64_t unaccounted = 0;
  bool ended_in_order = false;
  bool imported = false;  // what its tracer lost is in no ledger

  std::string_view losses() const {
    if (unaccounted != 0) return "unaccounted";
    if (!ended_in_order || imported) return "unknown";
    return lost != 0 || missing != 0 ? "accounted" : "complete";
  }
};

bool ended_in_order(const trace::Reader& reader) {
  return reader.capture().close_ns > reader.capture().open_ns;
}

Result<Findings> examine(trace::Reader& reader) {
  Findings found;
  ProgressLine line;
  SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
    found.events += batch.size();
    for (const std::uint32_t stream : batch.stream()) ++found.streams[stream].events;
    line.update(found.events, reader.events());
    return true;
  }));
  for (const model::Stream& stream : reader.streams()) found.streams[stream.id];
  for (const trace::BlockInfo& block : reader.blocks()) ++found.streams[block.stream].blocks;
  for (const trace::Gap& gap : reader.gaps()) {
    StreamState& stream = found.streams[gap.stream];
    ++stream.gaps;
    stream.missing += gap.count;
  }
  found.ended_in_order = ended_in_order(reader);
  found.imported = reader.capture().engine == model::Engine::kImport;
  const std::vector<std::uint64_t>& hits = reader.capture().stream_hits;
  const std::vector<std::uint64_t>& first = reader.capture().stream_first;
  for (auto& [id, stream] : found.streams) {
    const std::uint64_t kept = stream.events + (id < first.size() ? first[id] : 0);
    if (id < hits.size() && hits[id] >= kept) stream.missing = hits[id] - kept;
  }
  for (const model::LedgerEntry& entry : reader.ledger()) {
    found.ledger[std::string(name(entry.cause))] += entry.count;
    (entry.cause == model::LossCause::kFiltered ? found.filtered : found.lost) += entry.count;
    if (entry.cause == model::LossCause::kFiltered)
      found.streams[entry.stream].filtered += entry.count;
    if (model::takes_sequence_number(entry.cause))
      found.streams[entry.stream].counted += entry.count;
  }
  for (const auto& [id, stream] : found.streams) {
    found.missing += stream.missing;
    found.unaccounted += stream.unaccounted();
  }
  return found;
}

double bytes_per_event(const trace::Reader& reader, const Findings& found) {
  return found.events == 0
             ? 0
             : static_cast<double>(reader.bytes()) / static_cast<double>(found.events);
}

void print_json(const trace::Reader& reader, const Findings& found) {
  using nlohmann::json;
  json streams = json::array();
  for (const auto& [id, stream] : found.streams)
    streams.push_back({{"stream", id},
                       {"blocks", stream.blocks},
                       {"events", stream.events},
                       {"gaps", stream.gaps},
                       {"missing", stream.missing},
                       {"counted", stream.counted},
                       {"filtered", stream.filtered}});
  json damage = json::array();
  for (const trace::Damage& one : reader.damage())
    damage.push_back({{"offset", one.offset}, {"bytes", one.bytes}, {"what", one.what}});
  const json all = {{"whole", reader.damage().empty()},
                    {"losses", found.losses()},
                    {"bytes", reader.bytes()},
                    {"events", found.events},
                    {"bytes_per_event", bytes_per_event(reader, found)},
                    {"blocks", reader.blocks().size()},
                    {"points", reader.schema().points.size()},
                    {"clock_pairs", reader.clocks().size()},
                    {"index", reader.had_index()},
                    {"open_ns", reader.capture().open_ns},
                    {"close_ns", reader.capture().close_ns},
                    {"missing", found.missing},
                    {"unaccounted", found.unaccounted},
                    {"lost", found.lost},
                    {"filtered", found.filtered},
                    {"ledger", found.ledger},
                    {"streams", std::move(streams)},
                    {"damage", std::move(damage)}};
  fmt::print("{}\n", all.dump(-1, ' ', true, json::error_handler_t::replace));
}

void print_text(const trace::Reader& reader, const Findings& found) {
  fmt::print("{}   {} of {} in {}, {:.2f} bytes an event\n", bytes(reader.bytes()),
             counted(found.events, "event"), counted(reader.schema().points.size(), "point"),
             counted(reader.blocks().size(), "block"), bytes_per_event(reader, found));
  const model::Capture& capture = reader.capture();
  if (!ended_in_order(reader))
    fmt::print("marks    capture never ended in order: exact from the first mark on only\n");
  else
    fmt::print("marks    exact over {:.3f} s, ended by {}\n",
               static_cast<double>(capture.close_ns - capture.open_ns) / 1e9, capture.ended_by);
  fmt::print("clocks   {} of monotonic and wall time\n", counted(reader.clocks().size(), "pair"));
  fmt::print("index    {}\n", reader.had_index() ? "whole" : "missing: rebuilt from the blocks");

  fmt::print("\nstream       blocks        events     missing      counted\n");
  for (const auto& [id, stream] : found.streams)
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

Result<void> run(const Options& options) {
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(found, examine(reader));
  if (options.json)
    print_json(reader, found);
  else
    print_text(reader, found);

  if (!reader.damage().empty()) {
    std::uint64_t damaged = 0;
    for (const trace::Damage& one : reader.damage()) damaged += one.bytes;
    return fail("{}: damaged in {}, {} in all", options.path,
                counted(reader.damage().size(), "place"), counted(damaged, "byte"));
  }
  if (found.unaccounted != 0)
    return fail("{}: {} neither in the trace nor counted as lost", options.path,
                counted(found.unaccounted, "event"));
  if (options.json) return {};
  if (!found.ended_in_order) {
    fmt::print(
        "\nwhole as far as it goes; the capture did not end in order: what came last is missing\n");
    return {};
  }
  if (found.lost != 0 || found.missing != 0)
    fmt::print("\nwhole, and every lost event is accounted for: {}\n", grouped(found.lost));
  else if (found.imported)
    fmt::print("\nwhole; an import: what its tracer lost is not known\n");
  else
    fmt::print("\nwhole, and nothing was lost\n");
  return {};
}

}  // namespace

Action define_check(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "Reads every block and verifies it. Exit code 0: the file is whole, and every event that was "
      "lost was counted. Exit code 1: it is damaged, or events are missing that nothing accounts "
      "for.\n"
      "--json: {\"whole\", \"losses\": complete | accounted | unaccounted | unknown, \"bytes\", "
      "\"events\", \"bytes_per_event\", \"blocks\", \"points\", \"clock_pairs\", \"index\", "
      "\"open_ns\", \"close_ns\", \"missing\", \"unaccounted\", \"lost\", \"filtered\", "
      "\"ledger\": {cause: count}, \"streams\": [{\"stream\", \"blocks\", \"events\", \"gaps\", "
      "\"missing\", \"counted\", \"filtered\"}], \"damage\": [{\"offset\", \"bytes\", \"what\"}]}");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
