// The command line: a table of subcommands, and the one place that prints errors and sets exit
// codes (0 done, 1 failed at run time, 2 wrong usage).
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "analysis/filter/keywords.h"
#include "userspace/cli/command.h"
#include "userspace/cli/first_screen.h"
#include "userspace/cli/help.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"

namespace {

namespace cli = sojourn::cli;
using cli::Action;
using cli::Command;

constexpr Command kCommands[] = {
    {"list", "List the points of a running process or of a program's file", cli::define_list},
    {"doctor", "Check what works on this machine, and what to do about the rest",
     cli::define_doctor},
    {"record", "Attach to a running process, or start one, and write a trace", cli::define_record},
    {"ctl", "Switch points on and off, and control a running capture", cli::define_ctl},
    {"report", "Latencies, and where packets spend their time, hop by hop", cli::define_report},
    {"journeys", "Single packets, step by step through the layers", cli::define_journeys},
    {"explain", "Why packets were late: a table of causes, and packets one by one",
     cli::define_explain},
    {"queues", "Depth, wait and throughput of queues, and who feeds them", cli::define_queues},
    {"profile", "Which functions the CPU time went to, by hop and by thread", cli::define_profile},
    {"threads", "What threads do and who wakes whom; needs no points", cli::define_threads},
    {"events", "The raw events of a trace, in time order", cli::define_events},
    {"check", "Verify a trace file: is it whole, is every lost event counted", cli::define_check},
    {"import", "Turn another tracer's recordings into a trace", cli::define_import},
    {"export", "Write a trace in the format of another tool", cli::define_export},
    {"schema", "Generate the C header that fires the events of a schema", cli::define_schema},
    {"completion", "Print the completion script for bash, zsh or fish", cli::define_completion},
    {"package-files", "Write the manual and the completions", cli::define_package_files, false},
};

bool is_command(std::string_view word) {
  return std::ranges::any_of(kCommands,
                             [&](const Command& command) { return word == command.name; });
}

int refuse_command(const char* word) {
  std::vector<std::string> names;
  for (const Command& command : kCommands)
    if (command.is_listed) names.emplace_back(command.name);
  const std::string near = sojourn::filter::did_you_mean(word, names);
  cli::tell("sojourn: there is no command \"{}\"{}\n", word,
            near.empty() ? "; `sojourn --help` lists them" : near);
  return 2;
}

// Data that a full disk or a closed pipe did not take is not done. Returns the exit code.
int flush_output() {
  errno = 0;
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0) return 0;
  if (errno == 0)  // an earlier write failed, and nobody kept why
    cli::tell("sojourn: write to standard output failed\n");
  else
    cli::tell("sojourn: write standard output: {}\n", std::generic_category().message(errno));
  return 1;
}

// Without arguments.
int show_first_screen() {
  const auto screen = cli::first_screen();
  if (!screen) {
    cli::tell("sojourn: {}\n", screen.error().text());
    return 1;
  }
  (void)std::fputs(screen->c_str(), stdout);  // what did not go out is found by the flush
  return flush_output();
}

int run(int argc, char** argv) {
  if (argc <= 1) return show_first_screen();
  CLI::App app(
      "sojourn shows, for a base station that is already running, where every packet spends its "
      "time.",
      "sojourn");
  app.set_version_flag("--version", "sojourn " SOJOURN_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<cli::HelpFormatter>(cli::help_width()));
  app.failure_message(
      [](const CLI::App* parsed, const CLI::Error& error) { return cli::refusal(*parsed, error); });

  // CLI11 would only say that a subcommand is missing.
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) return refuse_command(argv[1]);
  Action chosen;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    if (!command.is_listed) sub->group("");
    cli::Arguments arguments(*sub);
    sub->callback([&chosen, action = command.define(arguments)] { chosen = action; });
  }
  // Not earlier: commands would inherit it.
  app.footer(
      "Start here:\n"
      "  sojourn                                     which processes can be traced\n"
      "  sojourn record -p PID --for 10s -o run.sjt  trace one for ten seconds\n"
      "  sojourn report run.sjt                      where its packets spent their time");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? flush_output() : 2;
  }
  if (const auto done = chosen(); !done) {
    cli::tell("sojourn: {}\n", done.error().text());
    return 1;
  }
  return flush_output();
}

}  // namespace

int main(int argc, char** argv) {
  // A standard descriptor that is closed would be given to the first file that is opened. One that
  // cannot be written keeps data from ending nowhere without a word.
  while (true) {
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0) break;
    if (fd > STDERR_FILENO) {
      close(fd);
      break;
    }
  }
  try {
    return run(argc, argv);
  } catch (const std::system_error& error) {
    const std::string reason = error.code().message();
    if (std::ferror(stdout) != 0)
      cli::tell("sojourn: write standard output: {}\n", reason);
    else
      cli::tell("sojourn: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    cli::tell("sojourn: {}\n", error.what());
    return 1;
  }
}
