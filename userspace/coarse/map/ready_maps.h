// The maps that come with sojourn, userspace/maps, as they were when it was built: so that a name
// is enough, wherever it runs. No state.
#pragma once

#include <span>
#include <string_view>

namespace sojourn::coarse {

struct ReadyMap {
  std::string_view name;  // "osmo-bts"
  std::string_view text;
};

std::span<const ReadyMap> ready_maps();  // by name

}  // namespace sojourn::coarse
