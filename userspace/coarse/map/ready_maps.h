// The maps that come with sojourn (userspace/maps), compiled in, so that a name is enough wherever
// it runs. No state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::coarse {

struct ReadyMap {
  std::string_view name;  // "osmo-bts"
  std::string_view text;
};

std::span<const ReadyMap> ready_maps();  // by name

// The program names for which there is a ready map, as the maps declare them.
struct ReadyProgram {
  std::string program;  // "nr-softmodem"
  std::string_view map;
};

std::vector<ReadyProgram> ready_programs();

}  // namespace sojourn::coarse
