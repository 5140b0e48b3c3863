#include "userspace/cli/declared.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "userspace/cli/help.h"

namespace sojourn::cli {
namespace {

// A type that lists words ("auto|bpf|ring") has all possible values. One in capital letters is a
// placeholder.
std::vector<std::string> choices_of(const std::string& type) {
  const bool stands_for_itself =
      !type.empty() && std::ranges::none_of(type, [](unsigned char letter) {
        return std::isupper(letter) != 0 || letter == ' ';
      });
  return stands_for_itself ? CLI::detail::split(type, '|') : std::vector<std::string>();
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption one;
  one.heading = option_heading(option, !option.nonpositional());
  one.help = option.get_description() + option_notes(option);
  one.names = names_of(option);
  one.is_required = option.get_required();
  if (option.get_type_size() != 0 && option.get_expected_max() != 0) {  // not a flag
    const std::string type = option.get_type_name();
    one.repeats = option.get_items_expected_max() > 1;
    one.choices = choices_of(type);
    one.value = one.choices.empty() && !type.empty() ? type : option.get_single_name();
  }
  for (const CLI::Option* other : option.get_excludes())
    for (std::string& name : names_of(*other)) one.excluded.push_back(std::move(name));
  std::ranges::sort(one.excluded);  // CLI11 holds them in the order of their addresses
  return one;
}

DeclaredCommand declared(const CLI::App& app) {
  DeclaredCommand command{.name = app.get_name(),
                          .about = app.get_description(),
                          .footer = app.get_footer(),
                          .options = {},
                          .words = {}};
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? command.options : command.words).push_back(declared(*option));
  return command;
}

}  // namespace

DeclaredProgram declared_program(const CLI::App& command) {
  const CLI::App* program = &command;
  while (program->get_parent() != nullptr) program = program->get_parent();
  DeclaredProgram result{.itself = declared(*program), .commands = {}};
  for (const CLI::App* app : program->get_subcommands({}))
    if (!app->get_group().empty()) result.commands.push_back(declared(*app));
  return result;
}

std::string brief(const std::string& help) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 70;
  std::string_view text = help;
  for (const std::string_view end : {". ", ": ", "; ", " ("})
    text = text.substr(0, text.find(end, std::min(kShortest, text.size())));
  if (text.size() <= kLongest) return std::string(text);
  return std::string(text.substr(0, text.rfind(' ', kLongest - 3))) + "...";
}

}  // namespace sojourn::cli
