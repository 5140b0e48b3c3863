// `sojourn journeys`: packets one by one, each with every event of its way.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/journeys/rule_file.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/journeys/journey_json.h"
#include "analysis/present/journeys/journey_text.h"
#include "analysis/present/pictures/waterfall_text.h"
#include "analysis/present/words/text_format.h"
#include "analysis/report/journey_selection.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/latseq_output.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/script_option.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

using journeys::Journey;

struct JourneysOptions {
  std::string path;
  std::string direction;
  std::string compat;
  std::vector<std::uint64_t> ids;
  std::uint64_t limit = 0;
  std::uint64_t worst = 0;
  bool json = false;
  bool incomplete = false;
  bool inside = false;
  bool explain = false;
  bool waterfall = false;
  WhereOption where;
  RulesOption rules;
  ScriptOption script;
};

report::JourneyWishes wishes_of(const JourneysOptions& options, ScriptRun::Predicate keep) {
  report::JourneyWishes wishes = {.ids = options.ids,
                                  .limit = options.limit,
                                  .worst = options.worst,
                                  .incomplete = options.incomplete,
                                  .inside = options.inside};
  if (!options.direction.empty())
    wishes.direction =
        options.direction == "U" ? model::Direction::kUplink : model::Direction::kDownlink;
  wishes.keep = std::move(keep);
  return wishes;
}

// The function that formats one journey.
std::function<std::string(const Journey&)> words_of(const JourneysOptions& options,
                                                    const trace::Reader& reader) {
  const model::Schema& schema = reader.schema();
  const auto& hosts = reader.capture().hosts;
  if (options.waterfall)
    return [&schema](const Journey& journey) {
      return present::waterfall_text(journey, schema, picture_width()) + "\n";
    };
  if (!options.json)
    return [&schema, &hosts](const Journey& journey) {
      return present::journey_text(journey, schema, hosts) + "\n";
    };
  present::CpuOfStream cpus;
  for (const auto& stream : reader.streams()) cpus[stream.id] = stream.cpu;
  return [&schema, &hosts, cpus = std::move(cpus)](const Journey& journey) {
    return present::journey_json(journey, schema, cpus, hosts) + "\n";
  };
}

// Says if no journey has a latency, as then none is the slowest.
void tell_if_timeless(const std::string& path, const report::JourneySelection& found) {
  const std::uint64_t packets = found.at_one_point();
  if (found.selected() == 0 && packets != 0)
    tell("{}: {} seen at one point only, so {} no latency\n", path,
         packets == 1 ? "1 packet was" : present::count(packets) + " packets were",
         packets == 1 ? "it has" : "they have");
}

// Checks that the journeys that were asked for by id were found.
Result<void> require_ids(const JourneysOptions& options, const report::JourneySelection& found) {
  for (const auto id : options.ids)
    if (!found.has_found(id))
      return fail("{}: there is no journey {}: the last one is {}", options.path, id,
                  found.last_id());
  return {};
}

Result<void> run(const JourneysOptions& options) {
  SJ_TRY(rules, options.rules.read());
  SJ_TRY(opened, open_trace(options.path));
  SJ_TRY(script, options.script.start(opened, ScriptOption::Things::kJourneys));
  SJ_TRY(input, derive_input(std::move(opened), rules));
  trace::Reader& reader = input.reader();
  if (options.explain)
    return print_data(journeys::rules_text(input.topology(), reader.schema(), input.rules()));
  if (!options.compat.empty())
    return print_latseq_journeys(reader, {.ends = latseq_ends(input.rules()),
                                          .direction = options.direction,
                                          .limit = options.limit,
                                          .worst = options.worst,
                                          .json = options.json});
  ProgressLine line;
  SJ_TRY(where, options.where.journeys(reader));
  const auto words = words_of(options, reader);
  report::ActivityLog activities(reader.schema());
  report::JourneySelection selection(
      wishes_of(options, script.predicate(where)),
      [&](const Journey& journey) {
        line.clear();
        fmt::print("{}", words(journey));
      },
      &activities);
  const std::string notice = tell_if_not_whole(reader);
  base::ThreadExecutor threads;
  pipeline::TracePass pass(threads, input);
  if (!activities.is_empty()) pass.observe(activities);
  pass.observe(selection);
  pass.show(line.progress());
  pass.consume([&](const model::EventBatch&) { return !selection.is_full(); });
  SJ_CHECK(pass.run());
  line.clear();
  SJ_CHECK(script.check());
  selection.finish();
  tell_if_timeless(options.path, selection);
  tell_if_not_whole(reader, notice);
  SJ_CHECK(require_ids(options, selection));
  return script.finish();
}

}  // namespace

Action define_journeys(Arguments& arguments) {
  auto options = std::make_shared<JourneysOptions>();
  add_trace(arguments, options->path);
  arguments
      .add_option("--id", options->ids,
                  "Only the journey of this number (\"id\" in JSON). Several: --id 3,7")
      .type_name("N")
      .delimiter(',')
      .check(whole_number(0));
  arguments.add_option("--limit", options->limit, "Print at most this many")
      .type_name("N")
      .check(whole_number(1));
  arguments
      .add_option("--worst", options->worst,
                  "Only the N slowest complete journeys, the slowest first; with --incomplete "
                  "those that are not complete")
      .type_name("N")
      .check(whole_number(1, 100'000));
  choose_from(arguments.add_option("--dir", options->direction, "Only downlink (D) or uplink (U)"),
              {"D", "U"});
  options->where.define(arguments,
                        "Only journeys for which this is true, e.g. 'rnti == 0x4601 && at(rlc.tx) "
                        "> 500us' (docs/filters.md)");
  arguments.add_flag("--incomplete", options->incomplete,
                     "Only journeys that are not complete: dropped, censored or incomplete");
  arguments.add_flag("--inside", options->inside,
                     "Only packets that were inside the target when the capture ended, the oldest "
                     "first: where they were, and for how long");
  choose_from(arguments.add_option("--compat", options->compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does; with --json "
                                   "also print them as it does"),
              {"latseq"});
  options->rules.define(arguments);
  options->script.define(arguments);
  arguments.add_flag("--explain-rules", options->explain,
                     "Only print the rules in force: which point feeds which, by which ids, in the "
                     "form of --rules");
  arguments.add_flag("--waterfall", options->waterfall,
                     "A picture of each journey: a lane a place, time across, as wide as the "
                     "terminal, or 100 columns");
  arguments.add_flag("--json", options->json, "One JSON object a line");
  arguments.when_parsed([options] {
    if (options->explain && (options->json || options->where.given() || !options->compat.empty()))
      refuse_usage("--explain-rules is a text about all points: no --json, --where or --compat");
    if (!options->compat.empty() && options->script.given())
      refuse_usage("--compat latseq rebuilds as LatSeq does, so it has no --script");
    if (options->waterfall && (options->json || options->explain || !options->compat.empty()))
      refuse_usage("--waterfall is a picture: no --json, --explain-rules or --compat");
    std::ranges::sort(options->ids);
    const auto twice = std::ranges::unique(options->ids);
    options->ids.erase(twice.begin(), twice.end());
    if (!options->ids.empty() &&
        (options->limit != 0 || options->worst != 0 || options->incomplete || options->inside ||
         options->explain || !options->direction.empty() || options->where.given() ||
         !options->compat.empty()))
      refuse_usage(
          "--id says which journeys: no --limit, --worst, --dir, --where, --incomplete, --inside, "
          "--explain-rules or --compat");
    if (options->inside && (options->worst != 0 || options->incomplete))
      refuse_usage("--inside are those that had not ended: no --worst, no --incomplete");
    if (!options->compat.empty() &&
        (options->where.given() || options->incomplete || options->inside))
      refuse_usage(
          "--compat latseq knows complete journeys only: no --where, --incomplete or --inside");
  });
  arguments.footer(
      "A downlink journey follows one packet from its input to everything its bytes reached. An "
      "uplink journey goes from the packet that left back to everything it was made from.\n"
      "Each line is an event: its number, the time since the journey began, the point, and the "
      "fields that are new or changed. Steps below a fork are indented.\n"
      "\n"
      "joins N    this event continues N of the lines above\n"
      "repeats    this event sends the unit of that line again\n"
      "whole      this event completed the packet. Where it is also the one by which the packet "
      "came in, there is no latency\n"
      "ambiguous  what else this event may have come from, or why that is not sure\n"
      "\n"
      "With --waterfall a bar is a stay of the packet or of a piece: # on the way that made it "
      "whole, = of another piece, % sent again. The time behind a lane is its longest stay.\n"
      "With --script, meanwhile is what the script made on the thread that ended a stay, while "
      "that "
      "lasted; in the picture ~ is an activity, ! a marker.\n"
      "\n"
      "Journeys are printed in the order in which they ended.");
  return [options] {
    auto done = run(*options);
    return done ? options->script.outcome() : done;
  };
}

}  // namespace sojourn::cli
