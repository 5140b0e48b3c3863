// The scripts by which shells complete `sojourn`. Each is self-contained: it needs no other file,
// and defines only names that begin with _sojourn.
#pragma once

#include <string>

#include "userspace/cli/declared.h"

namespace sojourn::cli {

std::string bash_completion(const DeclaredProgram& program);
std::string zsh_completion(const DeclaredProgram& program);
std::string fish_completion(const DeclaredProgram& program);

}  // namespace sojourn::cli
