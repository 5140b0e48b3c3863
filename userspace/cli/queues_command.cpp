// `sojourn queues`: how deep the target's queues were, from their sampled counters, from the events
// of their operations, and between points from the packets in flight.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/profile/sampled_work.h"
#include "analysis/queues/flow_json.h"
#include "analysis/queues/high_water_marks.h"
#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure_net.h"
#include "analysis/queues/queue_graph.h"
#include "analysis/queues/queues_json.h"
#include "analysis/queues/sampled_queues.h"
#include "analysis/queues/verifier.h"
#include "analysis/report/completeness_words.h"
#include "analysis/report/observer_list.h"
#include "analysis/report/rebuild.h"
#include "analysis/report/text_format.h"
#include "analysis/trace/completeness.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/command.h"
#include "userspace/cli/places_text.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/queues_text.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

constexpr std::size_t kMaxChains = 10;

struct Options {
  std::string path;
  bool places = false;
  bool depths = false;
  bool topology = false;
  bool items = false;
  bool dot = false;
  bool json = false;
  bool verify = false;
  WhereOption where;
  RulesOption rules;
};

// Everything that a trace says of queues.
struct Found {
  trace::Reader& reader;
  const journeys::Topology& topology;
  const queues::ItemSelection& selection;
  queues::SampledQueues sampled_queues;
  queues::Operations operations;
  queues::Places places;
  std::optional<queues::HighWaterMarks> marks = std::nullopt;
  std::optional<queues::Verifier> verifier = std::nullopt;
  ThreadNames threads = {};

  bool has_samples() const { return !sampled_queues.queues().empty(); }
};

Result<void> read(Found& found, const journeys::Rules& rules) {
  ProgressLine line;
  base::ThreadExecutor threads;
  report::ObserverList observers({&found.places, &*found.marks});
  SJ_TRY(totals, report::rebuild(
                     threads, found.reader, rules, observers,
                     [&](std::uint64_t done, std::uint64_t of) { line.update(done, of); },
                     [&](const model::EventBatch& events) {
                       found.sampled_queues.consume(events);
                       found.marks->settle(found.sampled_queues);
                       found.operations.consume(events);
                       if (found.verifier) found.verifier->consume(events);
                       return true;
                     }));
  const std::uint64_t end_ns =
      std::min(found.selection.until_ns, std::max(totals.last_ns, found.reader.capture().close_ns));
  found.marks->finish(found.sampled_queues);
  found.sampled_queues.finish();
  found.operations.finish(end_ns);
  found.places.finish(end_ns);
  if (found.verifier) found.verifier->finish();
  return {};
}

// A queue is deep by all that is in it: of some of its items nothing is said.
queues::PressureNet net_of(const Found& found, bool with_samples) {
  queues::PressureNet net(found.threads);
  if (found.selection.is_selective()) return net;
  if (with_samples) net.add(found.sampled_queues);
  net.add(found.operations);
  net.add(found.places, found.topology);
  return net;
}

void print_json(const Options& options, const Found& found) {
  const queues::PressureNet net = net_of(found, !options.places);
  auto document = queues::to_json(found.reader, found.sampled_queues, *found.marks,
                                  found.verifier ? &*found.verifier : nullptr, options.depths);
  document["operations"] = queues::operations_json(found.operations, found.threads, options.depths);
  document["places"] =
      queues::places_json(found.places, found.topology, found.threads, options.depths);
  document["file"] = report::completeness_json(trace::completeness_of(found.reader));
  document["pressure"] = queues::chains_json(net.chains(kMaxChains), net.names());
  if (options.where.given()) document["where"] = options.where.text();
  fmt::print("{}\n",
             document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_text(const Options& options, const Found& found) {
  const bool with_samples = found.has_samples() && !options.places;
  const std::uint64_t origin = origin_ns(found.reader);
  const queues::QueueEndsById ends = queues::ends_of(found.operations, found.threads);
  fmt::print("{}", first_line(found.reader));
  if (options.where.given())
    fmt::print("{}\n\n", report::wrapped("only what came where " + options.where.text() +
                                             ": depths, rates and waits are of that",
                                         2, line_width()));
  if (with_samples) {
    print_queues(found.reader, found.sampled_queues, ends);
    print_marks(found.sampled_queues, *found.marks, origin);
    fmt::print("\n");
  } else if (options.where.given()) {
    if (!found.reader.queue_changes().empty() && !options.places)
      fmt::print("sampled queues are left out: counters do not tell one item from another\n\n");
  } else if (!found.has_samples()) {
    fmt::print(
        "no queue was sampled (`sojourn record --queues` does): all of this is from events\n\n");
  }
  print_operations(found.operations, origin);
  if (!found.operations.empty() && !found.places.empty()) fmt::print("\n");
  print_places(found.places, found.topology, found.threads, origin);
  const queues::PressureNet net = net_of(found, with_samples);
  print_chains(net.chains(kMaxChains), net.names(), origin);
  if (options.topology) {
    if (with_samples) print_topology(found.reader, found.sampled_queues, ends);
    print_operation_threads(found.operations, found.threads);
    print_place_threads(found.places, found.topology, found.threads);
  }
  if (options.depths) {
    if (with_samples) print_depths(found.sampled_queues);
    print_operation_depths(found.operations);
    print_place_depths(found.places, found.topology);
  }
  if (found.verifier)
    print_comparisons(found.sampled_queues, *found.verifier, found.reader.capture().open_ns);
}

void print(const Options& options, const Found& found) {
  if (options.json)
    print_json(options, found);
  else if (options.dot && found.has_samples() && !options.places)
    fmt::print("{}", queues::to_dot(found.sampled_queues.queues(),
                                    queues::ends_of(found.operations, found.threads)));
  else if (options.dot)
    fmt::print("{}",
               queues::flow_dot(found.places, found.topology, found.operations, found.threads));
  else if (!options.items)
    print_text(options, found);
}

queues::ItemSelection selection_of(const std::optional<filter::EventFilter>& where) {
  if (!where) return {};
  return {.wants = [&where](const model::EventView& event) { return (*where)(event); },
          .from_ns = where->span().from_ns,
          .until_ns = where->span().until_ns};
}

// One line for each stay, as it ends.
queues::Places::TakeStay print_items(const journeys::Topology& topology, std::uint64_t origin) {
  return [&topology, origin](std::uint16_t place, const journeys::Stay& stay) {
    fmt::print("{:.9f} s  {}  {}  from thread {} to thread {}\n",
               static_cast<double>(stay.left_ns - std::min(stay.left_ns, origin)) / 1e9,
               queues::place_text(topology, place),
               report::duration(static_cast<double>(stay.left_ns - stay.entered_ns)),
               stay.entered_by, stay.left_by);
  };
}

// What was asked for has to be there.
Result<void> require_queues(const Options& options, const Found& found) {
  const bool has_any = found.has_samples() || !found.places.empty() || !found.operations.empty();
  if (!has_any && options.where.given())
    return fail("{}: no item came to a queue where {}", options.path, options.where.text());
  if (!has_any)
    return fail(
        "{}: has no queues: `sojourn record --queues` samples those that the target "
        "registered, and no packet went through any point (docs/queues.md)",
        options.path);
  if (options.verify && !found.has_samples())
    return fail("{}: no queue was sampled: there is nothing to compare (`sojourn record --queues`)",
                options.path);
  if (found.verifier && found.verifier->comparisons().empty())
    return fail(
        "{}: no sampled queue makes events of its operations (SJ_ENQUEUE_ITEM and "
        "SJ_DEQUEUE_ITEM): there is nothing to compare",
        options.path);
  return {};
}

Result<void> run(const Options& options) {
  SJ_TRY(rules, options.rules.read());
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(topology, derive(reader, rules));
  const std::uint64_t open_ns = reader.capture().open_ns;
  SJ_TRY(where, options.where.events(reader));
  const queues::ItemSelection selection = selection_of(where);
  Found found = {
      .reader = reader,
      .topology = topology,
      .selection = selection,
      .sampled_queues = queues::SampledQueues(reader, selection),
      .operations = queues::Operations(reader.schema(), reader.queue_changes(), open_ns, selection),
      .places = queues::Places(
          topology, open_ns,
          options.items ? print_items(topology, origin_ns(reader)) : queues::Places::TakeStay(),
          selection)};
  if (options.verify) found.verifier.emplace(reader);
  found.threads = profile::thread_names(reader.context());
  found.marks.emplace(topology, found.sampled_queues, found.threads);
  const std::string told = options.items ? tell_if_not_whole(reader) : "";
  SJ_CHECK(read(found, rules));
  const auto is_there = require_queues(options, found);
  if (!is_there || options.items || options.json || options.dot) tell_if_not_whole(reader, told);
  SJ_CHECK(is_there);
  print(options, found);
  if (found.verifier && std::ranges::any_of(found.verifier->discrepancies(),
                                            [](const auto& one) { return !one.events_lost; }))
    return fail("{}: samples and events disagree, and nothing explains it", options.path);
  return {};
}

}  // namespace

Action define_queues(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  arguments.add_flag("--places", options->places,
                     "Only packets in flight between points, from events; no samples");
  arguments.add_flag("--depths", options->depths, "How long each queue had each depth");
  arguments.add_flag("--topology", options->topology,
                     "Who feeds and who drains each queue, and what changed during the capture");
  const Argument dot =
      arguments.add_flag("--dot", options->dot, "Print the topology as a Graphviz graph");
  const Argument items = arguments
                             .add_flag("--items", options->items,
                                       "One line an item and place: how long it stayed there")
                             .excludes(dot);
  arguments.add_flag("--json", options->json, "One JSON object instead of text")
      .excludes(dot)
      .excludes(items);
  arguments
      .add_flag("--verify", options->verify,
                "Compare each sampled depth with the depth that the queue's events give")
      .excludes(dot)
      .excludes(items);
  options->where.define(arguments,
                        "Only items that entered by an event for which this is true, e.g. 'thread "
                        "== mac && time < 1s' (docs/filters.md)");
  options->rules.define(arguments);
  arguments.when_parsed([options] {
    if (options->verify && options->where.given())
      refuse_usage("--verify compares all that went through: no --where");
  });
  arguments.footer(
      "depth     items in the queue, weighted by time: mean, quantiles, maximum\n"
      "empty     how often the queue was empty, and for which share of the time; a pool is empty "
      "when it has nothing to give\n"
      "in, out   items that entered and left between the first and the last sample\n"
      "used      of a stage: the share of time in which it held an item. Of a pool: the mean share "
      "of its capacity that was taken\n"
      "wait      from samples by Little's law: mean depth divided by rate; of a pool how long a "
      "buffer was taken. From events: the time each item stayed, as mean, quantiles and maximum\n"
      "takes     how long reading a sample took, where it found something new\n"
      "Little    arrival rate times mean wait: near the mean depth where both are right\n"
      "Kingman   the mean wait of a single-server queue (G/G/1) with these arrivals and service "
      "times; far from wait where the queue is not such a one\n"
      "\n"
      "A sample counts until the next one. docs/queues.md says how samples are taken.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
