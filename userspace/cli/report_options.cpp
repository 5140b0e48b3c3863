#include "userspace/cli/report_options.h"

#include "analysis/report/groups.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/page_output.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

void check(ReportOptions& options) {
  if (!options.html.empty() &&
      (options.json || options.where.given() || options.points || options.costs || options.paste ||
       options.explain || !options.by.empty() || !options.cdf.empty() || !options.compat.empty() ||
       options.deadline.given() || options.rules.given()))
    refuse_usage(
        "--html is a page with the whole trace in it, which is filtered there: no other option but "
        "--script");
  if (options.plot &&
      (options.json || options.points || options.costs || options.paste || options.explain ||
       !options.by.empty() || !options.cdf.empty() || !options.compat.empty() ||
       !options.html.empty() || options.deadline.given()))
    refuse_usage("--plot is a picture of its own: only --where, --rules and --script go with it");
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
  if (options.costs &&
      (options.where.given() || options.deadline.given() || options.script.given()))
    refuse_usage("--costs counts all hits, so it has no --where, --deadline or --script");
  if (!options.compat.empty() && options.script.given())
    refuse_usage("--compat latseq rebuilds as LatSeq does, so it has no --script");
  if (!options.cdf.empty() &&
      (options.json || options.points || options.costs || options.paste || options.explain ||
       !options.compat.empty() || options.deadline.given()))
    refuse_usage(
        "--cdf is a report of its own: no --json (--cdf json is that), --points, --costs, --paste, "
        "--explain-rules, --deadline or --compat");
  options.deadline.check();
}

}  // namespace

void ReportOptions::define(Arguments& arguments) {
  ReportOptions& options = *this;
  add_trace(arguments, options.path);
  arguments.when_parsed([&options] { check(options); });
  arguments.add_flag("--json", options.json,
                     "One JSON object instead of text; times in microseconds");
  options.where.define(
      arguments,
      "Only journeys for which this is true, e.g. 'rnti == 0x4601 && latency > 4ms'. With --by "
      "point and --by thread: only such events (docs/filters.md)");
  Argument to_page = arguments.add_option("--html", options.html,
                                          "Write a page for the browser instead, with the trace in "
                                          "it: pictures, filters, single packets "
                                          "(docs/page.md)");
  to_page.type_name("FILE").check(check_output_file);
  define_page_size(arguments, options.megabytes).needs(to_page);
  define_redact(arguments, options.redact).needs(to_page);
  choose_from(
      arguments.add_option("--by", options.by,
                           "Only a table of these: latencies, rates, jitter and gaps of each"),
      {"direction", "ue", "bearer", "path", "hop", "layer", "point", "thread"});
  options.deadline.define(arguments,
                          "Count the packets, and the stays in hops, that took longer than this");
  choose_from(
      arguments.add_option("--cdf", options.cdf,
                           "Only the cumulative distributions of latencies and hops, or of the "
                           "rows of --by: how many took at most a time, and how many took longer"),
      {"text", "csv", "json"});
  arguments.add_flag("--plot", options.plot,
                     "Only pictures of letters, as wide as the terminal or 100 columns: latency "
                     "over arrival time, and how many packets took longer than a time");
  arguments.add_flag("--points", options.points, "Also list each point with its hits and losses");
  arguments.add_flag("--costs", options.costs, "Only what tracing cost the target, by point");
  arguments.add_flag("--raw", options.raw,
                     "Show times as they were measured. By default the report subtracts the time "
                     "of tracing, if the trace has the cost of a hit (docs/tracing-cost.md); "
                     "--json has both, --by, --cdf and --deadline are as measured");
  arguments.add_flag("--paste", options.paste,
                     "Print Markdown for a bug report: kernel, CPU, versions, losses, the report, "
                     "the slowest packets. Without host name, directories and command lines");
  choose_from(arguments.add_option("--compat", options.compat,
                                   "Rebuild journeys as LatSeq's own rebuilder does; with --json "
                                   "print what latseq_stats -sj prints"),
              {"latseq"});
  arguments.add_flag("--explain-rules", options.explain,
                     "Only print the rules in force: which point feeds which, by which ids, in the "
                     "form of --rules");
  options.rules.define(arguments);
  options.script.define(arguments);
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
}

}  // namespace sojourn::cli
