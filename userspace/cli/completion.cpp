// `sojourn completion`: what bash needs to complete commands, options and their words, made from
// the same declarations as the help.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/cli/command.h"

namespace sojourn::cli {
namespace {

// Of an option that takes some words only its type lists them: "auto|bpf|ring". Others have types
// in capital letters, which stand for something.
std::string choices_of(const CLI::Option& option) {
  std::string words = option.get_type_name();
  const bool stands_for_itself = std::ranges::none_of(
      words, [](unsigned char letter) { return std::isupper(letter) != 0 || letter == ' '; });
  if (!stands_for_itself || option.get_type_size() == 0) return "";
  std::ranges::replace(words, '|', ' ');
  return words;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string reply_with(std::string_view words) {
  return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", words);
}

// The lines of one command in the three choices that the script makes.
struct Lines {
  std::string values;   // after an option
  std::string options;  // where a word begins with a dash
  std::string others;   // elsewhere, if not files
};

void add(const CLI::App& command, Lines& lines) {
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    const std::string choices = choices_of(*option);
    const std::vector<std::string> names = names_of(*option);
    options.insert(options.end(), names.begin(), names.end());
    if (choices.empty()) continue;
    if (names.empty())
      lines.others +=
          fmt::format("    {}) {}; return ;;\n", command.get_name(), reply_with(choices));
    for (const std::string& name : names)
      lines.values += fmt::format("    \"{} {}\") {}; return ;;\n", command.get_name(), name,
                                  reply_with(choices));
  }
  lines.options += fmt::format("      {}) {} ;;\n", command.get_name(),
                               reply_with(fmt::format("{}", fmt::join(options, " "))));
}

std::string script_of(const CLI::App& program) {
  std::vector<std::string> commands;
  Lines lines;
  for (const CLI::App* command : program.get_subcommands({})) {
    commands.push_back(command->get_name());
    add(*command, lines);
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

}  // namespace

Action define_completion(Arguments& arguments) {
  arguments.footer(
      "For this shell:\n"
      "  source <(sojourn completion)\n"
      "For all shells of this machine:\n"
      "  sojourn completion > /etc/bash_completion.d/sojourn");
  return [arguments]() -> Result<void> {
    fmt::print("{}", script_of(*arguments.app().get_parent()));
    return {};
  };
}

}  // namespace sojourn::cli
