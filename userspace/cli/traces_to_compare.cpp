#include "userspace/cli/traces_to_compare.h"

#include <cstdint>

#include "analysis/base/time_text.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/lateness_of_traces.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

std::string check_share(const std::string& text) {
  const std::string wrong = number_above(50, 100)(text);
  return wrong;
}

std::string check_time(const std::string& text) {
  const auto time = parse_time(text);
  return time ? "" : time.error().text();
}

}  // namespace

void TracesToCompare::define_options(Arguments& arguments) {
  arguments
      .add_option("--share", least_percent_,
                  "The flow has an edge from one point to another if the first comes before the "
                  "second in at least this share of the packets")
      .type_name("PERCENT")
      .check(check_share)
      .capture_default_str();
  arguments
      .add_option("--clock-error", clock_error_,
                  "Stamps of two threads that differ by less than this do not give an order. By "
                  "default the error that the trace states for its stamps")
      .type_name("TIME")
      .check(check_time);
  where_.define(arguments,
                "Only packets for which this is true, e.g. 'rnti == 0x4601' (docs/filters.md)");
  rules_.define(arguments);
}

bool TracesToCompare::is_plain() const {
  return least_percent_ == TracesToCompare().least_percent_ && clock_error_.empty() &&
         !where_.given() && !rules_.given();
}

Result<std::vector<differential::RunFigures>> TracesToCompare::read(
    const std::vector<std::string>& paths) const {
  std::vector<differential::RunFigures> runs;
  for (const std::string& path : paths) {
    SJ_TRY(input, open_input(path, rules_));
    const trace::Reader& reader = input.reader();
    SJ_TRY(where, where_.journeys(reader));
    differential::RunOptions options = {
        .least_share = least_percent_ / 100, .clock_error_ns = std::nullopt, .wanted = {}};
    if (!clock_error_.empty()) options.clock_error_ns = *parse_time(clock_error_);
    if (where)
      options.wanted = [&where](const journeys::Journey& journey) { return (*where)(journey); };
    base::ThreadExecutor threads;
    ProgressLine line;
    SJ_TRY(figures, differential::read_figures(
                        threads, input, options,
                        [&](std::uint64_t done, std::uint64_t of) { line.update(done, of); }));
    line.clear();
    tell_if_not_whole(reader);
    runs.push_back(std::move(figures));
  }
  return runs;
}

Result<std::vector<differential::RunCauses>> TracesToCompare::read_causes(
    const std::vector<std::string>& paths, const causes::Deadlines& late) const {
  return lateness_of_traces(paths, rules_, where_, late);
}

void define_level(Arguments& arguments, double& level) {
  arguments
      .add_option("--level", level,
                  "The chance of all tests together to say \"changed\" without any change")
      .type_name("P")
      .check([](const std::string& text) { return number_above(0, 0.5)(text); })
      .capture_default_str();
}

}  // namespace sojourn::cli
