#include "userspace/coarse/map/map_file.h"
#include "userspace/coarse/map/ready_maps.h"

namespace sojourn::coarse {

std::vector<ReadyProgram> ready_programs() {
  std::vector<ReadyProgram> programs;
  for (const ReadyMap& ready : ready_maps()) {
    auto map = parse_map(ready.text, std::string(ready.name) + ".toml");
    if (!map) continue;  // tests/unit/coarse/ready_maps_test.cpp sees that none is
    for (std::string& program : map->programs)
      programs.push_back({.program = std::move(program), .map = ready.name});
  }
  return programs;
}

}  // namespace sojourn::coarse
