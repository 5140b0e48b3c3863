// The process in which a script runs: it reads the script, then answers until nobody asks any more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/schema.h"
#include "userspace/scripts/exchange.h"
#include "userspace/scripts/script_source.h"

namespace sojourn::scripts {

constexpr std::size_t kScriptBytes = std::size_t{256} << 20U;  // of the interpreter
// So long may one batch of events, or one journey, take before it is stopped; by the parent when
// the script does not stop.
constexpr unsigned kSeconds = 2;

// In a forked child. Never returns.
[[noreturn]] void run_worker(int connection, Exchange& exchange, const ScriptSource& source,
                             const model::Schema& schema, std::uint64_t open_ns);

}  // namespace sojourn::scripts
