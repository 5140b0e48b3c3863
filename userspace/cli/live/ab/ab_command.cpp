// `sojourn ab`: records two commands, or two running processes, in turns and compares the runs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "analysis/differential/runs_in_turns.h"
#include "analysis/present/words/text_format.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/live/ab/recording_child.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/run_comparison.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

using Words = std::vector<std::string>;

struct AbOptions {
  Words words;  // CMD_A... -- CMD_B...
  std::vector<std::string> pids;
  unsigned runs = 7;
  bool until_certain = false;
  unsigned max_runs = 30;
  std::string max_time;
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

void check_ends(const AbOptions& options) {
  if (options.until_certain && options.comparison.is_of_blocks())
    refuse_usage("--until-certain compares runs: --unit block is for a fixed number of them");
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

// Records the runs, one after the other, and knows what was recorded so far.
class Recordings {
 public:
  static Result<Recordings> prepare(const AbOptions& options) {
    SJ_TRY(directory, TraceDirectory::open(options.keep));
    SJ_TRY(interrupts, prepare_recordings());
    return Recordings(options, std::move(directory), std::move(interrupts));
  }

  // Which side's turn it was, and the trace.
  struct Recorded {
    bool of_b = false;
    std::string path;
  };
  Result<Recorded> record_next(unsigned at_most) {
    const bool of_b = is_b(done_);
    const std::string path = directory_.trace(of_b, ++of_side_[of_b ? 1 : 0]);
    ++done_;
    const std::string which =
        fmt::format("run {} of {}{}", done_, options_->until_certain ? "at most " : "", at_most);
    tell("{}: {}\n", which, of_b ? 'B' : 'A');
    Words arguments = {"-q", "-o", path};
    if (!options_->duration.empty())
      arguments.insert(arguments.end(), {"--for", options_->duration});
    const Words more = words_of(options_->record);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Words& side = options_->sides[of_b ? 1 : 0];
    arguments.insert(arguments.end(), side.begin(), side.end());
    if (auto recorded = record_once(arguments, interrupts_); !recorded)
      return std::unexpected(
          std::move(recorded).error().within(fmt::format("{} ({})", which, of_b ? 'B' : 'A')));
    return Recorded{.of_b = of_b, .path = path};
  }

 private:
  Recordings(const AbOptions& options, TraceDirectory directory, base::Fd interrupts)
      : options_(&options), directory_(std::move(directory)), interrupts_(std::move(interrupts)) {}

  const AbOptions* options_;
  TraceDirectory directory_;
  base::Fd interrupts_;
  unsigned done_ = 0;
  std::size_t of_side_[2] = {};
};

Result<void> run_fixed(const AbOptions& options) {
  SJ_TRY(recordings, Recordings::prepare(options));
  std::vector<std::string> traces[2];
  for (unsigned run = 0; run < 2 * options.runs; ++run) {
    SJ_TRY(recorded, recordings.record_next(2 * options.runs));
    traces[recorded.of_b ? 1 : 0].push_back(recorded.path);
  }
  return options.comparison.run(traces[0], traces[1]);
}

// What is surest by now, and how sure: "surest is D latency, +12.3 us (+4.1 %): p 0.21".
std::string look_text(const differential::RunsInTurns& turns) {
  const differential::RunsInTurns::Row* const surest = turns.surest();
  if (surest == nullptr) return "no packet yet";
  const auto shift = surest->shift();
  if (!shift) return "nothing to compare yet";
  return fmt::format("surest is {} {}, {}{} ({:+.1f} %): p {:.2g}", surest->direction,
                     printable(surest->name), shift->by() < 0 ? "-" : "+",
                     present::duration(std::abs(shift->by())),
                     shift->base == 0 ? 0 : 100 * shift->by() / shift->base, surest->adjusted_p);
}

Result<void> run_until_certain(const AbOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kFewestRuns = 4;  // two of each side have an interval
  const auto until = options.max_time.empty() ? Clock::time_point::max()
                                              : Clock::now() + *parse_duration(options.max_time);
  SJ_TRY(recordings, Recordings::prepare(options));
  std::array<RunComparison::Side, 2> sides;
  differential::RunsInTurns turns;
  const double level = options.comparison.level();
  const auto is_certain = [&] { return turns.runs() >= kFewestRuns && turns.is_certain(level); };
  while (turns.runs() < 2 * options.max_runs && !is_certain()) {
    if (turns.runs() >= kFewestRuns && Clock::now() >= until) {
      tell("--max-time {} is over\n", options.max_time);
      break;
    }
    SJ_TRY(recorded, recordings.record_next(2 * options.max_runs));
    RunComparison::Side& side = sides[recorded.of_b ? 1 : 0];
    SJ_CHECK(options.comparison.read_next(side, recorded.path));
    turns.add(side.runs.back(), recorded.of_b);
    tell("  {}\n", look_text(turns));
  }
  tell("{} after {} runs: {} is at most {:g}\n", is_certain() ? "certain" : "not certain",
       turns.runs(), is_certain() ? "p" : "no p", level);
  return options.comparison.compare(sides, &turns);
}

void define_ends(Arguments& arguments, AbOptions& options) {
  const Argument runs =
      arguments
          .add_option("--runs", options.runs,
                      "How often each side is recorded. Four can show something in one test, seven "
                      "in 85")
          .type_name("N")
          .check(whole_number(2, 1000))
          .capture_default_str();
  Argument until_certain = arguments.add_flag(
      "--until-certain", options.until_certain,
      "Record on until it is certain that something differs, and tell after each run how certain "
      "it is. The test allows for looking so often");
  until_certain.excludes(runs);
  arguments
      .add_option("--max-runs", options.max_runs,
                  "With --until-certain: at most so many runs of each side")
      .type_name("N")
      .check(whole_number(2, 1000))
      .needs(until_certain)
      .capture_default_str();
  arguments
      .add_option(
          "--max-time", options.max_time,
          "With --until-certain: no run begins after this time, e.g. 1h, once there are two "
          "of each side")
      .type_name("TIME")
      .check(check_duration)
      .needs(until_certain);
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
  define_ends(arguments, *options);
  options->comparison.define_options(arguments);
  arguments.when_parsed([options] {
    check_ends(*options);
    find_sides(*options);
  });
  arguments.footer(
      "Runs are recorded in the order A B B A A B B A, so that a drift of the machine falls on "
      "both sides alike. What the commands print goes to standard error.\n"
      "\n" +
      comparison_words() +
      "\n\nExamples:\n"
      "  sojourn ab --for 10s -- ./gnb-old -c gnb.yml -- ./gnb-new -c gnb.yml\n"
      "  sojourn ab --runs 5 --for 5s --fail-on 'p99(D) > +5%' -p 4242 -p 4343\n"
      "  sojourn ab --until-certain --max-time 1h --for 10s -- ./gnb-old -- ./gnb-new");
  return [options] {
    return options->until_certain ? run_until_certain(*options) : run_fixed(*options);
  };
}

}  // namespace sojourn::cli
