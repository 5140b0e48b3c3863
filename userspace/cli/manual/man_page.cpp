#include "userspace/cli/manual/man_page.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "userspace/cli/manual/roff.h"

namespace sojourn::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string head_of(std::string_view name, std::string summary) {
  std::string title(name);
  for (char& letter : title)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  // The form that `whatis` expects: lower case.
  summary.at(0) = static_cast<char>(std::tolower(static_cast<unsigned char>(summary.at(0))));
  return fmt::format(
      ".TH {} 1 \"\" \"sojourn {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n",
      roff_literal(title), SOJOURN_VERSION, roff_literal(name), roff_text(summary));
}

std::string section(std::string_view title, std::string_view text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

std::string paragraph(std::string_view line) {
  return fmt::format(".PP\n{}\n", roff_text(line));
}

// A row of a table of two columns, which two blanks part.
std::string row(std::string_view line, std::size_t gap) {
  return fmt::format(".TP\n.B {}\n{}\n", roff_literal(line.substr(0, gap)),
                     roff_text(line.substr(line.find_first_not_of(' ', gap))));
}

std::string example(std::string_view line) {
  return roff_literal(line.substr(line.find_first_not_of(' '))) + "\n";
}

// The help's footer (HelpFormatter has its syntax) as parts of a manual: examples are in a section
// of their own, each block of them below the line that introduces it.
struct Footer {
  std::string text;
  std::string examples;
};

Footer footer_of(const DeclaredCommand& command) {
  Footer footer;
  const std::vector<std::string_view> lines = lines_of(command.footer);
  const auto is_example = [&](std::size_t at) {
    return at < lines.size() && lines[at].starts_with(' ');
  };
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    if (line.empty()) continue;
    const auto gap = line.find("  ");
    if (is_example(at)) {
      const bool begins = at == 0 || !is_example(at - 1);
      footer.examples +=
          (begins ? ".EX\n" : "") + example(line) + (is_example(at + 1) ? "" : ".EE\n");
    } else if (is_example(at + 1)) {
      footer.examples += line == "Examples:" ? "" : paragraph(line);
    } else if (gap != std::string_view::npos) {
      footer.text += row(line, gap);
    } else {
      footer.text += paragraph(line);
    }
  }
  return footer;
}

// "-p, --pid PID" with the names bold and the value in italics.
std::string head_of(const DeclaredOption& option) {
  if (option.names.empty()) return fmt::format("\\fI{}\\fR", roff_literal(option.heading));
  const auto value = option.heading.find(' ', option.heading.find(option.names.back()));
  std::string head =
      fmt::format("\\fB{}\\fR", roff_literal(std::string_view(option.heading).substr(0, value)));
  if (value != std::string::npos)
    head += fmt::format(" \\fI{}\\fR",
                        roff_literal(std::string_view(option.heading).substr(value + 1)));
  return head;
}

std::string list_of(const std::vector<DeclaredOption>& options) {
  std::string text;
  for (const DeclaredOption& option : options)
    text += fmt::format(".TP\n{}\n{}\n", head_of(option), roff_text(option.help));
  return text;
}

// "sojourn ctl [OPTIONS] action [points]"
std::string synopsis_of(const DeclaredProgram& program, const DeclaredCommand& command) {
  std::string line = fmt::format("\\fB{} {}\\fR [\\fIOPTIONS\\fR]",
                                 roff_literal(program.itself.name), roff_literal(command.name));
  for (const DeclaredOption& word : command.words) {
    const std::string_view name = std::string_view(word.heading).substr(0, word.heading.find(' '));
    const std::string shown =
        fmt::format("\\fI{}\\fR{}", roff_literal(name), word.repeats ? " ..." : "");
    line += word.is_required ? " " + shown : fmt::format(" [{}]", shown);
  }
  return line + "\n";
}

constexpr std::string_view kExitStatus =
    ".TP\n.B 0\nDone.\n"
    ".TP\n.B 1\nFailed at run time; the last line on standard error says what, on what and why.\n"
    ".TP\n.B 2\nWrong usage.\n";

std::string reference_to(std::string_view page) {
  return fmt::format(".BR {} (1)\n", roff_literal(page));
}

}  // namespace

std::string page_name(const DeclaredProgram& program, const DeclaredCommand& command) {
  return fmt::format("{}-{}", program.itself.name, command.name);
}

std::string program_page(const DeclaredProgram& program) {
  const Footer footer = footer_of(program.itself);
  std::string commands;
  for (const DeclaredCommand& command : program.commands)
    commands += fmt::format(".TP\n{}{}\n", reference_to(page_name(program, command)),
                            roff_text(command.about));
  return head_of(program.itself.name, "latency tracer for software base stations") +
         section("SYNOPSIS", fmt::format("\\fB{}\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n",
                                         roff_literal(program.itself.name))) +
         section("DESCRIPTION", roff_text(program.itself.about) + "\n" + footer.text) +
         section("COMMANDS", commands) + section("OPTIONS", list_of(program.itself.options)) +
         section("EXAMPLES", footer.examples) + section("EXIT STATUS", kExitStatus) +
         section("FILES",
                 "The documents that help names, docs/*.md, are in share/doc/sojourn of the "
                 "installation, ready maps in share/sojourn/maps.\n");
}

std::string command_page(const DeclaredProgram& program, const DeclaredCommand& command) {
  const Footer footer = footer_of(command);
  return head_of(page_name(program, command), command.about) +
         section("SYNOPSIS", synopsis_of(program, command)) +
         section("DESCRIPTION", roff_text(command.about) + ".\n" + footer.text) +
         section("OPTIONS", list_of(command.words) + list_of(command.options)) +
         section("EXAMPLES", footer.examples) + section("EXIT STATUS", kExitStatus) +
         section("SEE ALSO", reference_to(program.itself.name));
}

}  // namespace sojourn::cli
