// Reads the private page of a ring's owner (sj_ring_private) from the target's memory: it shows
// whether the owner is in the middle of a hit. No state.
#pragma once

#include <cstdint>
#include <optional>

#include <sojourn/ring_abi.h>
#include <sys/types.h>

#include "userspace/capture/rings/mapped_arena.h"

namespace sojourn::capture {

// Nothing if the process's memory may not be read, or is gone. `pid` is in our namespace.
std::optional<sj_ring_private> read_owner_page(const Arena& arena, std::uint64_t slot, pid_t pid);

}  // namespace sojourn::capture
