// `sojourn list`: the points of a running process, or of a program's files. All names come from the
// target, so none reaches the terminal with its control characters.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/live/list/list_json.h"
#include "userspace/cli/live/list/list_suggest.h"
#include "userspace/cli/live/list/list_text.h"
#include "userspace/cli/live/list/listed.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/live/map_options.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

using nlohmann::ordered_json;
using tracee::printable;

struct ListOptions {
  pid_t pid = 0;
  std::vector<std::string> files;
  bool json = false;
  bool all = false;
  bool suggest = false;
  std::string timeout = "3s";
  MapOptions maps;
};

void tell_folded(const coarse::FoundPoints& found) {
  for (const coarse::MappedSite& mapped : found.mapped)
    if (!mapped.folded.empty())
      tell("{} is the same code as {}: their hits are counted together\n", mapped.function,
           printable(fmt::format("{}", fmt::join(mapped.folded, ", "))));
}

void print_json(const ListOptions& options, const Listed& listed) {
  ordered_json document;
  if (options.files.empty())
    document["pid"] = options.pid;
  else
    document["files"] = options.files;
  add_listed(listed, options.all, document);
  // Names from a target need not be UTF-8, JSON must be.
  fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

Result<void> print(const ListOptions& options, const Listed& listed, const std::string& title) {
  const tracee::Points& points = listed.points();
  for (const tracee::Unusable& one : points.unusable)
    fmt::print(stderr, "unusable: {}: {}\n", printable(one.where), printable(one.why));
  if (!tracee::has_any(points) && (!options.all || points.foreign.empty())) {
    if (options.maps.given())
      return fail("{} has no points: none of the map's functions can be traced", title);
    return fail(
        "{} has no points: say which of its functions are some with --map, as --suggest proposes "
        "(docs/coarse-tracing.md), or build it with <sojourn/point.h> (docs/instrumenting.md){}",
        title, options.all ? "" : "; --all lists other USDT probes");
  }
  tell_folded(listed.found);
  for (const std::string& remark : listed.found.remarks) tell("{}\n", remark);
  if (options.json) {
    print_json(options, listed);
    return {};
  }
  print_tables(listed, options.all);
  const auto ring_sites = static_cast<std::size_t>(
      std::ranges::count(points.ring_sites, true, &tracee::RingSite::is_wanted));
  fmt::print(stderr, "{} at {} in {}\n", counted(points.schema.points.size(), "point"),
             counted(std::max(points.sites.size(), ring_sites), "site"),
             counted(points.files.size(), "file"));
  return {};
}

// Measures the costs on this machine, if the rights allow it.
void note_costs(Listed& listed) {
  const auto& mapped = listed.found.mapped;
  if (mapped.empty()) return;
  const auto& sites = listed.points().sites;
  capture::CostNeeds needs;
  for (const coarse::MappedSite& one : mapped) needs.add(sites[one.site]);
  const auto costs = capture::calibrate_bpf(capture::best_mechanism(), needs);
  if (!costs) return tell("the cost of a hit is not known: {}\n", costs.error().text());
  for (const coarse::MappedSite& one : mapped)
    listed.hit_ns.push_back(capture::bpf_site_cost_ps(sites[one.site], *costs) / 1000);
}

Result<void> list(ListOptions& options) {
  if (options.suggest) {
    SJ_TRY(timeout, parse_duration(options.timeout));
    return suggest_map(options.pid, std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  }
  SJ_CHECK(options.maps.read());
  Listed listed;
  if (!options.files.empty()) {
    SJ_TRY(found, options.maps.find_in_files(options.files));
    listed.found = std::move(found);
    note_costs(listed);
    return print(options, listed, printable(options.files.front()));
  }
  SJ_TRY(process, tracee::Process::open(options.pid));
  SJ_TRY(found, options.maps.find(process));
  listed.found = std::move(found);
  note_costs(listed);
  auto queues = capture::read_queues_of(process);
  if (!queues) tell("its queues cannot be read: {}\n", queues.error().text());
  if (queues) listed.queues = std::move(*queues);
  return print(options, listed, "process " + process.title());
}

}  // namespace

Action define_list(Arguments& arguments) {
  auto options = std::make_shared<ListOptions>();
  const Argument pid =
      arguments
          .add_option("-p,--pid", options->pid,
                      "A running process: its executable and all libraries it has loaded")
          .type_name("PID")
          .check(check_process_id);
  const Argument files =
      arguments.add_option("files", options->files, "Programs or libraries, running or not")
          .type_name("FILE");
  const Argument timeout =
      arguments
          .add_option(
              "--for", options->timeout,
              "With --suggest: how long to wait for calls of functions that are not called at "
              "once, and then how long to watch the arguments of those that are called rarely")
          .type_name("TIME")
          .capture_default_str()
          .check(check_duration);
  arguments.when_parsed([pid, files, timeout, options] {
    if (pid.is_given() == files.is_given()) refuse_usage("give either -p PID, or files");
    if (!options->suggest && timeout.is_given()) refuse_usage("--for goes with --suggest");
    if (!options->suggest) return;
    if (!pid.is_given()) refuse_usage("--suggest looks at a running process: give -p PID");
    if (options->json || options->all || options->maps.given())
      refuse_usage("--suggest writes a map: it goes with nothing but -p PID and --for");
  });
  arguments.add_flag("--json", options->json, "One JSON object instead of a table");
  options->maps.define(arguments);
  arguments.add_flag(
      "--suggest", options->suggest,
      "Write a first map: the functions whose names look like a data path, with their call rates. "
      "Calls are counted for 100 ms, some functions at a time, and longer where none came. A "
      "function that would cost the target much loses its probe within milliseconds");
  arguments.add_flag("--all", options->all, "Also list USDT probes that are not points of sojourn");
  arguments.footer(
      "Examples:\n"
      "  sojourn list -p $(pidof nr-softmodem)\n"
      "  sojourn list ./nr-softmodem\n"
      "  sojourn list -p $(pidof osmo-bts-virtual) --map osmo-bts");
  return [options] { return list(*options); };
}

}  // namespace sojourn::cli
