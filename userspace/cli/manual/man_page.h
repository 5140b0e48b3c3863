// Manual pages in roff's man macros, made from the same declarations as the help.
#pragma once

#include <string>

#include "userspace/cli/declared.h"

namespace sojourn::cli {

// sojourn(1): the program and its commands.
std::string program_page(const DeclaredProgram& program);

// sojourn-report(1) and so on.
std::string command_page(const DeclaredProgram& program, const DeclaredCommand& command);

// "sojourn-report", which is also the file's name without ".1".
std::string page_name(const DeclaredProgram& program, const DeclaredCommand& command);

}  // namespace sojourn::cli
