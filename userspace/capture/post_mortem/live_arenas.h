// Copies the rings of processes that record by themselves (SJ_RINGS=flight) and go on. No collector
// empties such rings and their owners do not wait. So a copy is made first, and then the part that
// was overwritten meanwhile is found: everything behind it is whole. Nothing in the processes is
// stopped or changed. No state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/post_mortem/orphaned_arenas.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

struct LiveArena {
  const Arena* arena = nullptr;
  const tracee::Process* process = nullptr;
};

struct LiveCopy {
  std::vector<OrphanedArena> arenas;  // as those that were given
  // Every hit with an earlier stamp is in the copy, except those that were under way for too long;
  // so are some later hits. UINT64_MAX: all processes have ended, and the copy has everything.
  std::uint64_t until_stamp = UINT64_MAX;
};

// Copies all arenas as close together as possible, as hits from before the instant are soon
// overwritten.
Result<LiveCopy> copy_live_arenas(std::span<const LiveArena> arenas);

}  // namespace sojourn::capture
