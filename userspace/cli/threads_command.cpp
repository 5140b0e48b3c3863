// `sojourn threads`: shows the activity of a program's threads, by kernel events alone, without
// points and without symbols.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/base/shell_word.h"
#include "analysis/journeys/topology.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/present/profile/profile_content.h"
#include "analysis/present/threads/threads_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/text_format.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/threads/thread_survey.h"
#include "analysis/trace/completeness.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/thread_selection.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

constexpr std::size_t kHotRows = 10;

struct ThreadsOptions {
  std::string path;
  std::size_t limit = 20;
  bool json = false;
  bool dot = false;
  WhereOption where;
};

Result<void> gather(trace::Reader& reader, threads::ThreadSurvey& survey,
                    profile::SampledWork& work, std::uint64_t& end_ns) {
  ProgressLine line;
  base::ThreadExecutor threads;
  const auto consume = [&](const model::EventBatch& events) {
    survey.consume(events);
    work.consume(events);
    return true;
  };
  SJ_TRY(totals,
         pipeline::read_events(threads, reader, {.progress = line.progress(), .consume = consume}));
  end_ns = std::max(end_ns, totals.last_ns);
  survey.finish(end_ns);
  work.finish();
  return {};
}

std::string heading(const ThreadsOptions& options, const trace::Reader& reader, double whole_s,
                    double duration_s) {
  const trace::Completeness file = trace::completeness_of(reader);
  const std::size_t others = reader.targets().size() - 1;
  const std::string& name = reader.target().name;
  std::string text =
      first_line(reader) + fmt::format("{}, pid {}{}, {}, {} events, {}\n",
                                       name.empty() ? "unnamed target" : printable(name),
                                       reader.target().pid,
                                       others == 0 ? "" : fmt::format(" and {} more", others),
                                       present::duration(whole_s * 1e9),
                                       present::count(file.events), present::losses_words(file));
  if (options.where.given())
    text += present::wrapped(fmt::format("only what threads did where {}, in {}",
                                         options.where.text(), present::duration(duration_s * 1e9)),
                             2, line_width()) +
            "\n";
  for (const model::ContextFamily& family : reader.context().families)
    if (!family.missing.empty())
      text +=
          fmt::format("no context of {}: {}\n", printable(family.name), printable(family.missing));
  return text;
}

// The hottest functions, if a profile was recorded.
std::string hot(const trace::Reader& reader, const profile::SampledWork& work) {
  const auto& counters = reader.profile().counters;
  const auto found = std::ranges::find(counters, model::kProfile, &model::Counter::name);
  if (found == counters.end() || !found->missing.empty()) return {};
  const profile::StackNames names(reader.profile());
  return "\n" +
         present::hot_functions_text({.target = reader.target(),
                                      .counter = *found,
                                      .work = work,
                                      .names = names,
                                      .schema = reader.schema(),
                                      .threads = profile::thread_names(reader.context()),
                                      .wanted = [](const profile::ThreadLocation&) { return true; },
                                      .max_rows = kHotRows,
                                      .width = line_width()});
}

std::string next(const ThreadsOptions& options, const trace::Reader& reader, bool has_profile) {
  const auto& points = reader.schema().points;
  std::string text = "\n";
  if (std::ranges::any_of(points,
                          [](const model::Point& point) { return is_of_target(point.direction); }))
    text += fmt::format("next: sojourn report {}\n", shell_word(options.path));
  else
    text += fmt::format(
        "next: sojourn list -p {} --suggest > my.toml   (which of its functions look like the data "
        "path)\n",
        reader.target().pid);
  if (has_profile) text += fmt::format("next: sojourn profile {}\n", shell_word(options.path));
  return text;
}

// Why it is missing where it was asked for; else what records it.
std::string way_to_sched(const trace::Reader& reader) {
  const auto& families = reader.context().families;
  const auto sched = std::ranges::find(families, "sched", &model::ContextFamily::name);
  if (sched != families.end() && !sched->missing.empty()) return printable(sched->missing);
  return "`sojourn record -p PID --auto` records it (docs/threads.md)";
}

Result<void> run(const ThreadsOptions& options) {
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(selection, ThreadSelection::of(options.where, reader));
  threads::ThreadSurvey survey(reader.schema(), reader.context(), reader.streams(),
                               reader.capture(), model::pids_of(reader.targets()),
                               selection.of_threads());
  if (!survey.knows_states())
    return fail("{}: has no events of the scheduler, which show what threads do: {}", options.path,
                way_to_sched(reader));
  SJ_TRY(topology, journeys::Topology::derive(reader.schema(), {}));
  profile::SampledWork work(reader.schema(), topology, reader.profile(), selection.of_samples());
  std::uint64_t end_ns = reader.capture().close_ns;
  SJ_CHECK(gather(reader, survey, work, end_ns));
  const std::uint64_t begin_ns = pipeline::origin_ns(reader);
  const double whole_s = static_cast<double>(end_ns - std::min(begin_ns, end_ns)) / 1e9;
  const present::ThreadsContent content = {
      .survey = survey,
      .duration_s = static_cast<double>(selection.time_in(begin_ns, end_ns)) / 1e9,
      .max_rows = options.limit,
      .width = line_width()};
  const bool is_empty = std::ranges::none_of(
      survey.threads(), [&](const auto& one) { return survey.is_selected(one.second); });
  if (is_empty || options.json || options.dot) tell_if_not_whole(reader);
  if (is_empty)
    return options.where.given()
               ? fail("{}: no thread did anything where {}", options.path, options.where.text())
               : fail("{}: has no event that shows what a thread did", options.path);
  if (options.json) {
    auto document = present::threads_json(content);
    document["file"] = present::completeness_json(trace::completeness_of(reader));
    if (options.where.given()) document["where"] = options.where.text();
    fmt::print("{}\n",
               document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (options.dot) {
    fmt::print("{}", present::threads_dot(content));
  } else {
    const std::string hottest = hot(reader, work);
    fmt::print("{}{}{}{}", heading(options, reader, whole_s, content.duration_s),
               present::threads_text(content), hottest, next(options, reader, !hottest.empty()));
  }
  return {};
}

}  // namespace

Action define_threads(Arguments& arguments) {
  auto options = std::make_shared<ThreadsOptions>();
  add_trace(arguments, options->path);
  arguments.add_option("--limit", options->limit, "Print at most this many rows of a table")
      .type_name("N")
      .check(whole_number(1))
      .capture_default_str();
  options->where.define(arguments,
                        "Only what fits this in time, thread and cpu, e.g. 'thread == mac && time "
                        "< 1s' (docs/filters.md)");
  const Argument dot =
      arguments.add_flag("--dot", options->dot, "Print who wakes whom as a Graphviz graph");
  arguments
      .add_flag("--json", options->json, "One JSON object instead of text; times in nanoseconds")
      .excludes(dot);
  arguments.footer(
      "wants a CPU  the thread was runnable, and another thread had the CPU\n"
      "wakes        waits that ended, by what ended them: a timer, packets, a thread, an "
      "interrupt\n"
      "woken to     the time from the wakeup to running: the wait for a CPU\n"
      "queue, lock  a futex that threads wait for; a lock where the same threads wait and wake\n"
      "estimate     counts only packets whose hand-over woke the next thread\n"
      "\n"
      "Needs a trace of `sojourn record -p PID --auto`. docs/threads.md says more.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
