// The help, wrapped at the terminal's width, and the one-line messages for wrong usage.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sojourn::cli {

// Each line of a footer is a paragraph, and is wrapped. A line that begins with a blank is an
// example and stays as it is; one with two blanks in a row is a row of a table of two columns.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_usage(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_group(std::string heading, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::size_t width_;
};

// "-p, --pid PID"; for positional words "files FILE ..."
std::string option_heading(const CLI::Option& option, bool is_positional);

// An option's default, and the options that it needs or excludes: " (default: auto)".
std::string option_notes(const CLI::Option& option);

// The message for an error in the arguments, with a hint to the help; `app` has parsed them.
std::string refusal(const CLI::App& app, const CLI::Error& error);

}  // namespace sojourn::cli
