#include "userspace/doctor/traceable.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "userspace/doctor/host_checks.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::doctor {

namespace {

constexpr std::size_t kMaxRows = 10;

std::string points_in_words(const tracee::RunningProgram& process) {
  std::string words = process.has_more_points ? "more than " : "";
  words += fmt::format("{} point{}", process.points, process.points == 1 ? "" : "s");
  if (!process.library.empty()) words += fmt::format(" in {}", tracee::printable(process.library));
  return words;
}

std::string words_of(const Traceable& one) {
  std::string words =
      one.map.empty() ? points_in_words(one.process) : fmt::format("ready map {}", one.map);
  if (one.process.is_closed) words += ", closed to this user";
  return words;
}

std::string table(const std::vector<Traceable>& all) {
  const std::size_t rows = std::min(all.size(), kMaxRows);
  std::size_t pid = 3;
  std::size_t name = 7;
  for (std::size_t row = 0; row < rows; ++row) {
    pid = std::max(pid, std::to_string(all[row].process.pid).size());
    name = std::max(name, tracee::printable(all[row].process.name).size());
  }
  std::string text = fmt::format("  {:>{}}  {:<{}}  has\n", "PID", pid, "program", name);
  for (std::size_t row = 0; row < rows; ++row)
    text += fmt::format("  {:>{}}  {:<{}}  {}\n", all[row].process.pid, pid,
                        tracee::printable(all[row].process.name), name, words_of(all[row]));
  if (all.size() > rows)
    text += fmt::format("  and {} more: `sojourn doctor --json` lists all\n", all.size() - rows);
  return text;
}

// The commands for the first process with points, and for the first one with a map. A closed
// process comes last, and its command needs root.
std::string commands(const std::vector<Traceable>& all) {
  std::string text;
  const auto first = [&](bool has_map) {
    return std::ranges::find_if(all,
                                [&](const Traceable& one) { return one.map.empty() != has_map; });
  };
  const auto prefix = [](const Traceable& one) {
    return one.process.is_closed ? "sudo sojourn" : "sojourn";
  };
  if (const auto with_points = first(false); with_points != all.end())
    text += fmt::format(
        "\nRecord ten seconds, then see where its packets spent their time:\n"
        "  {} record -p {} --for 10s -o run.sjt\n"
        "  sojourn report run.sjt\n",
        prefix(*with_points), with_points->process.pid);
  if (const auto mapped = first(true); mapped != all.end())
    text += fmt::format(
        "\n{3} has no points. Its map says which functions are points:\n"
        "  {0} list -p {1} --map {2}\n"
        "  {0} record -p {1} --map {2} --for 10s -o run.sjt\n"
        "  sojourn report run.sjt\n",
        prefix(*mapped), mapped->process.pid, mapped->map, tracee::printable(mapped->process.name));
  return text;
}

std::string nothing_found() {
  return "Nothing that runs here has points or a ready map.\n"
         "\n"
         "See sojourn at work, on the base station of its own source tree:\n"
         "  sudo ./demo\n"
         "Trace a program that has points from its first instruction on:\n"
         "  sojourn record -o run.sjt -- CMD ARGS\n"
         "See what the threads of any running program do, without points:\n"
         "  sojourn record -p PID --auto -o run.sjt && sojourn threads run.sjt\n"
         "Add a point to your own program (docs/instrumenting.md):\n"
         "  #include <sojourn/point.h>\n"
         "  SJ_POINT(\"D pdcp.tx--rlc.tx\", \"len:rnti:drb.psn\", len, rnti, drb, psn);\n";
}

// A line for each thing that was not looked at, and for each missing right.
std::string obstacles(const MachineOverview& surroundings) {
  std::string text;
  if (!surroundings.is_in_time)
    text += "Looking took too long: there may be more than was found.\n";
  if (surroundings.hides_others)
    text += "Other users' processes are hidden (/proc has hidepid): run as root to see them.\n";
  if (surroundings.closed != 0)
    text += fmt::format("Not looked into: {} process{}, {}.\n", surroundings.closed,
                        surroundings.closed == 1 ? "" : "es",
                        surroundings.can_look_into_others ? "closed even to root"
                                                          : "closed to this user: run as root");
  if (!surroundings.can_use_bpf)
    text += "No rights to eBPF: only rings of your own processes. `sojourn doctor` says more.\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

MachineOverview judge_machine(tracee::RunningPrograms programs, const std::vector<ProgramMap>& maps,
                              const HostFacts& facts) {
  MachineOverview surroundings{.closed = programs.closed,
                               .hides_others = programs.hides_others,
                               .is_in_time = programs.is_in_time,
                               .can_use_bpf = may_use_bpf(facts),
                               .can_look_into_others = may_look_into_others(facts)};
  for (tracee::RunningProgram& process : programs.found) {
    Traceable one{.process = std::move(process), .map = {}};
    if (one.process.points == 0) {
      const auto map = std::ranges::find_if(maps, [&](const ProgramMap& known) {
        return tracee::may_be_named(one.process, known.program);
      });
      if (map == maps.end()) continue;
      one.map = map->map;
      one.process.name = map->program;  // the full name, also if the process is closed
    }
    surroundings.traceable.push_back(std::move(one));
  }
  std::ranges::stable_sort(surroundings.traceable, {}, [](const Traceable& one) {
    return std::pair(one.process.is_closed, !one.map.empty());
  });
  return surroundings;
}

std::string traceable_text(const MachineOverview& surroundings) {
  const auto& all = surroundings.traceable;
  return (all.empty() ? nothing_found()
                      : "These processes can be traced:\n" + table(all) + commands(all)) +
         obstacles(surroundings);
}

nlohmann::ordered_json traceable_json(const MachineOverview& surroundings) {
  auto list = nlohmann::ordered_json::array();
  for (const Traceable& one : surroundings.traceable)
    list.push_back({{"pid", one.process.pid},
                    {"program", one.process.name},
                    {"points", one.process.points},
                    {"library", one.process.library},
                    {"map", one.map},
                    {"closed", one.process.is_closed}});
  return list;
}

}  // namespace sojourn::doctor
