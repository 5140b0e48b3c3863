#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/cli/completion/scripts.h"

namespace sojourn::cli {
namespace {

// Quotes any text as one word of the shell.
std::string zsh_quoted(std::string_view text) {
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

// Escapes characters that _arguments and _describe interpret.
std::string escaped(std::string_view text) {
  std::string word;
  for (const char letter : text) {
    if (std::string_view("\\:[]").find(letter) != std::string_view::npos) word += '\\';
    word += letter;
  }
  return word;
}

std::string action_of(const DeclaredOption& option) {
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  if (option.value == "PID") return "_pids";
  if (option.value == "FILE" || option.value == "PATH" || option.value == "TRACE") return "_files";
  return " ";  // the message alone
}

std::string zsh_value(const DeclaredOption& option) {
  return option.value.empty() ? ""
                              : fmt::format(":{}:{}", escaped(option.value), action_of(option));
}

// One specification for each name, which excludes the others.
void add_option(const DeclaredOption& option, bool is_alone, std::vector<std::string>& specs) {
  std::vector<std::string> shut_out = option.excluded;
  if (!option.repeats) shut_out.insert(shut_out.end(), option.names.begin(), option.names.end());
  if (is_alone) shut_out = {"-", "*"};
  const std::string group = shut_out.empty() ? "" : fmt::format("({})", fmt::join(shut_out, " "));
  for (const std::string& name : option.names)
    specs.push_back(zsh_quoted(fmt::format("{}{}{}[{}]{}", group, option.repeats ? "*" : "", name,
                                           escaped(brief(option.help)), zsh_value(option))));
}

bool is_help(const DeclaredOption& option) {
  return std::ranges::find(option.names, "--help") != option.names.end() ||
         std::ranges::find(option.names, "--version") != option.names.end();
}

std::vector<std::string> specs_of(const DeclaredCommand& command) {
  std::vector<std::string> specs;
  for (const DeclaredOption& option : command.options) add_option(option, is_help(option), specs);
  for (const DeclaredOption& word : command.words) {
    if (word.value == "CMD")  // and its own arguments
      specs.push_back(zsh_quoted(fmt::format("*::{}: _normal", escaped(brief(word.help)))));
    else if (word.choices.empty() && word.value != "GLOB")
      specs.push_back(zsh_quoted(fmt::format("{}:{}:_files", word.repeats ? "*" : "", word.value)));
    else
      specs.push_back(zsh_quoted(fmt::format(":{}:{}", word.value, action_of(word))));
  }
  return specs;
}

}  // namespace

std::string zsh_completion(const DeclaredProgram& program) {
  std::string names;
  std::string cases;
  for (const DeclaredCommand& command : program.commands) {
    names += fmt::format("        {}\n", zsh_quoted(command.name + ":" + escaped(command.about)));
    cases += fmt::format("        {})\n          _arguments -s \\\n            {} ;;\n",
                         command.name, fmt::join(specs_of(command), " \\\n            "));
  }
  return fmt::format(R"(#compdef sojourn
_sojourn() {{
  local curcontext=$curcontext state line ret=1
  typeset -A opt_args
  _arguments -C \
    {} \
    '1:command:->command' '*::argument:->argument' && ret=0
  case $state in
    command)
      local -a commands=(
{}      )
      _describe -t commands command commands && ret=0 ;;
    argument)
      curcontext="${{curcontext%:*}}-$words[1]:"
      case $words[1] in
{}      esac
      ret=$? ;;
  esac
  return ret
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _sojourn "$@"; else compdef _sojourn sojourn; fi
)",
                     fmt::join(specs_of(program.itself), " \\\n    "), names, cases);
}

}  // namespace sojourn::cli
