// Copies of the rings of processes that record by themselves (SJ_RINGS=flight) and go on. Nobody
// empties such rings and their owners wait for nobody, so a copy is made and then looked at which
// part of it was written over meanwhile: what is behind that is whole. Nothing in the processes is
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
  // Every hit with a stamp before this one is in it, but for those that were under way for too
  // long; some later ones are, too. UINT64_MAX: all processes have ended, and it has all.
  std::uint64_t until_stamp = UINT64_MAX;
};

// All of them as close together as can be: what was hit before the instant is written over soon.
Result<LiveCopy> copy_live_arenas(std::span<const LiveArena> arenas);

}  // namespace sojourn::capture
