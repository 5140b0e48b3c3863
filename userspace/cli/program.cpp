#include "userspace/cli/program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
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
#include "userspace/cli/help.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"

namespace sojourn::cli {

namespace {

bool is_command(std::span<const Command> commands, std::string_view word) {
  return std::ranges::any_of(commands,
                             [&](const Command& command) { return word == command.name; });
}

int refuse_command(std::span<const Command> commands, const char* word) {
  std::vector<std::string> names;
  for (const Command& command : commands)
    if (command.is_listed) names.emplace_back(command.name);
  const std::string near = filter::did_you_mean(word, names);
  tell("sojourn: there is no command \"{}\"{}\n", word,
       near.empty() ? "; `sojourn --help` lists them" : near);
  return 2;
}

// Flushes stdout. Data that a full disk or a closed pipe did not take is a failure. Returns the
// exit code.
int flush_output() {
  errno = 0;
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0) return 0;
  if (errno == 0)  // an earlier write failed, and its errno is lost
    tell("sojourn: write to standard output failed\n");
  else
    tell("sojourn: write standard output: {}\n", std::generic_category().message(errno));
  return 1;
}

// The screen of `sojourn` without arguments.
int show_first_screen(FirstScreen first_screen) {
  const auto screen = first_screen();
  if (!screen) {
    tell("sojourn: {}\n", screen.error().text());
    return 1;
  }
  (void)std::fputs(screen->c_str(), stdout);  // the flush finds errors
  return flush_output();
}

int exit_code_of(ErrorKind kind) {
  if (kind == ErrorKind::kConditionHolds) return 3;
  return kind == ErrorKind::kTooLittleData ? 4 : 1;
}

bool may_lack_value(CLI::App& command, const std::string& word) {
  const CLI::Option* const option =
      word.starts_with("--") ? command.get_option_no_throw(word) : nullptr;
  return option != nullptr && option->get_expected_min() == 0 && option->get_expected_max() == 1 &&
         option->get_items_expected_max() == 1;
}

// The arguments, last one first, as CLI11 needs them. It takes a "--" behind an option with an
// optional value for the end of that option. So the "--" before a command is doubled there.
std::vector<std::string> arguments_of(int argc, char** argv, CLI::App& app) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto mark = std::ranges::find(words, "--");
  const auto commands = app.get_subcommands([&](const CLI::App* command) {
    return !words.empty() && command->get_name() == words.front();
  });
  const auto ends_at = [&](std::ptrdiff_t back) {
    return mark - words.begin() > back && may_lack_value(*commands.front(), *(mark - back));
  };
  if (!commands.empty() && mark != words.end() && (ends_at(1) || ends_at(2)))
    words.insert(mark, "--");
  std::ranges::reverse(words);
  return words;
}

int run(int argc, char** argv, std::span<const Command> commands, FirstScreen first_screen) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write
  if (argc <= 1 && first_screen != nullptr) return show_first_screen(first_screen);
  CLI::App app(
      "sojourn shows, for a base station that is already running, where every packet spends its "
      "time.",
      "sojourn");
  app.set_version_flag("--version", "sojourn " SOJOURN_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>(help_width()));
  app.failure_message(
      [](const CLI::App* parsed, const CLI::Error& error) { return refusal(*parsed, error); });

  // CLI11 would only say that a subcommand is missing.
  if (argc > 1 && argv[1][0] != '-' && !is_command(commands, argv[1]))
    return refuse_command(commands, argv[1]);
  Action chosen;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    if (!command.is_listed) sub->group("");
    Arguments arguments(*sub);
    sub->callback([&chosen, action = command.define(arguments)] { chosen = action; });
  }
  // Set after the commands, which would inherit it.
  app.footer(
      "Start here:\n"
      "  sojourn                                     which processes can be traced\n"
      "  sojourn record -p PID --for 10s -o run.sjt  trace one for ten seconds\n"
      "  sojourn report run.sjt                      where its packets spent their time");
  try {
    app.parse(arguments_of(argc, argv, app));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? flush_output() : 2;
  }
  if (const auto done = chosen(); !done) {
    tell("sojourn: {}\n", done.error().text());
    return exit_code_of(done.error().kind());
  }
  return flush_output();
}

}  // namespace

int run_program(int argc, char** argv, std::span<const Command> commands,
                FirstScreen first_screen) {
  // Opens closed standard descriptors, as otherwise the first file that is opened would get their
  // number. They are opened for reading only, so that writing data to them is an error.
  while (true) {
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0) break;
    if (fd > STDERR_FILENO) {
      close(fd);
      break;
    }
  }
  try {
    return run(argc, argv, commands, first_screen);
  } catch (const std::system_error& error) {
    const std::string reason = error.code().message();
    if (std::ferror(stdout) != 0)
      tell("sojourn: write standard output: {}\n", reason);
    else
      tell("sojourn: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    tell("sojourn: {}\n", error.what());
    return 1;
  }
}

}  // namespace sojourn::cli
