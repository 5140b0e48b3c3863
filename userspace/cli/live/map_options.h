// --map FILE: defines which functions of an unprepared program are points.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/coarse/map/map_file.h"
#include "userspace/coarse/mapped_points.h"
#include "userspace/tracee/process.h"

namespace sojourn::cli {

class MapOptions {
 public:
  void define(Arguments& arguments);
  bool given() const { return !paths_.empty(); }

  // Reads the maps. To be called once, before points are searched.
  Result<void> read();

  // Finds the points of the maps; without maps, the points that are built into the program.
  Result<coarse::FoundPoints> find(const tracee::Process& process) const;
  Result<coarse::FoundPoints> find_in_files(std::span<const std::string> paths) const;

 private:
  std::vector<std::string> paths_;
  coarse::Options options_;
  std::vector<coarse::Map> maps_;
};

// The name of the ready map for an executable of that path; empty if there is none.
std::string_view ready_map_for(std::string_view executable);

}  // namespace sojourn::cli
