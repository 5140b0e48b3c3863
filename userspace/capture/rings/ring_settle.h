// Waits, after the close mark, for hits that took their stamp before it and are not whole yet,
// because their threads lost the processor in the middle. If the target's memory may be read, each
// ring shows exactly which hits have a place in it. Otherwise, and for hits that have a stamp and
// no place yet, a thread that has run since is taken to have finished its hit.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "analysis/base/result.h"
#include "userspace/capture/rings/ring_module.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

// Polls until no hit is under way any more, for at most a second.
Result<void> settle_rings(std::span<const tracee::Process* const> processes,
                          std::span<const std::unique_ptr<RingModule>> modules,
                          const std::function<Result<void>()>& poll);

}  // namespace sojourn::capture
