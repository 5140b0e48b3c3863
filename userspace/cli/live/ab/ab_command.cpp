// `sojourn ab`: records two commands, or two running processes, in turns and compares the runs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "analysis/base/shell_word.h"
#include "analysis/differential/runs_in_turns.h"
#include "analysis/present/words/text_format.h"
#include "userspace/base/fail_errno.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/live/ab/frequency_sweep.h"
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
  SweepOptions sweep;
  RunComparison comparison;

  // The arguments of `record` for each side; a sweep has one side.
  std::vector<Words> sides;
};

// One thing that is recorded several times.
struct Side {
  std::string name;  // "A", "1200MHz"
  std::string file;  // the begin of its traces' names
  Words arguments;
  std::uint64_t khz = 0;  // of a sweep
  std::vector<std::string> traces = {};
};

// A, B, B, A, A, B, B, A: a drift of the machine falls on all sides alike.
std::size_t side_of(unsigned run, std::size_t sides) {
  const std::size_t at = run % sides;
  return run / sides % 2 == 0 ? at : sides - 1 - at;
}

void find_swept(AbOptions& options) {
  if (options.pids.empty() == options.words.empty())
    refuse_usage("--sweep-frequency records one command (-- CMD) or one process (-p PID)");
  if (std::ranges::find(options.words, "--") != options.words.end() || options.pids.size() > 1)
    refuse_usage("--sweep-frequency records one command or one process, not two");
  if (!options.pids.empty() && options.duration.empty())
    refuse_usage("with -p each run takes as long as --for says");
  if (settings_in(options.sweep) > 2 && options.keep.empty())
    refuse_usage(
        "of more than two frequencies only the fastest and the slowest are compared: keep the "
        "other traces by --keep DIR");
  Words& side = options.sides.emplace_back(options.words.empty() ? Words{"-p", options.pids.front()}
                                                                 : Words{"--"});
  side.insert(side.end(), options.words.begin(), options.words.end());
}

void check_ends(const AbOptions& options) {
  if (options.until_certain && options.sweep.is_wanted)
    refuse_usage("--until-certain compares two sides, and --sweep-frequency records one");
  if (options.until_certain && options.comparison.is_of_blocks())
    refuse_usage("--until-certain compares runs: --unit block is for a fixed number of them");
}

void find_sides(AbOptions& options) {
  if (options.sweep.is_wanted) return find_swept(options);
  if (options.pids.empty() == options.words.empty())
    refuse_usage("give either two commands (-- CMD_A -- CMD_B) or two processes (-p PID -p PID)");
  if (options.words.empty()) {
    if (options.pids.size() != 2) refuse_usage("two processes are compared: -p PID -p PID");
    if (options.duration.empty()) refuse_usage("with -p each run takes as long as --for says");
    for (const std::string& pid : options.pids) options.sides.push_back({"-p", pid});
    return;
  }
  const auto between = std::ranges::find(options.words, "--");
  if (between == options.words.begin() || between == options.words.end() ||
      between + 1 == options.words.end())
    refuse_usage("two commands are compared: -- CMD_A ARGS... -- CMD_B ARGS...");
  if (std::find(between + 1, options.words.end(), "--") != options.words.end())
    refuse_usage("there are more than two commands; a command that needs -- goes into a script");
  for (std::size_t side = 0; side < 2; ++side) {
    Words& words = options.sides.emplace_back(Words{"--"});
    const auto from = side == 0 ? options.words.begin() : between + 1;
    const auto to = side == 0 ? between : options.words.end();
    words.insert(words.end(), from, to);
  }
}

// The directory of the traces: one that the user names, or a temporary one that is removed at the
// end.
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
    std::error_code ignored;  // a directory that cannot be removed stays
    if (is_removed_) std::filesystem::remove_all(path_, ignored);
  }

  std::string trace(const std::string& side, std::size_t number) const {
    return fmt::format("{}/{}-{:02}.sjt", path_, side, number);
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

// Records the runs of all sides in turns, and knows which were recorded so far.
class Recordings {
 public:
  static Result<Recordings> prepare(const AbOptions& options, std::vector<Side> sides) {
    SJ_TRY(directory, TraceDirectory::open(options.keep));
    SJ_TRY(interrupts, prepare_recordings());
    return Recordings(options, std::move(sides), std::move(directory), std::move(interrupts));
  }

  // `at_most`: the number of runs; `setting`: the frequency setting of a sweep. Returns the
  // recorded side.
  Result<std::size_t> record_next(unsigned at_most, host::FrequencySetting* setting = nullptr) {
    const std::size_t turn = side_of(done_, sides_.size());
    Side& side = sides_[turn];
    const std::string path = directory_.trace(side.file, side.traces.size() + 1);
    ++done_;
    const std::string which =
        fmt::format("run {} of {}{}", done_, options_->until_certain ? "at most " : "", at_most);
    tell("{}: {}\n", which, side.name);
    auto recorded = setting == nullptr ? Result<void>() : setting->set(side.khz);
    if (recorded) recorded = record(side, path);
    if (!recorded)
      return std::unexpected(
          std::move(recorded).error().within(fmt::format("{} ({})", which, side.name)));
    side.traces.push_back(path);
    return turn;
  }

  Result<void> record_all(host::FrequencySetting* setting = nullptr) {
    const auto all = static_cast<unsigned>(sides_.size()) * options_->runs;
    while (done_ < all) SJ_CHECK(record_next(all, setting));
    return {};
  }

  const std::vector<Side>& sides() const { return sides_; }

 private:
  Recordings(const AbOptions& options, std::vector<Side> sides, TraceDirectory directory,
             base::Fd interrupts)
      : options_(&options),
        sides_(std::move(sides)),
        directory_(std::move(directory)),
        interrupts_(std::move(interrupts)) {}

  Result<void> record(const Side& side, const std::string& trace) const {
    Words arguments = {"-q", "-o", trace};
    if (!options_->duration.empty())
      arguments.insert(arguments.end(), {"--for", options_->duration});
    const Words more = words_of(options_->record);
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), side.arguments.begin(), side.arguments.end());
    return record_once(arguments, interrupts_);
  }

  const AbOptions* options_;
  std::vector<Side> sides_;
  TraceDirectory directory_;
  base::Fd interrupts_;
  unsigned done_ = 0;
};

std::vector<Side> two_sides(const AbOptions& options) {
  return {{.name = "A", .file = "a", .arguments = options.sides[0]},
          {.name = "B", .file = "b", .arguments = options.sides[1]}};
}

Result<void> run_fixed(const AbOptions& options) {
  SJ_TRY(recordings, Recordings::prepare(options, two_sides(options)));
  SJ_CHECK(recordings.record_all());
  return options.comparison.run(recordings.sides()[0].traces, recordings.sides()[1].traces);
}

// The frequency is set back before the comparison, which takes its time.
Result<void> run_sweep(const AbOptions& options) {
  SJ_TRY(setting, begin_sweep(options.sweep));
  SJ_TRY(all_khz, swept_khz(options.sweep, setting));
  std::vector<Side> swept;
  swept.reserve(all_khz.size());
  for (const std::uint64_t khz : all_khz)
    swept.push_back({.name = megahertz(khz),
                     .file = megahertz(khz),
                     .arguments = options.sides.front(),
                     .khz = khz});
  SJ_TRY(recordings, Recordings::prepare(options, std::move(swept)));
  const auto recorded = recordings.record_all(&setting);
  const auto restored = setting.restore();
  SJ_CHECK(recorded);
  SJ_CHECK(restored);
  const auto& sides = recordings.sides();
  tell("compared: {} (base) and {} (new)\n", sides.front().name, sides.back().name);
  if (!options.keep.empty()) tell("next: sojourn energy {}/*.sjt\n", shell_word(options.keep));
  return options.comparison.run(sides.front().traces, sides.back().traces);
}

// The surest difference so far, and its p-value: "surest is D latency, +12.3 us (+4.1 %): p 0.21".
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
  SJ_TRY(recordings, Recordings::prepare(options, two_sides(options)));
  std::array<RunComparison::Side, 2> sides;
  differential::RunsInTurns turns;
  const double level = options.comparison.level();
  const auto is_certain = [&] { return turns.runs() >= kFewestRuns && turns.is_certain(level); };
  while (turns.runs() < 2 * options.max_runs && !is_certain()) {
    if (turns.runs() >= kFewestRuns && Clock::now() >= until) {
      tell("--max-time {} is over\n", options.max_time);
      break;
    }
    SJ_TRY(turn, recordings.record_next(2 * options.max_runs));
    RunComparison::Side& side = sides[turn];
    SJ_CHECK(options.comparison.read_next(side, recordings.sides()[turn].traces.back()));
    turns.add(side.runs.back(), turn == 1);
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
                      "The number of runs of each side. With four a difference can show in one "
                      "test, with seven in 85")
          .type_name("N")
          .check(whole_number(2, 1000))
          .capture_default_str();
  Argument until_certain = arguments.add_flag(
      "--until-certain", options.until_certain,
      "Record until a difference is certain, and print after each run how certain it is. The test "
      "allows for the repeated looks");
  until_certain.excludes(runs);
  arguments
      .add_option("--max-runs", options.max_runs,
                  "With --until-certain: the most runs of each side")
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
      .type_name("DIR")
      .check(check_output_name);
  arguments
      .add_option("--record", options->record,
                  "More options of `sojourn record`, in one word with blanks between them, e.g. "
                  "'--engine ring --context sched'")
      .type_name("OPTIONS");
  define_sweep_options(arguments, options->sweep);
  define_ends(arguments, *options);
  options->comparison.define_options(arguments);
  arguments.when_parsed([options, arguments] {
    check_sweep_options(arguments, options->sweep);
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
      "  sojourn ab --until-certain --max-time 1h --for 10s -- ./gnb-old -- ./gnb-new\n"
      "  sojourn ab --sweep-frequency --for 10s --record --energy --keep sweep -p 4242");
  return [options] {
    if (options->sweep.is_wanted) return run_sweep(*options);
    return options->until_certain ? run_until_certain(*options) : run_fixed(*options);
  };
}

}  // namespace sojourn::cli
