#include "userspace/cli/live/record/post_mortem_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/base/shell_word.h"
#include "analysis/present/words/text_format.h"
#include "userspace/capture/api.h"
#include "userspace/cli/command.h"
#include "userspace/cli/live/record/snapshot_recording.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

void PostMortemOptions::define(Arguments& arguments) {
  const Argument post_mortem =
      arguments
          .add_option("--post-mortem", path_,
                      "Attach to nothing. Make a trace of the rings that a process left when it "
                      "ended: a ring file, a directory of them (SJ_RING_DIR), or a core file. -p "
                      "chooses the process where there are several")
          .type_name("PATH")
          .check([](const std::string& path) {
            return path.empty() ? "a ring file, a directory of them, or a core file is wanted" : "";
          });
  arguments
      .add_option("--exe", executables_,
                  "Where the program that ended is now, if it was moved since. May be repeated for "
                  "its libraries")
      .type_name("FILE")
      .needs(post_mortem);
}

void PostMortemOptions::check(const Arguments& arguments) {
  constexpr std::array<std::string_view, 5> kMeant = {"--post-mortem", "--exe", "--pid", "--output",
                                                      "--quiet"};
  for (const Argument& option : arguments.all()) {
    const std::string name = option.name();
    if (option.count() != 0 && std::ranges::find(kMeant, name) == kMeant.end())
      refuse_usage(name + " is for a capture: --post-mortem reads what is left of one process");
  }
  if (arguments.count("--pid") > 1)
    refuse_usage("--post-mortem reads what is left of one process: give one -p");
}

namespace {

void tell_doubts(const capture::PostMortem& found) {
  for (const tracee::Unusable& unusable : found.unusable)
    tell("not read: {}: {}\n", unusable.where, unusable.why);
  for (const std::string& file : found.unchecked)
    tell("{} has no build id: that it is the build that ended cannot be checked\n", file);
  if (found.missing_bytes != 0)
    tell("the core file was cut short: {} are missing\n", bytes(found.missing_bytes));
  tell_what_is_unsure(found.trace.counts);
}

}  // namespace

Result<void> PostMortemOptions::run(const std::vector<pid_t>& pids, const std::string& output,
                                    bool is_quiet) const {
  const pid_t pid = pids.empty() ? 0 : pids.front();
  SJ_TRY(found, capture::recover(
                    {.path = path_, .pid = pid, .executables = executables_, .output = output}));
  if (is_quiet) return {};
  tell_orphaned_trace(found.trace, output);
  tell("times are right to {}{}\n",
       present::duration(static_cast<double>(found.trace.capture.stamp_error_ns)),
       found.is_this_boot
           ? ""
           : ", by the target's own readings of its clocks: this is another machine, "
             "or was started since");
  tell_doubts(found);
  tell("next: sojourn report {}\n", shell_word(output));
  return {};
}

}  // namespace sojourn::cli
