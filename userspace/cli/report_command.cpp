// `sojourn report`: where packets spent their time, on one page.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/journeys/rule_file.h"
#include "analysis/pipeline/filtering_observer.h"
#include "analysis/pipeline/observer_list.h"
#include "analysis/present/report/cdf.h"
#include "analysis/present/report/costs_part.h"
#include "analysis/present/report/groups_report.h"
#include "analysis/present/report/paste.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/words/json_format.h"
#include "analysis/present/words/text_format.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/report/groups.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/report/rebuild.h"
#include "analysis/report/slot_length.h"
#include "analysis/report/slowest_journeys.h"
#include "analysis/report/summary.h"
#include "analysis/report/trace_extras.h"
#include "analysis/trace/completeness.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/latseq_output.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

struct Options {
  std::string path;
  std::string compat;
  bool json = false;
  bool points = false;
  bool explain = false;
  bool costs = false;
  bool paste = false;
  std::string by;
  std::string cdf;
  DeadlineOption deadline;
  WhereOption where;
  RulesOption rules;
};

// Of what is no data but a text for people.
std::string text(const Options& options, const present::ReportContent& content,
                 report::SlowestJourneys& worst, const report::Groups* groups) {
  if (options.cdf == "text") return present::cdf_text(content, groups);
  if (groups != nullptr) return present::groups_text(content, *groups);
  if (options.costs) return present::costs_text(content);
  if (options.paste)
    return present::to_markdown(
        content, worst,
        {"sojourn " SOJOURN_VERSION, options.rules.given() ? "stated with --rules" : ""});
  return present::report_text(content, options.points);
}

// Data says nothing but itself: what the file lacks is on stderr. Whole texts say it themselves.
Result<void> print(const Options& options, const trace::Reader& reader,
                   const present::ReportContent& content, report::SlowestJourneys& worst,
                   const report::Groups* groups) {
  const bool is_data = options.json || options.cdf == "csv" || options.cdf == "json";
  if (!is_data) {
    const bool says_it = options.cdf.empty() && groups == nullptr && !options.costs;
    return print_data((says_it ? "" : first_line(reader)) + text(options, content, worst, groups));
  }
  tell_if_not_whole(reader);
  if (options.cdf == "csv") return print_data(present::cdf_csv(content, groups));
  if (options.cdf == "json")
    return print_data(present::json_text(present::cdf_json(content, groups)));
  return print_data(present::json_text(groups != nullptr ? present::groups_json(content, *groups)
                                                         : present::report_json(content)));
}

present::Facts facts_of(const Options& options, const trace::Reader& reader) {
  return {options.path,
          reader.schema(),
          reader.targets(),
          reader.host(),
          reader.capture(),
          reader.ledger(),
          trace::completeness_of(reader)};
}

// Points and threads count events as they are: no journey is rebuilt for them.
Result<void> run_of_events(const Options& options, trace::Reader& reader,
                           const journeys::Topology& topology, report::By by) {
  SJ_TRY(where, options.where.events(reader));
  report::Groups groups(by, reader.schema(), topology, profile::thread_names(reader.context()));
  journeys::Totals totals;
  std::uint64_t kept = 0;
  std::uint64_t seen = 0;
  std::vector<std::uint32_t> rows;
  ProgressLine line;
  SJ_CHECK(reader.merge([&](const model::EventBatch& events) {
    if (events.empty()) return true;
    if (totals.events == 0) totals.first_ns = events.ts_ns().front();
    totals.last_ns = events.ts_ns().back();
    totals.events += events.size();
    seen +=
        static_cast<std::uint64_t>(std::ranges::count_if(events.point(), [&](model::PointId point) {
          return point < topology.points.size() && topology.points[point].of_target;
        }));
    select(where, events, rows);
    for (const std::uint32_t row : rows) kept += groups.on_event(events[row]) ? 1 : 0;
    line.update(totals.events, reader.events());
    return true;
  }));
  line.clear();
  groups.finish();
  const present::Facts facts = facts_of(options, reader);
  const report::Summary none(topology, reader.capture().open_ns);
  present::ReportContent content = {facts, topology, totals, none};
  content.width = line_width();
  if (where)
    content.selection = {.where = options.where.text(),
                         .kept = kept,
                         .seen = seen,
                         .from_ns = where->span().from_ns,
                         .until_ns = where->span().until_ns,
                         .of_events = true};
  report::SlowestJourneys worst;
  return print(options, reader, content, worst, &groups);
}

Result<void> run(const Options& options) {
  SJ_TRY(rules, options.rules.read());
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(topology, derive(reader, rules));
  if (options.explain) return print_data(journeys::rules_text(topology, reader.schema(), rules));
  if (!options.compat.empty()) return print_latseq_report(reader, latseq_ends(rules), options.json);
  const auto by = report::by_from(options.by);
  if (by && report::counts_events(*by)) return run_of_events(options, reader, topology, *by);
  SJ_TRY(where, options.where.journeys(reader));
  report::Summary summary(topology, reader.capture().open_ns);
  report::SlowestJourneys worst;
  std::vector<journeys::Observer*> observers = {&summary};
  if (options.paste) observers.push_back(&worst);
  std::optional<report::Groups> groups;
  if (by) {
    groups.emplace(*by, reader.schema(), topology, profile::thread_names(reader.context()));
    observers.push_back(&*groups);
  }
  pipeline::ObserverList several(observers);
  pipeline::FilteringObserver narrowed(
      several, topology, [&](const journeys::Journey& journey) { return (*where)(journey); });
  journeys::Observer& all =
      observers.size() > 1 ? static_cast<journeys::Observer&>(several) : summary;
  journeys::Observer& observer = where ? static_cast<journeys::Observer&>(narrowed) : all;
  report::TraceExtras beside(reader, topology);
  report::SlotLength slots(reader.schema());
  ProgressLine line;
  const auto progress = [&](std::uint64_t done, std::uint64_t of) { line.update(done, of); };
  const auto consume = [&](const model::EventBatch& events) {
    beside.consume(events);
    if (options.deadline.asks_events()) slots.consume(events);
    return true;
  };
  base::ThreadExecutor threads;
  SJ_TRY(totals, &observer == &summary
                     ? report::rebuild_summary(threads, reader, topology, rules,
                                               std::thread::hardware_concurrency(), summary,
                                               progress, consume)
                     : report::rebuild(threads, reader, rules, observer, progress, consume));
  line.clear();
  const std::uint64_t end_ns = std::max(totals.last_ns, reader.capture().close_ns);
  summary.finish(end_ns);
  beside.finish(end_ns);
  if (groups) groups->finish();
  const present::Facts facts = facts_of(options, reader);
  present::ReportContent content = {facts, topology, totals, summary};
  if (!options.paste) content.width = line_width();
  report::LatenessAnalysis inquiry(
      reader, topology, rules,
      {.down_ns = report::slow_from(summary.direction(model::Direction::kDownlink).latency_ns),
       .up_ns = report::slow_from(summary.direction(model::Direction::kUplink).latency_ns)},
      [&](const journeys::Journey& journey) { return !where || (*where)(journey); },
      [](const causes::Verdict&) {});
  // Without the scheduler's events it would tell little, and it reads everything again.
  const bool tells_why = !options.json && !options.costs && options.cdf.empty() && !by;
  if (beside.times().has("sched") && tells_why) {
    SJ_CHECK(inquiry.run(threads, progress));
    line.clear();
    content.late = &inquiry.tally();
  }
  if (where)
    content.selection = {.where = options.where.text(),
                         .kept = narrowed.kept(),
                         .seen = narrowed.seen(),
                         .from_ns = where->span().from_ns,
                         .until_ns = where->span().until_ns};
  content.add(beside);
  if (options.deadline.given()) {
    SJ_TRY(deadline_ns, options.deadline.in_time(slots, reader));
    content.deadline_ns = deadline_ns;
  }
  return print(options, reader, content, worst, groups ? &*groups : nullptr);
}

void check(Options& options) {
  if (options.explain && (options.json || options.where.given()))
    refuse_usage("--explain-rules is a text for people about all points: no --json, no --where");
  if (options.paste && (options.json || options.points || options.costs || options.explain))
    refuse_usage("--paste is a whole text: no --json, --points, --costs or --explain-rules");
  if (!options.by.empty() && (options.points || options.costs || options.paste || options.explain))
    refuse_usage("--by is a report of its own: no --points, --costs, --paste or --explain-rules");
  if (!options.compat.empty() &&
      (options.where.given() || options.paste || options.points || options.costs ||
       options.explain || !options.by.empty() || options.deadline.given()))
    refuse_usage(
        "--compat latseq has no --where, --by, --deadline, --points, --costs, --paste or "
        "--explain-rules");
  const auto by = report::by_from(options.by);
  if (by && report::counts_events(*by) && options.deadline.given())
    refuse_usage("--by " + options.by + " counts events, which take no time: no --deadline");
  if (options.costs && (options.where.given() || options.deadline.given()))
    refuse_usage("--costs is of all hits, whoever's they were: no --where and no --deadline");
  if (!options.cdf.empty() &&
      (options.json || options.points || options.costs || options.paste || options.explain ||
       !options.compat.empty() || options.deadline.given()))
    refuse_usage(
        "--cdf is a report of its own: no --json (--cdf json is that), --points, --costs, --paste, "
        "--explain-rules, --deadline or --compat");
  options.deadline.check();
}

}  // namespace

Action define_report(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  add_trace(arguments, options->path);
  arguments.when_parsed([options] { check(*options); });
  arguments.add_flag("--json", options->json,
                     "One JSON object instead of text; times in microseconds");
  options->where.define(
      arguments,
      "Only journeys for which this is true, e.g. 'rnti == 0x4601 && latency > 4ms'. With --by "
      "point and --by thread: only such events (docs/filters.md)");
  choose_from(
      arguments.add_option("--by", options->by,
                           "Only a table of these: latencies, rates, jitter and gaps of each"),
      {"direction", "ue", "bearer", "path", "hop", "layer", "point", "thread"});
  options->deadline.define(arguments,
                           "Count the packets, and the stays in hops, that took longer than this");
  choose_from(
      arguments.add_option("--cdf", options->cdf,
                           "Only the cumulative distributions of latencies and hops, or of the "
                           "rows of --by: how many took at most so long, how many longer"),
      {"text", "csv", "json"});
  arguments.add_flag("--points", options->points, "Also list each point with its hits and losses");
  arguments.add_flag("--costs", options->costs, "Only what tracing cost the target, by point");
  arguments.add_flag("--paste", options->paste,
                     "Print Markdown for a bug report: kernel, CPU, versions, losses, the report, "
                     "the slowest packets. Without host name, directories and command lines");
  choose_from(arguments.add_option("--compat", options->compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does; with --json "
                                   "print what latseq_stats -sj prints"),
              {"latseq"});
  arguments.add_flag("--explain-rules", options->explain,
                     "Only print the rules in force: which point feeds which, by which ids, in the "
                     "form of --rules");
  options->rules.define(arguments);
  arguments.footer(
      "latency     of complete journeys: from the packet's input to the output that completes it; "
      "uplink: from the first reception of any of its segments. A packet that was seen at one "
      "point only has none\n"
      "complete    all of it reached an output\n"
      "dropped     a layer threw it away\n"
      "censored    cut off by the start or end of the capture, or by lost events; not counted as "
      "incomplete\n"
      "incomplete  no end was seen within 10 s\n"
      "share       of the time that decided the latencies; the places of a direction add up to 100 "
      "%\n"
      "jitter      the mean difference between the latencies of successive packets\n"
      "busiest ms  the most packets in one millisecond, and how many times the mean millisecond of "
      "its second that is\n"
      "in flight   units in the place at the same time; at least, as what was there before the "
      "capture is not known. With * it means nothing: units were never seen to leave\n"
      "not whole   what the file lacks: in the first line; with --json on stderr and as \"file\". "
      "`sojourn check` says where\n"
      "\n"
      "docs/journeys.md says how journeys are rebuilt.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
