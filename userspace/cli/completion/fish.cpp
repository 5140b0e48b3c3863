#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/cli/completion/scripts.h"

namespace sojourn::cli {
namespace {

// Quotes any text as one word of the shell.
std::string fish_quoted(std::string_view text) {
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') word += '\\';
    word += letter;
  }
  return word + "'";
}

// The flags for an option's value: -x excludes files, -r requires a value, -F allows files again.
std::string fish_value(const DeclaredOption& option) {
  if (option.value.empty()) return "";
  if (!option.choices.empty())
    return " -x -a " + fish_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
  if (option.value == "PID") return " -x -a '(__fish_complete_pids)'";
  if (option.value == "FILE" || option.value == "PATH" || option.value == "TRACE") return " -r -F";
  return " -x";
}

std::string line_of(const DeclaredOption& option, std::string_view condition) {
  std::string line = fmt::format("complete -c sojourn -n {}", fish_quoted(condition));
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return fmt::format("{}{} -d {}\n", line, fish_value(option), fish_quoted(brief(option.help)));
}

std::string word_line(const DeclaredOption& word, std::string_view condition) {
  const std::string line = fmt::format("complete -c sojourn -n {}", fish_quoted(condition));
  if (word.value == "GLOB") return "";
  if (word.choices.empty()) return line + " -F\n";
  return fmt::format("{} -a {}\n", line,
                     fish_quoted(fmt::format("{}", fmt::join(word.choices, " "))));
}

}  // namespace

std::string fish_completion(const DeclaredProgram& program) {
  std::string script = "complete -c sojourn -f\n";
  for (const DeclaredOption& option : program.itself.options)
    script += line_of(option, "__fish_use_subcommand");
  for (const DeclaredCommand& command : program.commands) {
    script += fmt::format("complete -c sojourn -n __fish_use_subcommand -a {} -d {}\n",
                          command.name, fish_quoted(command.about));
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    for (const DeclaredOption& option : command.options) script += line_of(option, condition);
    for (const DeclaredOption& word : command.words) script += word_line(word, condition);
  }
  return script;
}

}  // namespace sojourn::cli
