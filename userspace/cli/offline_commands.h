// The subcommands that need no live machine: they read traces and other files. They link without
// libbpf and libelf, which tests/architecture checks.
#pragma once

#include <span>

#include "userspace/cli/command.h"

namespace sojourn::cli {

// In the order of the help.
std::span<const Command> offline_commands();

}  // namespace sojourn::cli
