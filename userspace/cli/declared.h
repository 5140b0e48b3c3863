// The declarations of the program's commands, without the library: shell completion and the manual
// are made from them.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sojourn::cli {

// An option, or a positional word.
struct DeclaredOption {
  std::string heading;                // "-p, --pid PID", as help has it
  std::string help;                   // with its default, and the options that it needs or excludes
  std::vector<std::string> names;     // "-p", "--pid"; empty: positional
  std::vector<std::string> excluded;  // names of options that it excludes
  std::string value;                  // the placeholder of its value: "PID"; empty: it takes none
  std::vector<std::string> choices;   // all possible values, if they can be listed
  bool repeats = false;
  bool is_required = false;
};

struct DeclaredCommand {
  std::string name;
  std::string about;
  std::string footer;
  std::vector<DeclaredOption> options;
  std::vector<DeclaredOption> words;  // in their order
};

struct DeclaredProgram {
  DeclaredCommand itself;
  std::vector<DeclaredCommand> commands;  // commands in the help, in its order
};

// The declarations of the program that `command` belongs to.
DeclaredProgram declared_program(const CLI::App& command);

// The first part of a help text, as menus have one line for each option.
std::string brief(const std::string& help);

}  // namespace sojourn::cli
