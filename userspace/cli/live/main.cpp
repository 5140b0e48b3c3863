// `sojourn`: the commands that need a live machine, and those that do not.
#include <iterator>
#include <vector>

#include "userspace/cli/live/first_screen.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/offline_commands.h"
#include "userspace/cli/program.h"

namespace {

namespace cli = sojourn::cli;

constexpr cli::Command kLiveCommands[] = {
    {"list", "List the points of a running process or of a program's file", cli::define_list},
    {"doctor", "Check what works on this machine, and what to do about the rest",
     cli::define_doctor},
    {"host", "Measure what this machine's own operations cost", cli::define_host},
    {"live", "Watch a running process, or a trace that grows, in the terminal", cli::define_live},
    {"serve", "Show a running process, or traces, in the browser over HTTP", cli::define_serve},
    {"record", "Attach to a running process, or start one, and write a trace", cli::define_record},
    {"ab", "Record two commands or processes in turns, and compare them", cli::define_ab},
    {"ctl", "Switch points on and off, and control a running capture", cli::define_ctl}};

}  // namespace

int main(int argc, char** argv) {
  std::vector<cli::Command> commands(std::begin(kLiveCommands), std::end(kLiveCommands));
  const auto offline = cli::offline_commands();
  commands.insert(commands.end(), offline.begin(), offline.end());
  return cli::run_program(argc, argv, commands, cli::first_screen);
}
