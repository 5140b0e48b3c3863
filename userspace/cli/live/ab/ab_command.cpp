// `sojourn ab`: records two commands, or two running processes, in turns and compares the runs.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/live/ab/recording_child.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/run_comparison.h"
#include "userspace/cli/tell.h"

namespace sojourn::cli {

namespace {

using Words = std::vector<std::string>;

struct AbOptions {
  Words words;  // CMD_A... -- CMD_B...
  std::vector<std::string> pids;
  unsigned runs = 7;
  std::string duration;
  std::string keep;
  std::string record;
  RunComparison comparison;

  // What each side is, as arguments of `record`.
  Words sides[2];
};

// A, B, B, A, A, B, B, A: a drift of the machine falls on both sides alike.
bool is_b(unsigned run) {
  return run % 4 == 1 || run % 4 == 2;
}

void find_sides(AbOptions& options) {
  if (options.pids.empty() == options.words.empty())
    refuse_usage("give either two commands (-- CMD_A -- CMD_B) or two processes (-p PID -p PID)");
  if (options.words.empty()) {
    if (options.pids.size() != 2) refuse_usage("two processes are compared: -p PID -p PID");
    if (options.duration.empty()) refuse_usage("with -p each run takes as long as --for says");
    for (std::size_t side = 0; side < 2; ++side) options.sides[side] = {"-p", options.pids[side]};
    return;
  }
  const auto between = std::ranges::find(options.words, "--");
  if (between == options.words.begin() || between == options.words.end() ||
      between + 1 == options.words.end())
    refuse_usage("two commands are compared: -- CMD_A ARGS... -- CMD_B ARGS...");
  if (std::find(between + 1, options.words.end(), "--") != options.words.end())
    refuse_usage("there are more than two commands; a command that needs -- goes into a script");
  for (std::size_t side = 0; side < 2; ++side) {
    options.sides[side] = {"--"};
    const auto from = side == 0 ? options.words.begin() : between + 1;
    const auto to = side == 0 ? between : options.words.end();
    options.sides[side].insert(options.sides[side].end(), from, to);
  }
}

// Where the traces are: kept where the user says, else gone at the end.
class TraceDirectory {
 public:
  static Result<TraceDirectory> open(const std::string& keep) {
    TraceDirectory directory;
    if (keep.empty()) {
      std::string path = "/var/tmp/sojourn-ab-XXXXXX";
      if (mkdtemp(path.data()) == nullptr) return fail_errno("make a directory in /var/tmp");
      directory.path_ = path;
      directory.is_removed_ = true;
      return directory;
    }
    std::error_code failed;
    std::filesystem::create_directories(keep, failed);
    if (failed) return fail("make {}: {}", keep, failed.message());
    directory.path_ = keep;
    return directory;
  }
  TraceDirectory(TraceDirectory&& other) noexcept { *this = std::move(other); }
  TraceDirectory& operator=(TraceDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(is_removed_, other.is_removed_);
    return *this;
  }
  ~TraceDirectory() {
    std::error_code ignored;  // nothing to be done about what cannot be removed
    if (is_removed_) std::filesystem::remove_all(path_, ignored);
  }

  std::string trace(bool of_b, std::size_t number) const {
    return fmt::format("{}/{}-{:02}.sjt", path_, of_b ? 'b' : 'a', number);
  }

 private:
  TraceDirectory() = default;

  std::string path_;
  bool is_removed_ = false;
};

Words words_of(std::string_view text) {
  Words words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return words;
    const auto end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Result<void> run_ab(const AbOptions& options) {
  SJ_TRY(directory, TraceDirectory::open(options.keep));
  SJ_TRY(interrupts, prepare_recordings());
  std::vector<std::string> traces[2];
  const unsigned all = 2 * options.runs;
  for (unsigned run = 0; run < all; ++run) {
    const bool of_b = is_b(run);
    const std::string path = directory.trace(of_b, traces[of_b ? 1 : 0].size() + 1);
    tell("run {} of {}: {}\n", run + 1, all, of_b ? 'B' : 'A');
    Words arguments = {"-q", "-o", path};
    if (!options.duration.empty()) arguments.insert(arguments.end(), {"--for", options.duration});
    const Words more = words_of(options.record);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Words& side = options.sides[of_b ? 1 : 0];
    arguments.insert(arguments.end(), side.begin(), side.end());
    if (auto recorded = record_once(arguments, interrupts); !recorded)
      return std::unexpected(std::move(recorded).error().within(
          fmt::format("run {} of {} ({})", run + 1, all, of_b ? 'B' : 'A')));
    traces[of_b ? 1 : 0].push_back(path);
  }
  return options.comparison.run(traces[0], traces[1]);
}

}  // namespace

Action define_ab(Arguments& arguments) {
  auto options = std::make_shared<AbOptions>();
  arguments
      .add_option("commands", options->words,
                  "-- CMD_A ARGS... -- CMD_B ARGS...: the two commands. Each run starts one anew; "
                  "what still runs at its end is ended")
      .type_name("CMD");
  arguments
      .add_option("-p,--pid", options->pids,
                  "Instead of commands: two running processes, -p A -p B. They are left running")
      .type_name("PID")
      .one_word_each()
      .check(check_process_id);
  arguments
      .add_option("--runs", options->runs,
                  "How often each side is recorded. Four can show something in one test, seven in "
                  "85")
      .type_name("N")
      .check(whole_number(2, 1000))
      .capture_default_str();
  arguments
      .add_option("--for", options->duration,
                  "How long each run takes, e.g. 10s. By default until the command ends")
      .type_name("TIME")
      .check(check_duration);
  arguments
      .add_option("--keep", options->keep,
                  "Keep the traces in this directory, as a-01.sjt, b-01.sjt and so on")
      .type_name("DIR");
  arguments
      .add_option("--record", options->record,
                  "More options of `sojourn record`, in one word with blanks between them, e.g. "
                  "'--engine ring --context sched'")
      .type_name("OPTIONS");
  options->comparison.define_options(arguments);
  arguments.when_parsed([options] { find_sides(*options); });
  arguments.footer(
      "Runs are recorded in the order A B B A A B B A, so that a drift of the machine falls on "
      "both sides alike. What the commands print goes to standard error.\n"
      "\n" +
      comparison_words() +
      "\n\nExamples:\n"
      "  sojourn ab --for 10s -- ./gnb-old -c gnb.yml -- ./gnb-new -c gnb.yml\n"
      "  sojourn ab --runs 5 --for 5s --fail-on 'p99(D) > +5%' -p 4242 -p 4343");
  return [options] { return run_ab(*options); };
}

}  // namespace sojourn::cli
