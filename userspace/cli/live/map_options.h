// --map FILE: which functions of a program that has no points of its own are points.
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

  // Once, before anything is looked for.
  Result<void> read();

  // Without maps those points that were built in.
  Result<coarse::FoundPoints> find(const tracee::Process& process) const;
  Result<coarse::FoundPoints> find_in_files(std::span<const std::string> paths) const;

 private:
  std::vector<std::string> paths_;
  coarse::Options options_;
  std::vector<coarse::Map> maps_;
};

// The name of the ready map for an executable of that path; empty: there is none.
std::string_view ready_map_for(std::string_view executable);

}  // namespace sojourn::cli
