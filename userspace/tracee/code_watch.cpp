#include "userspace/tracee/code_watch.h"

#include <algorithm>

#include "userspace/tracee/maps.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

bool CodeWatch::has_more(const Process& process) {
  const auto text = read_whole(process.proc("maps"));
  const auto mappings = text ? parse_maps(*text) : fail("gone");
  if (!mappings || !process.alive()) return false;
  decltype(known_) now;
  for (const Mapping& mapping : *mappings)
    if (mapping.executable && mapping.inode != 0)
      now.insert({{mapping.device, mapping.inode}, mapping.start});
  const bool has_more = !std::ranges::includes(known_, now);
  known_ = std::move(now);
  return has_more;
}

}  // namespace sojourn::tracee
