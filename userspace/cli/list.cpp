// `sojourn list`: the points of a running process, or of a program's files. All names come from the
// target, so none reaches the terminal with its control characters.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/model/links.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/queues/queue_table.h"
#include "userspace/cli/command.h"
#include "userspace/cli/list_suggest.h"
#include "userspace/cli/map_options.h"
#include "userspace/cli/table.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/target/process.h"
#include "userspace/target/procfs.h"

namespace sojourn::cli {

namespace {

using nlohmann::ordered_json;
using target::printable;

struct Options {
  pid_t pid = 0;
  std::vector<std::string> files;
  bool json = false;
  bool all = false;
  bool suggest = false;
  MapOptions maps;
};

// What is listed.
struct Listed {
  coarse::Found found;
  capture::Queues queues;
  std::vector<std::uint64_t> hit_ns;  // by mapped site; empty: not known

  const target::Points& points() const { return found.points; }
};

// What one point has in common over its sites.
struct PointSites {
  std::size_t sites = 0;  // that eBPF attaches to
  std::size_t ring_sites = 0;
  std::set<std::string> probes;
};

std::vector<PointSites> count_sites(const target::Points& points) {
  std::vector<PointSites> counts(points.schema.points.size());
  for (const target::Site& site : points.sites) {
    counts[site.point].sites += 1;
    counts[site.point].probes.insert(site.probe);
  }
  for (const target::RingSite& site : points.ring_sites) counts[site.point].ring_sites += 1;
  return counts;
}

std::vector<std::string> engines_of(const PointSites& sites) {
  std::vector<std::string> engines;
  if (sites.sites != 0) engines.emplace_back(model::name(model::Engine::kBpf));
  if (sites.ring_sites != 0) engines.emplace_back(model::name(model::Engine::kRing));
  return engines;
}

using ForeignKey = std::tuple<std::string, std::string, std::string>;  // file, probe, arguments
std::map<ForeignKey, std::size_t> count_foreign(const target::Points& points) {
  std::map<ForeignKey, std::size_t> counts;
  for (const target::ForeignProbe& probe : points.foreign)
    counts[{probe.file, probe.probe, probe.arguments}] += 1;
  return counts;
}

std::string names_of(const model::Point& point, model::Role role) {
  std::string names;
  for (const model::Field& field : point.fields) {
    if (field.role != role || model::is_helper(field.name)) continue;
    if (!names.empty()) names += '.';
    names += field.name;
  }
  return names.empty() ? "-" : printable(names);
}

void print_points(const target::Points& points) {
  if (points.schema.points.empty()) return;
  const auto counts = count_sites(points);
  Table table(
      {"dir", "point", "properties", "global ids", "local ids", "sites", "engines", "file"});
  for (std::size_t id = 0; id < counts.size(); ++id) {
    const model::Point& point = points.schema.points[id];
    table.add({std::string(1, model::letter(point.direction)), printable(point.name()),
               names_of(point, model::Role::kProperty), names_of(point, model::Role::kGlobal),
               names_of(point, model::Role::kLocal),
               std::to_string(std::max(counts[id].sites, counts[id].ring_sites)),
               fmt::format("{}", fmt::join(engines_of(counts[id]), " ")), printable(point.file)});
  }
  table.print();
}

std::string executed(const coarse::MappedSite& mapped, const target::Site& site) {
  std::string how = site.is_stepped ? "single step" : "emulated";
  if (mapped.probe == coarse::Probe::kReturn) how += ", uretprobe";
  return how;
}

std::string_view probe_name(coarse::Probe probe) {
  switch (probe) {
    case coarse::Probe::kEntry:
      return "entry";
    case coarse::Probe::kExit:
      return "exit";
    case coarse::Probe::kReturn:
      return "uretprobe";
  }
  return "unknown";
}

// Where a map's functions are probed, and what that will cost.
void print_mapped(const Listed& listed) {
  if (listed.found.mapped.empty()) return;
  fmt::print("\n");
  Table table({"function", "at", "instruction", "executed", "a hit", "point"});
  for (std::size_t index = 0; index < listed.found.mapped.size(); ++index) {
    const coarse::MappedSite& mapped = listed.found.mapped[index];
    const target::Site& site = listed.points().sites[mapped.site];
    table.add({mapped.function, mapped.place(), mapped.instruction, executed(mapped, site),
               listed.hit_ns.empty()
                   ? "?"
                   : fmt::format("{:.2f} us", static_cast<double>(listed.hit_ns[index]) / 1000),
               printable(listed.points().schema.points[site.point].name())});
  }
  table.print();
}

void tell_folded(const coarse::Found& found) {
  for (const coarse::MappedSite& mapped : found.mapped)
    if (!mapped.folded.empty())
      tell("{} is the same code as {}: their hits are counted together\n", mapped.function,
           printable(fmt::format("{}", fmt::join(mapped.folded, ", "))));
}

void print_foreign(const target::Points& points) {
  if (points.foreign.empty()) return;
  if (!points.schema.points.empty()) fmt::print("\n");
  Table table({"other USDT probe", "sites", "arguments", "file"});
  for (const auto& [key, sites] : count_foreign(points)) {
    const auto& [file, probe, arguments] = key;
    table.add({printable(probe), std::to_string(sites),
               arguments.empty() ? "-" : printable(arguments), printable(file)});
  }
  table.print();
}

ordered_json places_json(const Listed& listed, std::size_t point) {
  ordered_json rows = ordered_json::array();
  for (std::size_t index = 0; index < listed.found.mapped.size(); ++index) {
    const coarse::MappedSite& mapped = listed.found.mapped[index];
    const target::Site& site = listed.points().sites[mapped.site];
    if (site.point != point) continue;
    rows.push_back(
        {{"function", mapped.function},
         {"offset", mapped.offset},
         {"probe", probe_name(mapped.probe)},
         {"instruction", mapped.instruction},
         {"single_step", site.is_stepped},
         {"hit_ns", listed.hit_ns.empty() ? ordered_json() : ordered_json(listed.hit_ns[index])},
         {"folded", mapped.folded}});
  }
  return rows;
}

ordered_json points_json(const Listed& listed) {
  const target::Points& points = listed.points();
  const auto counts = count_sites(points);
  ordered_json rows = ordered_json::array();
  for (std::size_t id = 0; id < counts.size(); ++id) {
    const model::Point& point = points.schema.points[id];
    ordered_json fields = ordered_json::array();
    for (const model::Field& field : point.fields)
      fields.push_back(
          {{"name", field.name}, {"role", model::name(field.role)}, {"bytes", field.bytes}});
    rows.push_back({{"name", point.name()},
                    {"dir", std::string(1, model::letter(point.direction))},
                    {"src", point.src},
                    {"dest", point.dest},
                    {"file", point.file},
                    {"engines", engines_of(counts[id])},
                    {"fields", std::move(fields)},
                    {"sites", counts[id].sites},
                    {"usdt", counts[id].probes}});
    if (auto places = places_json(listed, id); !places.empty())
      rows.back()["places"] = std::move(places);
  }
  return rows;
}

// "pdcp 0", "" where it is not known.
std::string side_of(const capture::QueueSide& side) {
  std::string text = printable(side.stage);
  if (side.instance >= 0) text += fmt::format("{}{}", text.empty() ? "" : " ", side.instance);
  if (side.pid != 0) text += fmt::format(" in process {}", side.pid);
  return text.empty() ? "-" : text;
}

void print_queues(const capture::Queues& queues) {
  if (queues.queues.empty()) return;
  fmt::print("\n");
  Table table({"queue", "kind", "producer", "consumer", "group", "capacity", "in", "out", "depth"});
  for (const capture::Queue& queue : queues.queues)
    table.add({printable(queue.name), std::string(queue.kind), side_of(queue.producer),
               side_of(queue.consumer), queue.group == 0 ? "-" : std::to_string(queue.group),
               queue.capacity == 0 ? "-" : std::to_string(queue.capacity),
               std::to_string(queue.counts.in), std::to_string(queue.counts.out),
               std::to_string(queue.counts.depth())});
  table.print();
}

ordered_json side_json(const capture::QueueSide& side) {
  return {{"stage", side.stage}, {"instance", side.instance}, {"pid", side.pid}};
}

ordered_json queues_json(const capture::Queues& queues) {
  ordered_json rows = ordered_json::array();
  for (const capture::Queue& queue : queues.queues)
    rows.push_back({{"name", queue.name},
                    {"kind", queue.kind},
                    {"producer", side_json(queue.producer)},
                    {"consumer", side_json(queue.consumer)},
                    {"group", queue.group},
                    {"capacity", queue.capacity},
                    {"in", queue.counts.in},
                    {"out", queue.counts.out},
                    {"depth", queue.counts.depth()}});
  return rows;
}

void print_json(const Options& options, const Listed& listed) {
  const target::Points& points = listed.points();
  ordered_json document;
  if (options.files.empty())
    document["pid"] = options.pid;
  else
    document["files"] = options.files;
  document["points"] = points_json(listed);
  document["queues"] = queues_json(listed.queues);
  ordered_json unusable = ordered_json::array();
  for (const target::Unusable& one : points.unusable)
    unusable.push_back({{"where", one.where}, {"why", one.why}});
  document["unusable"] = std::move(unusable);
  if (options.all) {
    ordered_json foreign = ordered_json::array();
    for (const auto& [key, sites] : count_foreign(points)) {
      const auto& [file, probe, arguments] = key;
      foreign.push_back(
          {{"usdt", probe}, {"file", file}, {"arguments", arguments}, {"sites", sites}});
    }
    document["foreign"] = std::move(foreign);
  }
  // Names from a target need not be UTF-8, JSON must be.
  fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

Result<void> print(const Options& options, const Listed& listed, const std::string& title) {
  const target::Points& points = listed.points();
  for (const target::Unusable& one : points.unusable)
    fmt::print(stderr, "unusable: {}: {}\n", printable(one.where), printable(one.why));
  if (points.sites.empty() && points.ring_sites.empty() &&
      (!options.all || points.foreign.empty())) {
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
  print_points(points);
  print_mapped(listed);
  if (options.all) print_foreign(points);
  print_queues(listed.queues);
  fmt::print(stderr, "{} at {} in {}\n", counted(points.schema.points.size(), "point"),
             counted(std::max(points.sites.size(), points.ring_sites.size()), "site"),
             counted(points.files.size(), "file"));
  return {};
}

// Measured on this machine, where the rights allow it.
void note_costs(Listed& listed) {
  const auto& mapped = listed.found.mapped;
  if (mapped.empty()) return;
  const auto& sites = listed.points().sites;
  capture::CostNeeds needs;
  for (const coarse::MappedSite& one : mapped) needs.add(sites[one.site]);
  const auto costs = capture::calibrate_bpf(capture::best_mechanism(), needs);
  if (!costs) return tell("what a hit costs is not known: {}\n", costs.error().text());
  for (const coarse::MappedSite& one : mapped)
    listed.hit_ns.push_back(capture::bpf_site_cost_ps(sites[one.site], *costs) / 1000);
}

Result<void> list(Options& options) {
  if (options.suggest) return suggest_map(options.pid);
  SJ_CHECK(options.maps.read());
  Listed listed;
  if (!options.files.empty()) {
    SJ_TRY(found, options.maps.find_in_files(options.files));
    listed.found = std::move(found);
    note_costs(listed);
    return print(options, listed, printable(options.files.front()));
  }
  SJ_TRY(process, target::Process::open(options.pid));
  SJ_TRY(found, options.maps.find(process));
  listed.found = std::move(found);
  note_costs(listed);
  auto queues = capture::read_queues_of(process);
  if (!queues) tell("its queues cannot be read: {}\n", queues.error().text());
  if (queues) listed.queues = std::move(*queues);
  return print(options, listed, "process " + process.title());
}

}  // namespace

Action define_list(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* pid = app.add_option("-p,--pid", options->pid,
                             "A running process: its executable and every library it has loaded")
                  ->type_name("PID");
  auto* files = app.add_option("files", options->files, "Programs or libraries, running or not")
                    ->type_name("FILE");
  app.parse_complete_callback([pid, files, options] {
    if (pid->empty() == files->empty()) refuse_usage("give either -p PID, or files");
    if (!options->suggest) return;
    if (pid->empty()) refuse_usage("--suggest looks at a running process: give -p PID");
    if (options->json || options->all || options->maps.given())
      refuse_usage("--suggest writes a map: it goes with nothing but -p PID");
  });
  app.add_flag("--json", options->json, "One JSON object instead of a table");
  options->maps.define(app);
  app.add_flag(
      "--suggest", options->suggest,
      "Write a map to begin with: functions that look like the data path, by their names, "
      "and how often each is called. For that a few at a time are counted for 100 ms; those "
      "that would cost the target much are left alone within milliseconds");
  app.add_flag("--all", options->all, "Also list USDT probes that are no points of sojourn");
  return [options] { return list(*options); };
}

}  // namespace sojourn::cli
