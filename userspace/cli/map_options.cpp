#include "userspace/cli/map_options.h"

#include <utility>

#include "userspace/target/points.h"

namespace sojourn::cli {

void MapOptions::define(CLI::App& app) {
  app.add_option("--map", paths_,
                 "Functions of a program that was built without points, as a file says which they "
                 "are and where their values are (docs/coarse-tracing.md); may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--allow-slow-sites", options_.takes_slow_sites,
               "Of a map also functions in which a probe is dear: the kernel executes the "
               "instruction there in a single step, 1 to 20 us at each hit");
}

Result<void> MapOptions::read() {
  maps_.clear();
  for (const std::string& path : paths_) {
    SJ_TRY(map, coarse::read_map(path));
    maps_.push_back(std::move(map));
  }
  return {};
}

Result<coarse::Found> MapOptions::find(const target::Process& process) const {
  if (given()) return coarse::find_points(process, maps_, options_);
  SJ_TRY(points, target::find_points(process));
  return coarse::Found{.points = std::move(points), .mapped = {}};
}

Result<coarse::Found> MapOptions::find_in_files(std::span<const std::string> paths) const {
  if (given()) return coarse::find_points_in_files(paths, maps_, options_);
  SJ_TRY(points, target::find_points_in_files(paths));
  return coarse::Found{.points = std::move(points), .mapped = {}};
}

}  // namespace sojourn::cli
