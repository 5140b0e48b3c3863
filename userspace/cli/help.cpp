#include "userspace/cli/help.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/filter/keywords.h"

namespace sojourn::cli {
namespace {

constexpr std::size_t kOptionColumn = 28;
constexpr std::size_t kCommandColumn = 14;
constexpr std::size_t kGap = 2;

// Wraps words at a column, and begins behind the text that is in the line already.
std::string in_column(std::string line, std::size_t column, std::string_view words,
                      std::size_t width) {
  std::string text;
  if (!line.empty() && line.size() + kGap > column) {
    text = line + "\n";
    line.clear();
  }
  line.resize(column, ' ');
  std::size_t filled = column;
  while (true) {
    words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
    if (words.empty()) break;
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(word.size());
    if (filled > column && filled + 1 + word.size() > width) {
      text += line + "\n";
      line.assign(column, ' ');
      filled = column;
    }
    if (filled > column) line += ' ';
    line += word;
    filled = line.size();
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return text + line + "\n";
}

std::string broken(std::string_view line, std::size_t width) {
  if (line.empty() || line.front() == ' ') return std::string(line) + "\n";
  const auto gap = line.find("  ");
  if (gap == std::string_view::npos) return in_column("", 0, line, width);
  const auto column = line.find_first_not_of(' ', gap);
  return in_column(std::string(line.substr(0, gap)), column, line.substr(column), width);
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);  // CLI11 holds options in the order of their addresses
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string path_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return app.get_name() + (chosen.empty() ? "" : " " + chosen.front()->get_name());
}

bool is_option(const std::string& word) {
  return word.starts_with("-") && word != "-" && word != "--";
}

// The refusal of the first word that no argument takes.
std::string unknown_words(const CLI::App& app) {
  const std::string hint = fmt::format("; see `{} --help`", path_of(app));
  const std::vector<std::string> words = app.remaining(true);
  const auto option = std::ranges::find_if(words, is_option);
  if (option == words.end())
    return fmt::format("one word too many: \"{}\"{}", words.empty() ? "" : words.front(), hint);
  std::vector<std::string> names;
  const auto chosen = app.get_subcommands();
  for (const CLI::Option* known : (chosen.empty() ? &app : chosen.front())->get_options())
    names.insert(names.end(), known->get_lnames().begin(), known->get_lnames().end());
  const std::string_view word = std::string_view(*option).substr(0, option->find('='));
  const auto dashes = std::min(word.find_first_not_of('-'), word.size());
  const std::string near = filter::nearest(word.substr(dashes), names);
  return fmt::format("there is no option {}{}", *option,
                     near.empty() ? hint : fmt::format(": did you mean --{}?", near));
}

bool is_of(const CLI::Error& error, CLI::ExitCodes code) {
  return error.get_exit_code() == static_cast<int>(code);
}

// The refusal for CLI11's "--pid: 1 required PID missing".
std::string missing_value(const std::string& words) {
  constexpr std::string_view kBefore = ": 1 required ";
  constexpr std::string_view kAfter = " missing";
  const auto before = words.find(kBefore);
  if (before == std::string::npos || !words.ends_with(kAfter)) return words;
  const auto type = before + kBefore.size();
  return fmt::format("{}: its {} is missing", words.substr(0, before),
                     words.substr(type, words.size() - kAfter.size() - type));
}

}  // namespace

std::string option_heading(const CLI::Option& option, bool is_positional) {
  std::string names = option.get_name(is_positional, !is_positional);
  if (const auto comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
  if (!option.get_option_text().empty()) return names + " " + option.get_option_text();
  if (option.get_type_size() == 0) return names;  // a flag
  if (const std::string type = option.get_type_name(); !type.empty()) names += " " + type;
  if (is_positional && option.get_expected_max() > 1) names += " ...";
  return names;
}

std::string option_notes(const CLI::Option& option) {
  std::string notes;
  if (!option.get_default_str().empty())
    notes += fmt::format(" (default: {})", option.get_default_str());
  if (!option.get_needs().empty()) notes += fmt::format(" (with {})", names_of(option.get_needs()));
  if (!option.get_excludes().empty())
    notes += fmt::format(" (not with {})", names_of(option.get_excludes()));
  return notes;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return in_column("  " + option_heading(*option, is_positional), kOptionColumn,
                   option->get_description() + option_notes(*option), width_);
}

// The library has "(1x)" behind a word that may come several times.
std::string HelpFormatter::make_option_usage(const CLI::Option* option) const {
  std::string usage = make_option_name(option, true);
  if (option->get_expected_max() > 1) usage += "...";
  return option->get_required() ? usage : "[" + usage + "]";
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return in_column("  " + command->get_name(), kCommandColumn, command->get_description(), width_);
}

// The library leaves two lines empty between groups.
std::string HelpFormatter::make_group(std::string heading, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  const bool is_first = is_positional || heading == "Options";
  std::string text =
      CLI::Formatter::make_group(std::move(heading), is_positional, std::move(options));
  return is_first ? text : text.substr(1);
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return in_column("", 0, app->get_description(), width_);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const std::string footer = app->get_footer();
  std::string text;
  for (std::string_view rest = footer; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    text += broken(rest.substr(0, end), width_);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

std::string refusal(const CLI::App& app, const CLI::Error& error) {
  std::string words = error.what();
  if (is_of(error, CLI::ExitCodes::ExtrasError)) words = unknown_words(app);
  if (is_of(error, CLI::ExitCodes::ArgumentMismatch)) words = missing_value(words);
  if (is_of(error, CLI::ExitCodes::RequiredError)) {
    if (!app.get_subcommands().empty())
      words = fmt::format("{}; see `{} --help`", words, path_of(app));
    else if (std::ranges::any_of(app.remaining(true), is_option))
      words = unknown_words(app);
    else
      words = "a command is wanted; `sojourn --help` lists them";
  }
  return fmt::format("sojourn: {}\n", words);
}

}  // namespace sojourn::cli
