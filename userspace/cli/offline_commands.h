// The subcommands that need no live machine: they read traces and other files. They link without
// libbpf and libelf, which tests/architecture holds.
#pragma once

#include <span>

#include "userspace/cli/command.h"

namespace sojourn::cli {

// As help lists them.
std::span<const Command> offline_commands();

}  // namespace sojourn::cli
