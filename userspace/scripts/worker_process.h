// The process in which a script runs: it reads the script, then answers until its parent closes the
// connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/schema.h"
#include "userspace/scripts/exchange.h"
#include "userspace/scripts/script_source.h"

namespace sojourn::scripts {

constexpr std::size_t kScriptBytes = std::size_t{256} << 20U;  // of the interpreter
// The time limit of one batch of events, or one journey. If the script does not stop then, the
// parent ends the worker.
constexpr unsigned kSeconds = 2;

// Runs in a forked child, and never returns.
[[noreturn]] void run_worker(int connection, Exchange& exchange, const ScriptSource& source,
                             const model::Schema& schema, std::uint64_t open_ns);

}  // namespace sojourn::scripts
