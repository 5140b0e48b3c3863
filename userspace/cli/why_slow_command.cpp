// `sojourn why-slow`: what slow packets have in common that others do not.
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/differential/attribute_collector.h"
#include "analysis/differential/attribute_pass.h"
#include "analysis/differential/direction_traits.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/present/traits/traits_text.h"
#include "userspace/base/thread_executor.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/progress.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/trace_argument.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {
namespace {

using journeys::Journey;

struct WhySlowOptions {
  std::string path;
  double least_support = 100 * differential::kLeastSupport;
  std::uint64_t most = differential::kMostTraits;
  bool json = false;
  WhereOption slow;
  WhereOption where;
  RulesOption rules;
};

Result<void> run(const WhySlowOptions& options) {
  SJ_TRY(input, open_input(options.path, options.rules));
  const trace::Reader& reader = input.reader();
  SJ_TRY(where, options.where.journeys(reader));
  SJ_TRY(slow, options.slow.journeys(reader));
  const differential::AttributeCollector::About about = differential::about(input);
  differential::AttributeCollector::IsSlow is_slow;
  if (slow) is_slow = [&slow](const Journey& journey) { return (*slow)(journey); };
  differential::AttributeCollector collector(about, std::move(is_slow));
  pipeline::TracePass::Predicate keep;
  if (where) keep = [&where](const Journey& journey) { return (*where)(journey); };
  base::ThreadExecutor threads;
  ProgressLine line;
  SJ_CHECK(differential::gather_attributes(threads, input, keep, line.progress(), collector));
  line.clear();
  present::TraitsContent content = {.slow = options.slow.text(),
                                    .directions = {},
                                    .left_out = collector.left_out(),
                                    .width = line_width()};
  for (const model::Direction direction : model::kPacketDirections)
    if (collector.of(direction).packets() != 0)
      content.directions.push_back(
          differential::traits_of(collector, direction, options.least_support / 100, options.most));
  if (options.json) {
    tell_if_not_whole(reader);
    fmt::print("{}\n", present::traits_json(content).dump(
                           2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}{}", first_line(reader), present::traits_text(content));
  }
  return {};
}

}  // namespace

Action define_why_slow(Arguments& arguments) {
  auto options = std::make_shared<WhySlowOptions>();
  add_trace(arguments, options->path);
  options->slow.define(arguments,
                       "Which packets to call slow, e.g. 'latency > 4ms' or 'at(rlc.tx) > 500us' "
                       "(docs/filters.md); by default the slowest 1 % of each direction",
                       "--slow");
  options->where.define(
      arguments, "Only packets for which this is true, e.g. 'rnti == 0x4601' (docs/filters.md)");
  arguments
      .add_option("--support", options->least_support,
                  "Show only traits that at least this share of the slow packets have")
      .type_name("PERCENT")
      .check(number_above(0, 100))
      .capture_default_str();
  arguments.add_option("--most", options->most, "Show at most this many traits of each direction")
      .type_name("N")
      .check(whole_number(1, 1000))
      .capture_default_str();
  options->rules.define(arguments);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "Looked at are ids of UEs and bearers, the size, the path, the longest stay, the cause that "
      "took most of the time (as `sojourn explain` has it), segments, repeats, threads and CPUs at "
      "each point, packets ahead, the tenth of the second; and pairs of them.\n"
      "of the slow  the share of the slow packets that have it (support)\n"
      "risk         the share of the packets that have it that are slow\n"
      "times        how many times the risk of the others that is (risk ratio)\n"
      "p            how often chance gives something as striking, anywhere in the table: slow "
      "packets come in bursts, so blocks of time are permuted\n"
      "\n"
      "A trait need not be a cause: `sojourn explain` follows single packets. "
      "docs/differential.md says more.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
