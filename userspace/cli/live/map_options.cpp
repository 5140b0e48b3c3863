#include "userspace/cli/live/map_options.h"

#include <utility>

#include <fmt/ranges.h>
#include <unistd.h>

#include "userspace/capture/api.h"
#include "userspace/coarse/map/ready_maps.h"
#include "userspace/doctor/probe_trials.h"
#include "userspace/tracee/points.h"

namespace sojourn::cli {

namespace {

std::string ready_names() {
  std::vector<std::string_view> names;
  names.reserve(coarse::ready_maps().size());
  for (const coarse::ReadyMap& map : coarse::ready_maps()) names.push_back(map.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A file of that name takes precedence over a ready map.
Result<coarse::Map> read_one(const std::string& path) {
  const bool is_name = path.find_first_of("/.") == std::string::npos;
  if (!is_name || access(path.c_str(), F_OK) == 0) return coarse::read_map(path);
  for (const coarse::ReadyMap& map : coarse::ready_maps())
    if (map.name == path) return coarse::parse_map(map.text, path + ".toml");
  return fail("--map {}: neither a file, nor a map that is ready: {}", path, ready_names());
}

}  // namespace

void MapOptions::define(Arguments& arguments) {
  arguments
      .add_option(
          "--map", paths_,
          fmt::format("For a program without points: a map file. It says which functions are "
                      "points, and where in their arguments the ids are (docs/coarse-tracing.md). "
                      "Or the name of a ready map: {}. May be repeated",
                      ready_names()))
      .type_name("FILE")
      .one_word_each();
  arguments.add_flag("--allow-slow-sites", options_.takes_slow_sites,
                     "With --map: also probe functions, and places where they return, at which the "
                     "kernel must single-step an instruction. A hit costs 1 to 20 us there");
  arguments.add_flag("--allow-uretprobe", options_.takes_return_probes,
                     "With --map: probe the return of functions by uretprobes, which cost less "
                     "than single steps. Refused where a file of the process throws exceptions, "
                     "unwinds or switches stacks: a uretprobe could end such a process");
}

Result<void> MapOptions::read() {
  maps_.clear();
  for (const std::string& path : paths_) {
    SJ_TRY(map, read_one(path));
    maps_.push_back(std::move(map));
  }
  if (!given()) return {};
  const capture::Mechanism mechanism = capture::best_mechanism();
  options_.nops.emulates_long = capture::emulates_long_nops(mechanism);
  options_.nops.takes_five = doctor::may_probe_nop(mechanism, 5, options_.nops.emulates_long);
  options_.nops.takes_ten = doctor::may_probe_nop(mechanism, 10, false);
  return {};
}

Result<coarse::FoundPoints> MapOptions::find(const tracee::Process& process) const {
  if (given()) return coarse::find_points(process, maps_, options_);
  SJ_TRY(points, tracee::find_points(process));
  return coarse::FoundPoints{.points = std::move(points), .mapped = {}, .remarks = {}};
}

Result<coarse::FoundPoints> MapOptions::find_in_files(std::span<const std::string> paths) const {
  if (given()) return coarse::find_points_in_files(paths, maps_, options_);
  SJ_TRY(points, tracee::find_points_in_files(paths));
  return coarse::FoundPoints{.points = std::move(points), .mapped = {}, .remarks = {}};
}

std::string_view ready_map_for(std::string_view executable) {
  const std::string_view name = executable.substr(executable.rfind('/') + 1);
  for (const coarse::ReadyProgram& ready : coarse::ready_programs())
    if (ready.program == name) return ready.map;
  return {};
}

}  // namespace sojourn::cli
