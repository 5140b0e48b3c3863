// `sojourn queues`: how deep the target's queues were, from their sampled counters, from the events
// of their operations, and between points from the packets in flight.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/present/words/json_format.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/queues/queue_survey.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

constexpr std::size_t kMaxChains = 10;

struct QueuesOptions {
  std::string path;
  bool places = false;
  bool depths = false;
  bool topology = false;
  bool items = false;
  bool dot = false;
  bool svg = false;
  bool json = false;
  bool verify = false;
  WhereOption where;
  RulesOption rules;
};

queues::ItemSelection selection_of(const std::optional<filter::EventFilter>& where) {
  if (!where) return {};
  return {.wants = [&where](const model::EventView& event) { return (*where)(event); },
          .from_ns = where->span().from_ns,
          .until_ns = where->span().until_ns};
}

// Prints one line for each stay, when it ends.
queues::Places::TakeStay print_items(const journeys::Topology& topology, std::uint64_t origin_ns) {
  return [&topology, origin_ns](std::uint16_t place, const journeys::Stay& stay) {
    fmt::print("{}", present::stay_text(topology, place, stay, origin_ns));
  };
}

Result<void> gather(pipeline::TraceInput& input, queues::QueueSurvey& survey) {
  ProgressLine line;
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  for (journeys::Observer* const observer : survey.observers()) pass.observe(*observer);
  pass.show(line.progress());
  pass.consume([&](const model::EventBatch& events) {
    survey.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  survey.finish(totals.last_ns);
  return {};
}

// Fails if a queue that was asked for is not in the trace.
Result<void> require_queues(const QueuesOptions& options, const queues::QueueSurvey& survey) {
  if (survey.is_empty() && options.where.given())
    return fail("{}: no item came to a queue where {}", options.path, options.where.text());
  if (survey.is_empty())
    return fail(
        "{}: has no queues: `sojourn record --queues` samples those that the target "
        "registered, and no packet went through any point (docs/queues.md)",
        options.path);
  if (options.verify && !survey.has_samples())
    return fail("{}: no queue was sampled: there is nothing to compare (`sojourn record --queues`)",
                options.path);
  if (options.verify && survey.verifier()->comparisons().empty())
    return fail(
        "{}: no sampled queue makes events of its operations (SJ_ENQUEUE_ITEM and "
        "SJ_DEQUEUE_ITEM): there is nothing to compare",
        options.path);
  return {};
}

void print(const QueuesOptions& options, const trace::Reader& reader,
           const queues::QueueSurvey& survey) {
  const queues::PressureNet net =
      survey.pressure(options.json ? !options.places : survey.has_samples() && !options.places);
  const present::QueuesContent content = {
      .reader = reader,
      .survey = survey,
      .pressure = {.chains = net.chains(kMaxChains), .names = net.names()},
      .origin_ns = pipeline::origin_ns(reader),
      .where = options.where.text(),
      .leaves_samples = options.places,
      .has_depths = options.depths,
      .has_topology = options.topology,
      .width = line_width()};
  if (options.json)
    fmt::print("{}", present::json_text(present::queues_json(content)));
  else if (options.dot)
    fmt::print("{}", present::dot_text(present::queues_graph(content)));
  else if (options.svg)
    fmt::print("{}", present::svg_text(present::queues_graph(content)));
  else
    fmt::print("{}{}", first_line(reader), present::queues_text(content));
}

Result<void> run(const QueuesOptions& options) {
  SJ_TRY(input, open_input(options.path, options.rules));
  const trace::Reader& reader = input.reader();
  SJ_TRY(where, options.where.events(reader));
  queues::QueueSurvey survey(reader, input.topology(), selection_of(where),
                             profile::thread_names(reader.context()), options.verify,
                             options.items
                                 ? print_items(input.topology(), pipeline::origin_ns(reader))
                                 : queues::Places::TakeStay());
  const std::string notice = options.items ? tell_if_not_whole(reader) : "";
  SJ_CHECK(gather(input, survey));
  const auto is_there = require_queues(options, survey);
  const bool is_data = options.items || options.json || options.dot || options.svg;
  if (!is_there || is_data) tell_if_not_whole(reader, notice);
  SJ_CHECK(is_there);
  if (!options.items) print(options, reader, survey);
  if (options.verify && std::ranges::any_of(survey.verifier()->discrepancies(),
                                            [](const auto& one) { return !one.events_lost; }))
    return fail("{}: samples and events disagree, and nothing explains it", options.path);
  return {};
}

}  // namespace

Action define_queues(Arguments& arguments) {
  auto options = std::make_shared<QueuesOptions>();
  add_trace(arguments, options->path);
  arguments.add_flag("--places", options->places,
                     "Only packets in flight between points, from events; no samples");
  arguments.add_flag("--depths", options->depths, "How long each queue had each depth");
  arguments.add_flag("--topology", options->topology,
                     "Who feeds and who drains each queue, and what changed during the capture");
  const Argument dot =
      arguments.add_flag("--dot", options->dot, "Print the topology as a Graphviz graph");
  const Argument svg =
      arguments.add_flag("--svg", options->svg, "The same as a picture").excludes(dot);
  const Argument items = arguments
                             .add_flag("--items", options->items,
                                       "One line an item and place: how long it stayed there")
                             .excludes(dot)
                             .excludes(svg);
  arguments.add_flag("--json", options->json, "One JSON object instead of text")
      .excludes(dot)
      .excludes(svg)
      .excludes(items);
  arguments
      .add_flag("--verify", options->verify,
                "Compare each sampled depth with the depth that the queue's events give")
      .excludes(dot)
      .excludes(svg)
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
