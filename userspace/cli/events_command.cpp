// `sojourn events`: the raw events of a trace in time order, one a line.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/model/pattern.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/present/events/event_lines.h"
#include "analysis/trace/reader.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/line_output.h"
#include "userspace/cli/script_option.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

constexpr std::uint64_t kLargestId = std::numeric_limits<std::uint32_t>::max();

struct EventsOptions {
  std::string path;
  std::uint64_t limit = 0;
  std::vector<std::string> globs;
  std::vector<std::uint32_t> tids;
  std::vector<std::uint32_t> streams;
  std::string time = "rel";
  WhereOption where;
  ScriptOption script;
  bool json = false;
};

// The events that were asked for.
class Selection {
 public:
  Selection(const EventsOptions& options, const model::Schema& schema)
      : tids_(options.tids), streams_(options.streams), points_(schema.points.size()) {
    for (std::size_t id = 0; id < points_.size(); ++id)
      points_[id] =
          options.globs.empty() || std::ranges::any_of(options.globs, [&](const std::string& glob) {
            return model::matches_pattern(schema.points[id], glob);
          });
  }

  bool any_point() const {
    return points_.empty() || std::ranges::find(points_, true) != points_.end();
  }

  bool operator()(const model::EventView& event) const {
    return points_[event.point] && has(tids_, event.tid) && has(streams_, event.stream);
  }

 private:
  static bool has(const std::vector<std::uint32_t>& wanted, std::uint32_t value) {
    return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
  }

  std::vector<std::uint32_t> tids_;
  std::vector<std::uint32_t> streams_;
  std::vector<bool> points_;
};

present::EventLines::Time time_of(const std::string& word) {
  using Time = present::EventLines::Time;
  return word == "rel" ? Time::kSinceOrigin : word == "wall" ? Time::kWall : Time::kMonotonic;
}

Result<void> run(const EventsOptions& options) {
  SJ_TRY(reader, open_trace(options.path));
  if (options.time == "wall" && reader.clocks().empty())
    return fail("{}: has no clock pairs, so wall time is unknown: use --time mono", options.path);
  SJ_TRY(script, options.script.start(reader, ScriptOption::Things::kEvents));
  const Selection selected(options, reader.schema());
  if (!selected.any_point())
    return fail("{}: no point matches {}", options.path, fmt::join(options.globs, ", "));
  SJ_TRY(where, options.where.events(reader));
  const present::EventLines lines(reader, time_of(options.time), pipeline::origin_ns(reader),
                                  options.json);
  const std::string notice = tell_if_not_whole(reader);

  LineOutput output;
  std::vector<std::uint32_t> rows;
  Result<void> written;
  std::uint64_t printed = 0;
  const auto full = [&] { return options.limit != 0 && printed == options.limit; };
  const auto print = [&](const model::EventBatch& batch) {
    select(where, batch, rows);
    for (const std::uint32_t row : rows) {
      if (full()) break;
      const model::EventView event = batch[row];
      if (!selected(event)) continue;
      lines.append(event, output.buffer());
      ++printed;
    }
    written = output.flush_if_full();
    return written && output.is_taken() && !full();
  };
  // With a limit no events are read ahead, so that messages about damage concern the printed part
  // only.
  PlainExecutor here;
  base::ThreadExecutor threads;
  Executor& executor = options.limit != 0 ? static_cast<Executor&>(here) : threads;
  SJ_CHECK(pipeline::read_events(executor, reader, {.consume = print}));
  SJ_CHECK(written);
  SJ_CHECK(output.flush());
  tell_if_not_whole(reader, notice);
  return script.finish();
}

}  // namespace

Action define_events(Arguments& arguments) {
  auto options = std::make_shared<EventsOptions>();
  add_trace(arguments, options->path);
  arguments.add_option("--limit", options->limit, "Print at most this many")
      .type_name("N")
      .check(whole_number(1));
  arguments
      .add_option("--points", options->globs,
                  "Only points that match, e.g. 'rlc.*' or 'U *--drop'; may be repeated")
      .type_name("GLOB");
  options->where.define(
      arguments,
      "Only events for which this is true, e.g. 'rnti == 0x4601 && len > 1k' (docs/filters.md)");
  options->script.define(arguments);
  arguments.add_option("--tid", options->tids, "Only events of this thread; may be repeated")
      .type_name("TID")
      .check(whole_number(0, kLargestId));
  arguments.add_option("--stream", options->streams, "Only events of this stream; may be repeated")
      .type_name("N")
      .check(whole_number(0, kLargestId));
  Argument time = arguments.add_option("--time", options->time,
                                       "Times since the begin of the capture (rel), of "
                                       "CLOCK_MONOTONIC (mono), or since 1970 (wall)");
  time.capture_default_str();
  choose_from(time, {"rel", "mono", "wall"});
  arguments.add_flag("--json", options->json, "One JSON object a line");
  arguments.footer(
      "A line has: seconds, direction, point, the point's fields by name, CPU, thread, and the "
      "process where the trace has several.\n"
      "--json: {\"t_ns\": by --time, \"dir\", \"point\", \"src\", \"dest\", \"fields\": {name: "
      "value, or [values] where the point has that name several times}, \"tid\", \"pid\": where it "
      "is known, \"cpu\": number or null, \"stream\", \"seq\": position in the stream}");
  return [options] {
    auto done = run(*options);
    return done ? options->script.outcome() : done;
  };
}

}  // namespace sojourn::cli
