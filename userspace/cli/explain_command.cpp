// `sojourn explain`: why packets were late, one by one and in a table of causes.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/causes/slowest_verdicts.h"
#include "analysis/causes/stay_floors.h"
#include "analysis/host/host_json.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/json_format.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/trace/completeness.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/deadline_search.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

struct ExplainOptions {
  std::string path;
  std::string direction;
  std::uint64_t worst = 20;
  DeadlineOption deadline;
  bool json = false;
  WhereOption where;
  RulesOption rules;
};

// The condition for a packet to be explained.
using Wanted = causes::Explainer::Wanted;

Result<void> run(const ExplainOptions& options) {
  SJ_TRY(input, open_input(options.path, options.rules));
  const trace::Reader& reader = input.reader();
  SJ_TRY(where, options.where.journeys(reader));
  Wanted wanted;
  if (where || !options.direction.empty())
    wanted = [&](const journeys::Journey& journey) {
      const bool is_direction =
          options.direction.empty() || letter(journey.direction) == options.direction[0];
      return is_direction && (!where || (*where)(journey));
    };
  ProgressLine line;
  base::ThreadExecutor threads;
  SJ_TRY(deadlines, find_deadlines(options.deadline, input, threads, wanted, line));
  causes::SlowestVerdicts worst(options.worst);
  report::LatenessAnalysis inquiry(input, deadlines, wanted,
                                   [&](const causes::Verdict& verdict) { worst.add(verdict); });
  causes::StayFloors floors(input.topology());
  const auto machine = host::from_json(reader.host().measured);
  SJ_CHECK(inquiry.run(
      threads, is_deadline_searched(options.deadline) ? line.progress(1, 2) : line.progress(),
      machine ? &floors : nullptr));
  line.clear();
  const present::CausesContent content = {
      .path = options.path,
      .target = reader.target(),
      .schema = reader.schema(),
      .topology = input.topology(),
      .names = inquiry.names(),
      .tally = inquiry.tally(),
      .found = inquiry.found(),
      .deadlines = deadlines,
      .was_given = options.deadline.given(),
      .where = options.where.text(),
      .missing = present::missing_evidence(reader.context(), !reader.queue_changes().empty()),
      .worst = std::move(worst).take(),
      .fastest =
          machine ? floors.as_fast_as_allowed(*machine) : std::vector<causes::StayFloors::Row>(),
      .width = line_width()};
  if (!options.json) return print_data(first_line(reader) + present::causes_text(content));
  tell_if_not_whole(reader);
  auto document = present::causes_json(content);
  document["file"] = present::completeness_json(trace::completeness_of(reader));
  return print_data(present::json_text(document));
}

}  // namespace

Action define_explain(Arguments& arguments) {
  auto options = std::make_shared<ExplainOptions>();
  add_trace(arguments, options->path);
  arguments.when_parsed([options] { options->deadline.check(); });
  options->deadline.define(arguments,
                           "A packet is late when it took longer than this; by default the slowest "
                           "1 % of each direction are late");
  arguments
      .add_option("--worst", options->worst, "Explain this many of the slowest packets, one by one")
      .type_name("N")
      .check(whole_number(1, 100'000))
      .capture_default_str();
  choose_from(arguments.add_option("--dir", options->direction, "Only downlink (D) or uplink (U)"),
              {"D", "U"});
  options->where.define(
      arguments, "Only packets for which this is true, e.g. 'rnti == 0x4601' (docs/filters.md)");
  options->rules.define(arguments);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "A packet's time is divided into parts, and each part has a cause. What its thread did "
      "meanwhile: it worked on the packet (work), it worked on packets ahead of it (queue), it "
      "waited for a CPU, it slept or waited for a lock, or it was interrupted. What the packet "
      "waited for: a slot, its other segments, a packet that had to go first, or a "
      "retransmission.\n"
      "A packet is counted under the cause that took most of its time. \"time in all\" is the sum "
      "of a cause's parts over all late packets.\n"
      "\n"
      "Threads are known from kernel context in the trace:\n"
      "  sojourn record -p PID --context sched,irq --queues -o run.sjt\n"
      "docs/explain.md explains how the time is divided.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
