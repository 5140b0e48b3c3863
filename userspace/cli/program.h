// The command line: parses a program's words by a table of subcommands, runs one, prints errors and
// says the exit code (0 done, 1 failed at run time, 2 wrong usage).
#pragma once

#include <span>
#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/command.h"

namespace sojourn::cli {

using FirstScreen = Result<std::string> (*)();

// `first_screen`: what the program prints without words; null: how it is used.
int run_program(int argc, char** argv, std::span<const Command> commands, FirstScreen first_screen);

}  // namespace sojourn::cli
