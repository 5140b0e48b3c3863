#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/cli/completion/scripts.h"

namespace sojourn::cli {
namespace {

std::string reply_with(std::string_view words) {
  return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", words);
}

// The lines of one command in the three choices that the script makes.
struct Lines {
  std::string values;   // after an option
  std::string options;  // for a word that begins with a dash
  std::string others;   // elsewhere, if not files
};

void add(const DeclaredCommand& command, Lines& lines) {
  std::vector<std::string> names;
  for (const DeclaredOption& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.choices.empty()) continue;
    for (const std::string& name : option.names)
      lines.values += fmt::format("    \"{} {}\") {}; return ;;\n", command.name, name,
                                  reply_with(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  for (const DeclaredOption& word : command.words)
    if (!word.choices.empty())
      lines.others += fmt::format("    {}) {}; return ;;\n", command.name,
                                  reply_with(fmt::format("{}", fmt::join(word.choices, " "))));
  lines.options += fmt::format("      {}) {} ;;\n", command.name,
                               reply_with(fmt::format("{}", fmt::join(names, " "))));
}

}  // namespace

std::string bash_completion(const DeclaredProgram& program) {
  std::vector<std::string> commands;
  Lines lines;
  for (const DeclaredCommand& command : program.commands) {
    commands.push_back(command.name);
    add(command, lines);
  }
  return fmt::format(R"(_sojourn() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then {0}; return; fi
  case "$command $before" in
    *" -p" | *" --pid") {1}; return ;;
{2}  esac
  if [[ $word == -* ]]; then
    case $command in
{3}    esac
    return
  fi
  case $command in
{4}  esac
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}}
complete -o filenames -F _sojourn sojourn
)",
                     reply_with(fmt::format("{}", fmt::join(commands, " "))),
                     reply_with("$(cd /proc && echo [0-9]*)"), lines.values, lines.options,
                     lines.others);
}

}  // namespace sojourn::cli
