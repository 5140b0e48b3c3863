// The maps that come with sojourn, userspace/maps, as they were when it was built: so that a name
// is enough, wherever it runs. No state.
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

// Which of them is for programs of which name, as the maps themselves say.
struct ReadyProgram {
  std::string program;  // "nr-softmodem"
  std::string_view map;
};

std::vector<ReadyProgram> ready_programs();

}  // namespace sojourn::coarse
