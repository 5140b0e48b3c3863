// What the program's commands declare, without the library that they declare it with: shells'
// completion and the manual are made from this.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sojourn::cli {

// An option, or a word that is known by its place.
struct DeclaredOption {
  std::string heading;                // "-p, --pid PID", as help has it
  std::string help;                   // with its default, and what it goes together with
  std::vector<std::string> names;     // "-p", "--pid"; empty: known by its place
  std::vector<std::string> excluded;  // the names of those that it cannot stand beside
  std::string value;                  // what its value is called: "PID"; empty: it takes none
  std::vector<std::string> choices;   // the values there are, where they can be listed
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
  std::vector<DeclaredCommand> commands;  // that help lists, in its order
};

// Of the program that `command` is a command of.
DeclaredProgram declared_program(const CLI::App& command);

// The first thought of a help text: menus have one line for each option.
std::string brief(const std::string& help);

}  // namespace sojourn::cli
