// The command line: parses arguments by a table of subcommands, runs one, prints errors and returns
// the exit code (0 done, 1 failed at run time, 2 wrong usage).
#pragma once

#include <span>
#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/command.h"

namespace sojourn::cli {

using FirstScreen = Result<std::string> (*)();

// `first_screen`: printed without arguments; null: the usage is printed.
int run_program(int argc, char** argv, std::span<const Command> commands, FirstScreen first_screen);

}  // namespace sojourn::cli
