// `sojourn merge`: joins traces of several hosts without synchronised clocks.
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/base/shell_word.h"
#include "analysis/differential/host_merge.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/units.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli {
namespace {

using differential::CpuClock;
using differential::HostClock;
using differential::HostMerge;
using differential::HostPair;
using present::duration;

struct MergeOptions {
  std::vector<std::string> paths;
  std::string output;
  double max_drift_ppm = 500;
  std::string tai_error;
  bool by_cpu = false;
  bool json = false;
  RulesOption rules;
};

double ppm(double speed) {
  return (speed - 1) * 1e6;
}

std::string cpus_text(const MergeOptions& options, const HostMerge& merge) {
  std::string text;
  for (std::size_t host = 0; host < merge.cpu_clocks().size(); ++host) {
    const auto& clocks = merge.cpu_clocks()[host].all();
    present::Table table({fmt::format("CPU of {}", options.paths[host]),
                          fmt::format("ahead of CPU {}'s clock by", clocks.front().cpu),
                          "corrected", "packets sent", "received"});
    for (const CpuClock& clock : std::span(clocks).subspan(1))
      table.row(
          {std::to_string(clock.cpu),
           clock.is_bounded()
               ? fmt::format("{:+.0f} ... {:+.0f} ns", clock.ahead_ns.low, clock.ahead_ns.high)
               : "left open: packets of one direction",
           clock.correction_ns() == 0 ? "no" : fmt::format("{:+.0f} ns", -clock.correction_ns()),
           present::count(clock.sent), present::count(clock.received)});
    text += table.text(line_width());
  }
  return text;
}

std::string merge_text(const MergeOptions& options, const HostMerge& merge) {
  std::string of_cpus = cpus_text(options, merge);
  if (options.paths.size() == 1)
    return of_cpus + fmt::format("next: sojourn report {}\n", shell_word(options.output));
  present::Table table(
      {"clock of", "by that of " + options.paths.front() + ", within", "drift", "steps"});
  for (const HostClock& clock : merge.clocks())
    table.row({options.paths[clock.host],
               fmt::format("{} ... {}", duration(clock.knots.front().half),
                           duration(clock.widest_half())),
               fmt::format("{:+.1f} ... {:+.1f} ppm", ppm(clock.drift.low), ppm(clock.drift.high)),
               std::to_string(clock.steps)});
  std::string text = of_cpus + table.text(line_width());
  for (const HostPair& pair : merge.pairs())
    text += fmt::format("{} and {} both saw {} packets there and {} back{}\n",
                        options.paths[pair.ours], options.paths[pair.theirs],
                        present::count(pair.from_us), present::count(pair.to_us),
                        pair.map.stray() == 0
                            ? ""
                            : fmt::format("; {} fit no clock and were left out", pair.map.stray()));
  for (const HostPair& pair : merge.pairs())
    if (pair.probes != 0)
      text += fmt::format(
          "{} packets were answered with their ids: the best four stamps say it within "
          "{}; {}\n",
          present::count(pair.probes), duration(pair.best_half),
          pair.probes_disagree == 0 ? "all agree"
                                    : fmt::format("{} do not agree", pair.probes_disagree));
  return text + fmt::format("next: sojourn report {}\n", shell_word(options.output));
}

nlohmann::ordered_json cpus_json(const MergeOptions& options, const HostMerge& merge) {
  auto cpus = nlohmann::ordered_json::array();
  const auto number = [](double ns) {
    return std::isfinite(ns) ? nlohmann::ordered_json(ns) : nlohmann::ordered_json();
  };
  for (std::size_t host = 0; host < merge.cpu_clocks().size(); ++host)
    for (const CpuClock& clock : merge.cpu_clocks()[host].all())
      cpus.push_back({{"trace", options.paths[host]},
                      {"cpu", clock.cpu},
                      {"ahead_low_ns", number(clock.ahead_ns.low)},
                      {"ahead_high_ns", number(clock.ahead_ns.high)},
                      {"corrected_by_ns", -clock.correction_ns()},
                      {"bound_ns", number(clock.error_ns())},
                      {"packets_sent", clock.sent},
                      {"packets_received", clock.received}});
  return cpus;
}

nlohmann::ordered_json merge_json(const MergeOptions& options, const HostMerge& merge) {
  nlohmann::ordered_json object = {{"trace", options.output}, {"reference", options.paths.front()}};
  object["clocks"] = nlohmann::ordered_json::array();
  object["by"] = options.tai_error.empty() ? "packets" : "TAI";
  for (const HostClock& clock : merge.clocks())
    object["clocks"].push_back(
        {{"trace", options.paths[clock.host]},
         {"bound_ns", clock.widest_half()},
         {"drift_low_ppm", ppm(clock.drift.low)},
         {"drift_high_ppm", ppm(clock.drift.high)},
         {"steps", clock.steps},
         {"off_by_ns",
          clock.off_by_ns ? nlohmann::ordered_json(*clock.off_by_ns) : nlohmann::ordered_json()}});
  if (options.by_cpu) object["cpus"] = cpus_json(options, merge);
  object["pairs"] = nlohmann::ordered_json::array();
  for (const HostPair& pair : merge.pairs())
    object["pairs"].push_back(
        {{"first", options.paths[pair.ours]},
         {"second", options.paths[pair.theirs]},
         {"packets_there", pair.from_us},
         {"packets_back", pair.to_us},
         {"stray", pair.map.stray()},
         {"probes", pair.probes},
         {"probe_bound_ns",
          pair.probes == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(pair.best_half)},
         {"probes_disagree", pair.probes_disagree}});
  return object;
}

// The output is opened before the traces have been read to their ends.
Result<void> check_output_is_no_input(const MergeOptions& options) {
  for (const std::string& path : options.paths) {
    std::error_code error;
    if (std::filesystem::equivalent(path, options.output, error))
      return fail("write {}: it is a trace to merge", options.output);
  }
  return {};
}

Result<void> run(const MergeOptions& options) {
  SJ_CHECK(check_output_is_no_input(options));
  SJ_TRY(rules, options.rules.read());
  std::vector<trace::Reader> hosts;
  for (const std::string& path : options.paths) {
    SJ_TRY(reader, open_trace(path));
    SJ_CHECK(require_as_recorded(reader, "merge"));
    hosts.push_back(std::move(reader));
  }
  differential::MergeOptions how;
  how.max_drift = options.max_drift_ppm / 1e6;
  how.by_cpu = options.by_cpu;
  if (!options.tai_error.empty())
    how.tai_error_ns = static_cast<double>(parse_duration(options.tai_error)->count());
  SJ_TRY(merge, HostMerge::prepare(hosts, rules, how));
  for (const HostClock& clock : merge.clocks())
    if (clock.off_by_ns)
      tell("{}: packets contradict its TAI by {}: it is further off than --tai says\n",
           options.paths[clock.host], duration(*clock.off_by_ns));
  for (const trace::Reader& reader : hosts) tell_if_not_whole(reader);
  for (const differential::BrokenLoop& loop : merge.broken_loops())
    tell(
        "{}, {} and {} contradict each other by {}: a packet was taken for another, or a clock "
        "does not go straight\n",
        options.paths[loop.first], options.paths[loop.second], options.paths[loop.third],
        duration(loop.by_ns));
  for (const trace::Reader& reader : std::span(hosts).subspan(1))
    if (!reader.context().families.empty() || !reader.queue_changes().empty())
      tell("{}: its kernel context, queue samples and profile are left out\n", reader.path());
  SJ_TRY(writer, files::create_trace(options.output));
  SJ_CHECK(merge.write(hosts, writer, "sojourn " SOJOURN_VERSION " merge"));
  SJ_CHECK(writer.finish());
  if (options.json)
    fmt::print("{}\n", merge_json(options, merge)
                           .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else
    fmt::print("{}", merge_text(options, merge));
  return {};
}

}  // namespace

Action define_merge(Arguments& arguments) {
  auto options = std::make_shared<MergeOptions>();
  arguments
      .add_option(
          "trace", options->paths,
          "Traces that several hosts recorded at the same time. Times of the merged one are "
          "by the clock of the first")
      .type_name("FILE")
      .expected(1, 64)
      .required();
  arguments.add_option("-o,--output", options->output, "The merged trace")
      .type_name("FILE")
      .check(check_output_file)
      .required();
  arguments
      .add_option("--max-drift", options->max_drift_ppm,
                  "How far the speeds of two clocks may be apart, in parts per million")
      .type_name("PPM")
      .check(number_above(0, 100'000))
      .capture_default_str();
  arguments
      .add_option("--tai", options->tai_error,
                  "The hosts' TAI is equal within this time, e.g. 1us, since PTP runs: clocks are "
                  "related by it, and packets only check that")
      .type_name("TIME")
      .check(check_duration);
  arguments.add_flag("--cpus", options->by_cpu,
                     "First make the clocks of each trace's CPUs one, by packets between them. For "
                     "one trace as well");
  options->rules.define(arguments);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.when_parsed([options] {
    if (options->paths.size() == 1 && !options->by_cpu)
      refuse_usage("one trace alone is merged by --cpus only: two or more are wanted");
  });
  arguments.footer(
      "within  how far the merged times of that host may be off, at its first event and at most: "
      "from packets that were seen on both hosts, in both directions. None arrives before it was "
      "sent. The merged trace says it as the error of stamps of two hosts\n"
      "        With --tai: what it says, and the time that reading the clocks took\n"
      "drift   how fast that clock goes against the first one\n"
      "steps   how often it was set; packets contradict a straight line there\n"
      "\n"
      "--cpus is for traces whose events name their CPU, if the CPUs' clocks disagree, such as "
      "other tracers' recordings. A clock is corrected where packets rule out that it is the first "
      "CPU's.\n"
      "\n"
      "Packets are known by ids that both hosts' points have, each used once in a trace. Processes "
      "and threads of the second host have 10,000,000 more than their numbers, of the third "
      "20,000,000, and so on. docs/differential.md says more.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
