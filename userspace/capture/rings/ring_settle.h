// After the closing mark: waits for hits that had taken their stamp before it and are not whole
// yet, because their threads lost the processor in the middle of them. Where the target's memory
// may be read, each ring tells exactly which have their place in it; else, and for hits that have
// their stamp and no place yet, threads that have run since are believed to be through.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "analysis/base/result.h"
#include "userspace/capture/rings/ring_module.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

// Polls until nothing is under way any more, a second at most.
Result<void> settle_rings(std::span<const tracee::Process* const> processes,
                          std::span<const std::unique_ptr<RingModule>> modules,
                          const std::function<Result<void>()>& poll);

}  // namespace sojourn::capture
