// How the command line explains itself: its help, at the terminal's width, and its refusals of
// wrong usage, in one line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sojourn::cli {

// A footer's lines are paragraphs, to be broken where they are too long; one that begins with a
// blank is an example and stays as it is, and one that has two blanks in a row is a row of a table
// of two columns.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_group(std::string heading, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::size_t width_;
};

// "-p, --pid PID"; of what is known by its place "files FILE ..."
std::string option_heading(const CLI::Option& option, bool is_positional);

// What stands where nothing is said, and which options go together: " (default: auto)".
std::string option_notes(const CLI::Option& option);

// What is wrong with the arguments, and where to look; `app` has parsed them.
std::string refusal(const CLI::App& app, const CLI::Error& error);

}  // namespace sojourn::cli
