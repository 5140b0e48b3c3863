#include "userspace/cli/live/first_screen.h"

#include <chrono>
#include <utility>
#include <vector>

#include "userspace/coarse/map/ready_maps.h"

namespace sojourn::cli {

namespace {

constexpr auto kTimeout = std::chrono::seconds(1);

}  // namespace

Result<doctor::MachineOverview> look_around(const doctor::HostFacts& facts) {
  std::vector<std::string> names;
  std::vector<doctor::ProgramMap> maps;
  for (coarse::ReadyProgram& ready : coarse::ready_programs()) {
    names.push_back(ready.program);
    maps.push_back({.program = std::move(ready.program), .map = ready.map});
  }
  SJ_TRY(programs, tracee::find_running_programs("/proc", names, kTimeout));
  return doctor::judge_machine(std::move(programs), maps, facts);
}

Result<std::string> first_screen() {
  SJ_TRY(surroundings, look_around(doctor::read_host({})));
  return "sojourn shows, for a base station that is already running, where every packet\n"
         "spends its time.\n\n" +
         doctor::traceable_text(surroundings) +
         "\nAll commands: `sojourn --help`. What works on this machine: `sojourn doctor`.\n";
}

}  // namespace sojourn::cli
