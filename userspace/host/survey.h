// Measures a machine: its description, and the requested groups of measurements, in order. The
// calling process should have one thread, because some measurements fork.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/host/host_profile.h"
#include "userspace/host/bench.h"

namespace sojourn::host {

struct SurveyOptions {
  Form form = Form::kFull;
  std::vector<std::string> only;       // groups; empty: all
  std::string directory = "/var/tmp";  // for files
  std::string other_directory;         // empty: none
  std::string peer;                    // "HOST:PORT"; empty: none
  bool raises_priority = true;
  std::string tool;
  MachineRoots roots;
};

// The groups, in the order in which they are measured.
std::vector<std::string> group_names();

// `tell` is called with each group's name before the group is measured.
HostProfile survey(const SurveyOptions& options,
                   const std::function<void(std::string_view group)>& tell);

}  // namespace sojourn::host
