// `sojourn energy`: what runs took and how late their packets were, and which of them are worth
// choosing.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "analysis/energy/energy_account.h"
#include "analysis/energy/energy_meter.h"
#include "analysis/energy/packet_energy.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/energy/energy_text.h"
#include "analysis/present/energy/trade_off_text.h"
#include "analysis/present/words/json_format.h"
#include "analysis/report/summary.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/command.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"

namespace sojourn::cli {
namespace {

using present::EnergyOfRun;

struct EnergyOptions {
  std::vector<std::string> paths;
  std::string by = "mean";
  bool json = false;
  RulesOption rules;
};

Result<EnergyOfRun> read_run(const std::string& path, const RulesOption& rules) {
  SJ_TRY(input, open_input(path, rules));
  const trace::Reader& reader = input.reader();
  report::Summary summary(input.topology(), reader.capture().open_ns);
  energy::EnergyMeter meter(reader.schema(), reader.energy(), reader.capture());
  base::ThreadExecutor threads;
  ProgressLine line;
  pipeline::TracePass pass(threads, input);
  pass.show(line.progress());
  pass.observe(summary);
  pass.consume([&](const model::EventBatch& events) {
    meter.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  line.clear();
  const std::uint64_t end_ns = std::max(totals.last_ns, reader.capture().close_ns);
  summary.finish(end_ns);
  meter.finish(end_ns);
  tell_if_not_whole(reader);
  EnergyOfRun run;
  run.path = path;
  if (reader.energy().was_asked_for())
    run.figures = energy::energy_figures(meter, reader.host().cpu_model);
  run.latency_ns[0].merge(summary.direction(model::Direction::kDownlink).latency_ns);
  run.latency_ns[1].merge(summary.direction(model::Direction::kUplink).latency_ns);
  run.packets = energy::packet_energy(run.figures ? run.figures->joules() : std::nullopt,
                                      run.latency_ns[0], run.latency_ns[1]);
  return run;
}

// Returns the quantile; nothing for the mean.
std::optional<double> quantile_of(std::string_view name) {
  if (name == "p50") return 0.5;
  if (name == "p90") return 0.9;
  if (name == "p99") return 0.99;
  if (name == "p999") return 0.999;
  return std::nullopt;
}

Result<void> run(const EnergyOptions& options) {
  std::vector<EnergyOfRun> runs;
  runs.reserve(options.paths.size());
  for (const std::string& path : options.paths) {
    SJ_TRY(one, read_run(path, options.rules));
    runs.push_back(std::move(one));
  }
  const present::ComparedBy by = {.quantile = quantile_of(options.by), .name = options.by};
  return print_data(options.json ? present::json_text(present::trade_off_json(runs, by))
                                 : present::trade_off_text(runs, by, line_width()));
}

}  // namespace

Action define_energy(Arguments& arguments) {
  auto options = std::make_shared<EnergyOptions>();
  arguments
      .add_option("traces", options->paths,
                  "Traces that `sojourn record --energy` made, at several settings")
      .type_name("FILE")
      .expected(1, 10'000)
      .required();
  choose_from(arguments.add_option("--by", options->by, "The latency by which runs are compared")
                  .capture_default_str(),
              {"mean", "p50", "p90", "p99", "p999"});
  options->rules.define(arguments);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "watts      of packages and DRAM together, as the machine's counters say: with everything "
      "that ran there meanwhile\n"
      "a packet   the energy of the run, divided by its packets of both directions that have a "
      "latency\n"
      "E*T^2      the mean over the direction's packets of that energy times the square of the "
      "packet's latency, in J s^2: less is better, at any frequency\n"
      "frequency  the range that the processors were allowed at the start of the run\n"
      "best       of that direction: no other run takes less and is as fast, or is faster and "
      "takes as little (Pareto)\n"
      "\n"
      "A value that was not measured has no figure; the reason is below the table. docs/energy.md "
      "says the limits of each number.\n"
      "\n"
      "Examples:\n"
      "  sojourn energy powersave.sjt performance.sjt\n"
      "  sojourn energy --by p99 sweep/*.sjt");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
