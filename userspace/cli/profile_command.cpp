// `sojourn profile`: which functions the target's CPU time went to, from the sampled stacks.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/journeys/topology.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/present/profile/profile_content.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/text_format.h"
#include "analysis/profile/sampled_work.h"
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

struct ProfileOptions {
  std::string path;
  std::string thread;
  std::string hop;
  std::size_t limit = 20;
  bool folded = false;
  bool json = false;
  WhereOption where;
};

Result<const model::Counter*> profile_of(const trace::Reader& reader, const std::string& path) {
  const auto& counters = reader.profile().counters;
  const auto found = std::ranges::find(counters, model::kProfile, &model::Counter::name);
  if (found == counters.end())
    return fail("{}: has no profile: `sojourn record --profile 999Hz` makes one (docs/capture.md)",
                path);
  if (!found->missing.empty())
    return fail("{}: has no profile: when it was recorded: {}", path, found->missing);
  return &*found;
}

Result<void> gather(trace::Reader& reader, profile::SampledWork& work) {
  ProgressLine line;
  base::ThreadExecutor threads;
  const auto consume = [&](const model::EventBatch& events) {
    work.consume(events);
    return true;
  };
  SJ_CHECK(
      pipeline::read_events(threads, reader, {.progress = line.progress(), .consume = consume}));
  work.finish();
  return {};
}

// The filter for a thread, by name or id, and a hop as in the tables, with or without its
// direction.
profile::LocationFilter wanted_by(const ProfileOptions& options,
                                  const present::ProfileContent& content) {
  return [&](const profile::ThreadLocation& at) {
    const std::string hop = content.place(at.place);
    const bool is_hop = options.hop.empty() || hop == options.hop || hop.substr(2) == options.hop;
    return is_hop && (options.thread.empty() || content.thread(at.tid) == options.thread ||
                      std::to_string(at.tid) == options.thread);
  };
}

void print_json(const ProfileOptions& options, const present::ProfileContent& content,
                const trace::Reader& reader) {
  auto document = present::profile_json(content);
  document["file"] = present::completeness_json(trace::completeness_of(reader));
  if (options.where.given()) document["where"] = options.where.text();
  fmt::print("{}\n",
             document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

// Fails if there are no samples of the thread or hop that was asked for.
Result<void> require_samples(const ProfileOptions& options,
                             const present::ProfileContent& content) {
  const auto& stacks = content.work.stacks();
  if (options.where.given() && stacks.empty())
    return fail("{}: no sample where {}", options.path, options.where.text());
  const bool is_narrowed = !options.thread.empty() || !options.hop.empty();
  if (is_narrowed && std::ranges::none_of(
                         stacks, [&](const auto& entry) { return content.wanted(entry.first.at); }))
    return fail("{}: no sample of such a thread in such a hop", options.path);
  return {};
}

Result<void> run(const ProfileOptions& options) {
  SJ_TRY(reader, open_trace(options.path));
  SJ_TRY(counter, profile_of(reader, options.path));
  SJ_TRY(topology, journeys::Topology::derive(reader.schema(), {}));
  SJ_TRY(selection, ThreadSelection::of(options.where, reader));
  profile::SampledWork work(reader.schema(), topology, reader.profile(), selection.of_samples());
  SJ_CHECK(gather(reader, work));
  const profile::StackNames names(reader.profile());
  present::ProfileContent content = {.target = reader.target(),
                                     .counter = *counter,
                                     .work = work,
                                     .names = names,
                                     .schema = reader.schema(),
                                     .threads = profile::thread_names(reader.context()),
                                     .wanted = {},
                                     .max_rows = options.limit,
                                     .width = line_width()};
  content.wanted = wanted_by(options, content);
  const auto is_there = require_samples(options, content);
  if (!is_there || options.json || options.folded) tell_if_not_whole(reader);
  SJ_CHECK(is_there);
  if (options.json)
    print_json(options, content, reader);
  else if (options.folded)
    fmt::print("{}", present::profile_folded(content));
  else
    fmt::print(
        "{}{}{}", first_line(reader),
        options.where.given()
            ? present::wrapped("only samples where " + options.where.text(), 2, line_width()) + "\n"
            : "",
        present::profile_text(content));
  return {};
}

}  // namespace

Action define_profile(Arguments& arguments) {
  auto options = std::make_shared<ProfileOptions>();
  add_trace(arguments, options->path);
  arguments.add_option("--thread", options->thread, "Only this thread, by name or thread id")
      .type_name("THREAD");
  arguments
      .add_option("--hop", options->hop,
                  "Only work in this hop, e.g. pdcp.tx or 'U pdcp.rx'; or 'between units'")
      .type_name("HOP");
  options->where.define(arguments,
                        "Only samples for which this is true of time, thread and cpu, e.g. 'thread "
                        "~ ul-* && time in 2s..3s' (docs/filters.md)");
  arguments.add_option("--limit", options->limit, "Print at most this many rows of a table")
      .type_name("N")
      .check(whole_number(1))
      .capture_default_str();
  const Argument folded = arguments.add_flag(
      "--folded", options->folded,
      "One line a stack, for flame graph tools: thread;hop;outermost;...;innermost SAMPLES");
  arguments.add_flag("--json", options->json, "One JSON object instead of text").excludes(folded);
  arguments.footer(
      "self           samples in the function itself, with what was inlined into it\n"
      "total          samples in the function or in what it called\n"
      "hop            where the unit was that the thread worked on: the thread's event before the "
      "sample entered the hop, its next event left it\n"
      "between units  the thread waited, looked for work, or has no points\n"
      "[k]            a function of the kernel\n"
      "name+0x...     an address in a file that has no symbols\n"
      "\n"
      "Needs a trace of `sojourn record --profile 999Hz`. docs/capture.md says how stacks are "
      "sampled.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
