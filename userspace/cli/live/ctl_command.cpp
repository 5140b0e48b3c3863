// `sojourn ctl`: speaks to the capture of a running process; switches its points on and off, for
// every engine, and shows their state and the rings'.
#include <memory>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

using nlohmann::ordered_json;
using tracee::printable;

struct CtlOptions {
  pid_t pid = 0;
  std::string action;
  std::string pattern;
  bool json = false;
};

void print_json(const tracee::Points& points, const capture::RingControl& control) {
  ordered_json document;
  document["points"] = ordered_json::array();
  for (const capture::PointSwitch& one : control.points()) {
    const model::Point& point = points.schema.points[one.point];
    document["points"].push_back({{"name", point.name()},
                                  {"dir", std::string(1, model::letter(point.direction))},
                                  {"file", point.file},
                                  {"on", one.is_on},
                                  {"armed", one.is_armed}});
  }
  document["rings"] = ordered_json::array();
  for (const capture::RingStatus& ring : control.rings())
    document["rings"].push_back({{"pid", ring.pid},
                                 {"tid", ring.tid},
                                 {"thread", ring.thread},
                                 {"bytes", ring.bytes},
                                 {"waiting_bytes", ring.waiting_bytes},
                                 {"lost", ring.lost}});
  fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_status(const tracee::Points& points, const capture::RingControl& control) {
  present::Table table({"dir", "point", "switch", "in rings", "file"});
  for (const std::size_t words : {1U, 2U, 3U, 4U}) table.left(words);
  table.spare(4);
  for (const capture::PointSwitch& one : control.points()) {
    const model::Point& point = points.schema.points[one.point];
    table.row({std::string(1, model::letter(point.direction)), printable(point.name()),
               one.is_on ? "on" : "off", one.is_armed ? "armed" : "-", printable(point.file)});
  }
  fmt::print("{}", table.text(line_width()));
  const auto rings = control.rings();
  if (rings.empty()) return;
  fmt::print("\n");
  present::Table owners({"pid", "tid", "thread", "ring", "bytes waiting", "lost"});
  owners.left(2);
  for (const capture::RingStatus& ring : rings)
    owners.row({std::to_string(ring.pid), std::to_string(ring.tid), ring.thread,
                buffer_bytes(ring.bytes), grouped(ring.waiting_bytes), grouped(ring.lost)});
  fmt::print("{}", owners.text(line_width()));
}

// Sends start, stop, flush and dump to the capture.
Result<void> ask(const CtlOptions& options) {
  SJ_TRY(answer, capture::ask_capture(options.pid, options.action));
  fmt::print("{}\n", printable(answer));
  return {};
}

Result<void> ctl(const CtlOptions& options) {
  if (options.action == "start" || options.action == "stop" || options.action == "flush" ||
      options.action == "dump")
    return ask(options);
  if (options.action == "status" && !options.json && capture::has_capture(options.pid))
    SJ_CHECK(ask(options));
  SJ_TRY(process, tracee::Process::open(options.pid));
  SJ_TRY(points, tracee::find_points(process));
  auto control = capture::RingControl::open(process, points);
  if (!control) return std::unexpected(process.explain(std::move(control).error()));
  if (options.action == "status") {
    if (options.json)
      print_json(points, *control);
    else
      print_status(points, *control);
    return {};
  }
  const bool on = options.action == "enable";
  const auto switched = control->switch_points(options.pattern, on);
  if (switched.matched == 0)
    return fail("no point of process {} is called \"{}\"; `sojourn list -p {}` shows all",
                process.title(), options.pattern, options.pid);
  const std::size_t already = switched.matched - switched.changed.size();
  tell("switched {} {}{}\n", counted(switched.changed.size(), "point"), on ? "on" : "off",
       already == 0 ? std::string()
                    : fmt::format(", {} already {}", counted(already, "point"),
                                  already == 1 ? "was" : "were"));
  return {};
}

}  // namespace

Action define_ctl(Arguments& arguments) {
  auto options = std::make_shared<CtlOptions>();
  arguments.add_option("-p,--pid", options->pid, "The running process")
      .type_name("PID")
      .required()
      .check(check_process_id);
  const Argument action =
      arguments
          .add_option("action", options->action,
                      "What to do; start, stop, flush and dump need a running capture")
          .required();
  choose_from(action, {"status", "enable", "disable", "start", "stop", "flush", "dump"});
  const Argument pattern =
      arguments
          .add_option("points", options->pattern,
                      "The points to switch, by name, e.g. 'rlc.*' or 'U *'; * and ? are wildcards")
          .type_name("GLOB");
  arguments.add_flag("--json", options->json, "Print the status as one JSON object");
  arguments.when_parsed([options, pattern] {
    const bool switches = options->action == "enable" || options->action == "disable";
    if (switches != pattern.is_given())
      refuse_usage("enable and disable take one pattern of point names, the others take none");
  });
  arguments.footer(
      "status   which points are on, and the state of the rings\n"
      "enable   switch points on\n"
      "disable  switch points off: such a point costs as little as an untraced one\n"
      "start    begin to record, after `record --wait`\n"
      "stop     end the capture, with a whole file\n"
      "flush    write everything recorded so far to the file\n"
      "dump     write the events that `record --flight` holds in memory\n"
      "\n"
      "status, enable and disable also work without a capture. The others are for the user who "
      "runs the capture, and for root.\n"
      "\n"
      "Examples:\n"
      "  sojourn ctl -p $(pidof nr-softmodem) disable 'phy.*'\n"
      "  sojourn ctl -p $(pidof nr-softmodem) dump\n"
      "  sojourn ctl -p $(pidof nr-softmodem) status");
  return [options] { return ctl(*options); };
}

}  // namespace sojourn::cli
