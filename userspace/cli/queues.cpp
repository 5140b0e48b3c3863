// `sojourn queues`: how deep the target's queues were, from their sampled counters.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "analysis/queues/json.h"
#include "analysis/queues/survey.h"
#include "analysis/queues/topology.h"
#include "analysis/queues/verifier.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/queues_text.h"
#include "userspace/cli/trace_file.h"

namespace sojourn::cli {
namespace {

struct Options {
  std::string path;
  bool depths = false;
  bool topology = false;
  bool dot = false;
  bool json = false;
  bool verify = false;
};

Result<void> read(trace::Reader& reader, queues::Survey& survey, queues::Verifier* verifier) {
  ProgressLine line;
  std::uint64_t done = 0;
  SJ_CHECK(reader.merge([&](const model::EventBatch& events) {
    survey.consume(events);
    if (verifier != nullptr) verifier->consume(events);
    line.update(done += events.size(), reader.events());
    return true;
  }));
  survey.finish();
  if (verifier != nullptr) verifier->finish();
  return {};
}

void print(const Options& options, const trace::Reader& reader, const queues::Survey& survey,
           const queues::Verifier* verifier) {
  if (options.json) {
    fmt::print("{}\n", queues::to_json(reader, survey, verifier, options.depths)
                           .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  if (options.dot) {
    fmt::print("{}", queues::to_dot(survey.stories()));
    return;
  }
  print_queues(reader, survey);
  if (options.topology) print_topology(reader, survey);
  if (options.depths) print_depths(survey);
  if (verifier != nullptr) print_verdicts(survey, *verifier, reader.capture().open_ns);
}

Result<void> run(const Options& options) {
  SJ_TRY(reader, open_trace(options.path));
  queues::Survey survey(reader);
  std::optional<queues::Verifier> verifier;
  if (options.verify) verifier.emplace(reader);
  SJ_CHECK(read(reader, survey, verifier ? &*verifier : nullptr));
  tell_if_not_whole(reader);
  if (survey.stories().empty())
    return fail(
        "{}: has no queues: `sojourn record --queues` samples those that the target "
        "registered (docs/queues.md)",
        options.path);
  print(options, reader, survey, verifier ? &*verifier : nullptr);
  if (verifier && std::ranges::any_of(verifier->discrepancies(),
                                      [](const auto& one) { return !one.events_lost; }))
    return fail("{}: samples and events disagree, and nothing explains it", options.path);
  return {};
}

}  // namespace

Action define_queues(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("trace", options->path, "the trace file, e.g. run.sjt")->required();
  app.add_flag("--depths", options->depths, "how long each queue had each depth");
  app.add_flag("--topology", options->topology,
               "who feeds and who drains which queue, and what changed meanwhile");
  auto* dot = app.add_flag("--dot", options->dot, "the topology as a graph for Graphviz");
  app.add_flag("--json", options->json, "one JSON object instead of text")->excludes(dot);
  app.add_flag("--verify", options->verify,
               "compare each sample with the events of the queue's operations")
      ->excludes(dot);
  app.footer(
      "depth     items in the queue, weighted by time: mean, quantiles, and the most seen\n"
      "empty     how often and for which share of the time; of a pool: it had nothing to give\n"
      "in, out   what went through between the first and the last sample\n"
      "used      of a stage the share of time in which it held something, of a pool that of its\n"
      "          capacity that was taken, on average\n"
      "wait      by Little's law: mean depth over rate; of a pool how long a buffer was taken\n"
      "takes     the time within which a sample that found something new was read\n"
      "\n"
      "A sample holds until the next. docs/queues.md explains how they are taken.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
