// The screen of `sojourn` without arguments: which running programs can be traced, and the command
// to type first. Pure functions of what tracee/running_programs.h has found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "userspace/doctor/host_facts.h"
#include "userspace/tracee/running_programs.h"

namespace sojourn::doctor {

// A program's name and the ready map that is for it.
struct ProgramMap {
  std::string program;
  std::string_view map;
};

struct Traceable {
  tracee::RunningProgram process;
  std::string map;  // empty: it has points, or there is no map
};

struct MachineOverview {
  std::vector<Traceable> traceable = {};  // the ones to begin with first
  std::size_t closed = 0;                 // processes that this user may not look into
  bool hides_others = false;
  bool is_in_time = true;
  bool can_use_bpf = false;
  bool can_look_into_others = false;
};

MachineOverview judge_machine(tracee::RunningPrograms programs, const std::vector<ProgramMap>& maps,
                              const HostFacts& facts);

// The traceable programs, the command to type, and obstacles.
std::string traceable_text(const MachineOverview& surroundings);

// As JSON: [{"pid", "program", "points", "library", "map", "closed"}].
nlohmann::ordered_json traceable_json(const MachineOverview& surroundings);

}  // namespace sojourn::doctor
