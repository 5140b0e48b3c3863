#include "analysis/differential/run_figures.h"

#include <algorithm>
#include <utility>

#include "analysis/differential/packet_table.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/costs.h"

namespace sojourn::differential {
namespace {

struct Span {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

Span span_of(const trace::Reader& reader) {
  Span span = {.begin_ns = pipeline::origin_ns(reader), .end_ns = reader.capture().close_ns};
  const auto& blocks = reader.blocks();
  if (span.end_ns == 0 && !blocks.empty())
    span.end_ns = std::ranges::max(blocks, {}, &trace::BlockInfo::max_ts_ns).max_ts_ns;
  return span;
}

RunOfPackets packets_of(PacketTable table, const journeys::Topology& topology) {
  RunOfPackets packets = {.start_ns = std::move(table.start_ns),
                          .latency_ns = std::move(table.latency_ns),
                          .stays_ns = {}};
  for (std::size_t place = 0; place < table.stays_ns.size(); ++place)
    if (!table.stays_ns[place].empty())
      packets.stays_ns.emplace_back(topology.places[place].name, std::move(table.stays_ns[place]));
  return packets;
}

void add_costs(RunFigures& run, const trace::Reader& reader, const journeys::Totals& totals) {
  const report::Costs costs = report::costs_of(reader.capture(), reader.ledger(), totals);
  run.tracing_share = costs.share;
  run.off_share = model::longest_shed_share(reader.capture());
  const std::size_t packets = run.packets[0].latency_ns.size() + run.packets[1].latency_ns.size();
  if (costs.share && packets != 0)
    run.tracing_ns_per_packet = costs.took_ns / static_cast<double>(packets);
}

// The options of the flow of a trace, and what is told of them.
FlowOptions flow_options(const model::Capture& capture, const RunOptions& options,
                         RunFigures& run) {
  // An order compares two stamps, and each may be off.
  run.clock_error_ns = options.clock_error_ns.value_or(2 * capture.stamp_error_ns);
  FlowOptions flow = {.least_share = options.least_share, .clock_error_ns = run.clock_error_ns};
  if (options.clock_error_ns) return flow;
  flow.hosts = capture.hosts;
  for (const model::MergedHost& host : capture.hosts)
    run.host_clock_errors_ns.push_back(2 * host.stamp_error_ns);
  return flow;
}

}  // namespace

double time_error_ns(const RunFigures& run, char direction, std::string_view name,
                     bool is_latency) {
  const TimeErrors& errors = run.time_errors[direction == 'U' ? 1 : 0];
  return is_latency ? errors.latency_ns : errors.of_stay(name);
}

Result<RunFigures> read_figures(Executor& executor, pipeline::TraceInput& input,
                                const RunOptions& options, pipeline::Progress progress) {
  const trace::Reader& reader = input.reader();
  const journeys::Topology& topology = input.topology();
  const Span span = span_of(reader);
  RunFigures run;
  run.path = reader.path();
  run.target = reader.target().name;
  run.build_id = reader.target().build_id;
  run.begin_ns = span.begin_ns;
  run.duration_ns = span.end_ns > span.begin_ns ? span.end_ns - span.begin_ns : 0;
  PacketTables tables(topology, span.begin_ns, span.end_ns);
  Flow flow(reader.schema(), flow_options(reader.capture(), options, run));
  TimeErrorFinder errors(reader.capture(), topology);
  pipeline::TracePass pass(executor, input);
  pass.observe(tables);
  pass.observe(flow);
  if (!reader.capture().hosts.empty()) pass.observe(errors);
  if (options.wanted) pass.keep(options.wanted);
  pass.show(std::move(progress));
  pass.consume([&](const model::EventBatch& events) {
    flow.consume(events);
    return true;
  });
  SJ_TRY(totals, pass.run());
  tables.finish();
  flow.finish();
  run.events = totals.events;
  run.packets = {packets_of(tables.take(model::Direction::kDownlink), topology),
                 packets_of(tables.take(model::Direction::kUplink), topology)};
  // A filter lets no units through, only whole packets.
  if (!options.wanted)
    for (std::size_t place = 0; place < topology.places.size(); ++place)
      run.depths.push_back({.direction = letter(topology.places[place].direction),
                            .place = topology.places[place].name,
                            .units = tables.depth(place)});
  run.flows = flow.directions();
  run.left_out = tables.left_out();
  run.time_errors = errors.found(run.packets);
  add_costs(run, reader, totals);
  return run;
}

}  // namespace sojourn::differential
