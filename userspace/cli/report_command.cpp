// `sojourn report`: where packets spent their time, on one page.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/differential/latency_series.h"
#include "analysis/journeys/rule_file.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/pictures/plot.h"
#include "analysis/present/report/cdf.h"
#include "analysis/present/report/costs_part.h"
#include "analysis/present/report/groups_report.h"
#include "analysis/present/report/paste.h"
#include "analysis/present/report/report_content.h"
#include "analysis/present/words/json_format.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/report/groups.h"
#include "analysis/report/latency_grid.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/report/slot_length.h"
#include "analysis/report/slowest_journeys.h"
#include "analysis/report/summary.h"
#include "analysis/report/trace_extras.h"
#include "analysis/trace/completeness.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/command.h"
#include "userspace/cli/latseq_output.h"
#include "userspace/cli/page_output.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/report_options.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

using pipeline::TraceInput;
using pipeline::TracePass;

// The report as a text for people.
std::string text(const ReportOptions& options, const present::ReportContent& content,
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

// With data on stdout the file's damage is reported on stderr. Texts for people contain it.
Result<void> print(const ReportOptions& options, const trace::Reader& reader,
                   const present::ReportContent& content, report::SlowestJourneys& worst,
                   const report::Groups* groups, const present::CdfBand& band = {}) {
  const bool is_data = options.json || options.cdf == "csv" || options.cdf == "json";
  if (!is_data) {
    const bool says_it = options.cdf.empty() && groups == nullptr && !options.costs;
    return print_data((says_it ? "" : first_line(reader)) + text(options, content, worst, groups));
  }
  tell_if_not_whole(reader);
  if (options.cdf == "csv") return print_data(present::cdf_csv(content, groups));
  if (options.cdf == "json")
    return print_data(present::json_text(present::cdf_json(content, groups, band)));
  return print_data(present::json_text(groups != nullptr ? present::groups_json(content, *groups)
                                                         : present::report_json(content)));
}

present::Facts facts_of(const ReportOptions& options, const trace::Reader& reader) {
  return {options.path,
          reader.schema(),
          reader.targets(),
          reader.host(),
          reader.capture(),
          reader.ledger(),
          trace::completeness_of(reader)};
}

std::optional<present::ReportScript> script_of(const ScriptRun& script) {
  if (script.events() == nullptr) return std::nullopt;
  return present::ReportScript{.name = script.events()->name(),
                               .kept = script.events()->kept(),
                               .seen = script.events()->seen()};
}

// Reports by point and by thread count events, so no journeys are rebuilt for them.
Result<void> run_of_events(const ReportOptions& options, TraceInput& input, const ScriptRun& script,
                           report::By by) {
  const trace::Reader& reader = input.reader();
  SJ_TRY(where, options.where.events(reader));
  report::Groups groups(by, reader.schema(), input.topology(),
                        profile::thread_names(reader.context()));
  std::uint64_t kept = 0;
  std::uint64_t seen = 0;
  std::vector<std::uint32_t> rows;
  base::ThreadExecutor threads;
  ProgressLine line;
  TracePass pass(threads, input);
  pass.show(line.progress());
  const auto is_of_target = [&points = input.topology().points](model::PointId point) {
    return point < points.size() && points[point].of_target;
  };
  pass.consume([&](const model::EventBatch& events) {
    seen += static_cast<std::uint64_t>(std::ranges::count_if(events.point(), is_of_target));
    select(where, events, rows);
    for (const std::uint32_t row : rows) kept += groups.on_event(events[row]) ? 1 : 0;
    return true;
  });
  SJ_TRY(totals, pass.run());
  line.clear();
  groups.finish();
  const present::Facts facts = facts_of(options, reader);
  const report::Summary none(input.topology(), reader.capture().open_ns);
  present::ReportContent content = {facts, input.topology(), totals, none};
  content.width = line_width();
  content.script = script_of(script);
  if (where)
    content.selection = {.where = options.where.text(),
                         .kept = kept,
                         .seen = seen,
                         .from_ns = where->span().from_ns,
                         .until_ns = where->span().until_ns,
                         .of_events = true};
  report::SlowestJourneys worst;
  SJ_CHECK(print(options, reader, content, worst, &groups));
  return script.finish();
}

// The figures that the pass collects.
struct Figures {
  Figures(const ReportOptions& options, const TraceInput& input)
      : summary(input.topology(), input.reader().capture().open_ns,
                report::TracingCost(input.reader().schema(), input.reader().capture())),
        extras(input.reader(), input.topology()),
        slots(input.reader().schema()) {
    if (const auto by = report::by_from(options.by))
      groups.emplace(*by, input.reader().schema(), input.topology(),
                     profile::thread_names(input.reader().context()));
    if (options.plot) grid.emplace(pipeline::origin_ns(input.reader()));
    if (options.cdf == "json" && (!groups || !report::counts_stays(groups->by())))
      series.emplace([this](const journeys::Journey& journey) {
        return groups ? groups->name_of(journey) : std::string("latency");
      });
  }
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;

  // Around the curves of --cdf json.
  std::optional<std::pair<double, double>> interval(char direction, const std::string& name,
                                                    std::uint64_t ns) {
    if (!series) return std::nullopt;
    const auto found = series->above(direction, name, ns);
    if (!found) return std::nullopt;
    return std::pair(found->low, found->high);
  }

  // With `--plot` only the pictures are printed.
  Result<void> print_plot(const trace::Reader& reader) const {
    return print_data(first_line(reader) + "\n" +
                      present::plot_text(*grid, summary, picture_width()));
  }

  void finish(std::uint64_t end_ns) {
    summary.finish(end_ns);
    extras.finish(end_ns);
    if (groups) groups->finish();
  }

  report::Summary summary;
  report::SlowestJourneys worst;
  report::TraceExtras extras;
  report::SlotLength slots;
  std::optional<report::Groups> groups;
  std::optional<report::LatencyGrid> grid;
  std::optional<differential::LatencySeries> series;
};

void gather(const ReportOptions& options, TracePass& pass, Figures& figures) {
  pass.observe(figures.summary);
  if (options.paste) pass.observe(figures.worst);
  if (figures.groups) pass.observe(*figures.groups);
  if (figures.grid) pass.observe(*figures.grid);
  if (figures.series) pass.observe(*figures.series);
  pass.consume([&options, &figures](const model::EventBatch& events) {
    figures.extras.consume(events);
    if (options.deadline.asks_events()) figures.slots.consume(events);
    return true;
  });
}

// Returns whether causes are part of the report. They need a second pass, and the scheduler's
// events.
bool shows_causes(const ReportOptions& options, const Figures& figures) {
  return figures.extras.times().has("sched") && !options.json && !options.costs &&
         options.cdf.empty() && !figures.groups;
}

Result<void> run_of_journeys(const ReportOptions& options, TraceInput& input,
                             const ScriptRun& script) {
  trace::Reader& reader = input.reader();
  SJ_TRY(where, options.where.journeys(reader));
  Figures figures(options, input);
  base::ThreadExecutor threads;
  ProgressLine line;
  TracePass pass(threads, input);
  pass.show(line.progress());
  const auto keep = script.predicate(where);
  if (keep) pass.keep(keep);
  gather(options, pass, figures);
  SJ_TRY(totals, pass.run());
  SJ_CHECK(script.check());
  line.clear();
  figures.finish(std::max(totals.last_ns, reader.capture().close_ns));
  if (figures.grid) {
    SJ_CHECK(figures.print_plot(reader));
    return script.finish();
  }
  const present::Facts facts = facts_of(options, reader);
  present::ReportContent content = {facts, input.topology(), totals, figures.summary};
  if (!options.paste) content.width = line_width();
  content.is_raw = options.raw;
  content.script = script_of(script);
  report::LatenessAnalysis inquiry(input, report::deadlines_of(figures.summary), keep,
                                   [](const causes::Verdict&) {});
  if (shows_causes(options, figures)) {
    SJ_CHECK(inquiry.run(threads, line.progress()));
    line.clear();
    content.late = &inquiry.tally();
  }
  if (keep) {
    content.selection = {
        .where = script.words(options.where.text()), .kept = pass.kept(), .seen = pass.seen()};
    if (where) {
      content.selection->from_ns = where->span().from_ns;
      content.selection->until_ns = where->span().until_ns;
    }
  }
  content.add(figures.extras);
  if (options.deadline.given()) {
    SJ_TRY(deadline_ns, options.deadline.in_time(figures.slots, reader));
    content.deadline_ns = deadline_ns;
  }
  SJ_CHECK(print(options, reader, content, figures.worst,
                 figures.groups ? &*figures.groups : nullptr,
                 [&figures](char direction, const std::string& name, std::uint64_t ns) {
                   return figures.interval(direction, name, ns);
                 }));
  return script.finish();
}

// Refuses a file that cannot be read, because its page would show nothing.
Result<void> run_html(const ReportOptions& options) {
  SJ_CHECK(check_is_file(options.path));
  return write_page_file(options.html, {.traces = {options.path},
                                        .megabytes = options.megabytes,
                                        .redact = options.redact,
                                        .script = &options.script});
}

Result<void> run(const ReportOptions& options) {
  if (!options.html.empty()) return run_html(options);
  const auto by = report::by_from(options.by);
  const bool is_of_events = by && report::counts_events(*by);
  SJ_TRY(rules, options.rules.read());
  SJ_TRY(opened, open_trace(options.path));
  SJ_TRY(script, options.script.start(opened, is_of_events ? ScriptOption::Things::kEvents
                                                           : ScriptOption::Things::kJourneys));
  SJ_TRY(input, derive_input(std::move(opened), rules));
  if (options.explain)
    return print_data(
        journeys::rules_text(input.topology(), input.reader().schema(), input.rules()));
  if (!options.compat.empty())
    return print_latseq_report(input.reader(), latseq_ends(input.rules()), options.json);
  if (is_of_events) return run_of_events(options, input, script, *by);
  return run_of_journeys(options, input, script);
}

}  // namespace

Action define_report(Arguments& arguments) {
  auto options = std::make_shared<ReportOptions>();
  options->define(arguments);
  return [options] {
    auto done = run(*options);
    return done ? options->script.outcome() : done;
  };
}

}  // namespace sojourn::cli
