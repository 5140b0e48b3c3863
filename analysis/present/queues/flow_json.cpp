#include "analysis/present/queues/flow_json.h"

#include <algorithm>

#include "analysis/present/queues/depth_json.h"
#include "analysis/queues/queue_names.h"

namespace sojourn::present {

using nlohmann::ordered_json;

namespace {

ordered_json waits_json(const statistics::Distribution& times) {
  return {{"count", times.count()},     {"mean", times.mean()},        {"p50", times.quantile(0.5)},
          {"p90", times.quantile(0.9)}, {"p99", times.quantile(0.99)}, {"max", times.max()},
          {"exact", times.exact()}};
}

ordered_json moments_json(const queues::Moments& moments) {
  return {{"count", moments.count()}, {"mean", moments.mean()}, {"scv", moments.scv()}};
}

ordered_json meter_json(const queues::Meter& meter, bool details) {
  const queues::DepthHistogram& levels = meter.levels();
  const queues::HighWater& mark = meter.high_water();
  ordered_json object = {
      {"depth",
       {{"mean", levels.mean()}, {"p50", levels.quantile(0.5)}, {"p99", levels.quantile(0.99)}}},
      {"high_water",
       {{"depth", mark.depth}, {"ts_ns", mark.ts_ns}, {"empty_until_ns", mark.since_ns}}},
      {"empty",
       {{"count", meter.empty_stretches().count},
        {"total_ns", meter.empty_stretches().total_ns},
        {"longest_ns", meter.empty_stretches().longest_ns}}},
      {"in", meter.in()},
      {"out", meter.out()},
      {"inside", meter.inside()},
      {"given_up", {{"count", meter.given_up()}, {"depth_share", meter.given_up_share()}}},
      {"depth_known", meter.is_depth_known()},
      {"arrivals_per_s", meter.arrivals_per_s()},
      {"services_per_s", meter.services_per_s()},
      {"utilisation", optional_json(meter.utilisation())},
      {"wait_ns", waits_json(meter.waits_ns())},
      {"between_ns", moments_json(meter.between_ns())},
      {"service_ns", moments_json(meter.service_ns())},
      {"little", meter.arrivals_times_wait()},
      {"kingman_ns", optional_json(meter.predicted_ns())}};
  if (details) add_details(object, levels, meter.series());
  return object;
}

ordered_json threads_json(const std::map<std::uint32_t, std::uint64_t>& units,
                          const queues::ThreadNames& threads) {
  ordered_json list = ordered_json::array();
  for (const auto& [tid, amount] : units)
    list.push_back(
        {{"tid", tid}, {"thread", queues::thread_name(threads, tid)}, {"units", amount}});
  return list;
}

}  // namespace

ordered_json places_json(const queues::Places& places, const journeys::Topology& topology,
                         const queues::ThreadNames& threads, bool details) {
  ordered_json list = ordered_json::array();
  for (const std::uint16_t place : places.order()) {
    const queues::PlaceQueue& stats = places.queues()[place];
    ordered_json before = ordered_json::array();
    for (const std::uint16_t one : places.before(place))
      before.push_back(topology.places[one].name);
    ordered_json object = {{"dir", std::string(1, letter(topology.places[place].direction))},
                           {"at", topology.places[place].name},
                           {"after", std::move(before)},
                           {"fed_by", threads_json(stats.fed_by, threads)},
                           {"drained_by", threads_json(stats.drained_by, threads)}};
    object.update(meter_json(stats.meter, details));
    object["high_water"]["journeys"] = stats.journeys;
    object["high_water"]["inside"] = stats.inside;
    list.push_back(std::move(object));
  }
  return list;
}

ordered_json operations_json(const queues::Operations& operations,
                             const queues::ThreadNames& threads, bool details) {
  ordered_json list = ordered_json::array();
  for (const queues::OperatedQueue* queue : operations.queues()) {
    ordered_json object = {{"id", fmt::format("{:x}", queue->about.id)},
                           {"name", queue->about.name},
                           {"kind", name(queue->about.kind)},
                           {"capacity", queue->about.capacity},
                           {"unseen_in", queue->unseen_in},
                           {"unseen_out", queue->unseen_out},
                           {"namesakes", queue->namesakes},
                           {"fed_by", threads_json(queue->fed_by, threads)},
                           {"drained_by", threads_json(queue->drained_by, threads)}};
    object.update(meter_json(queue->meter, details));
    object["high_water"]["items"] = queue->items;
    object["high_water"]["inside"] = queue->inside;
    object["utilisation"] = optional_json(queue->utilisation());
    object["kingman_ns"] = optional_json(queue->predicted_ns());
    list.push_back(std::move(object));
  }
  return list;
}

ordered_json chains_json(const std::vector<queues::Chain>& chains,
                         const std::vector<queues::PressureName>& names) {
  ordered_json list = ordered_json::array();
  for (const queues::Chain& chain : chains) {
    ordered_json one = ordered_json::array();
    for (const queues::Episode& episode : chain)
      one.push_back({{"queue", names[episode.node].queue},
                     {"stage", names[episode.node].stage},
                     {"begin_ns", episode.begin_ns},
                     {"end_ns", episode.end_ns},
                     {"peak", episode.peak}});
    list.push_back(std::move(one));
  }
  return list;
}

Graph flow_graph(const queues::Places& places, const journeys::Topology& topology,
                 const queues::Operations& operations, const queues::ThreadNames& threads) {
  Graph graph("queues");
  const auto node = [&](const std::map<std::uint32_t, std::uint64_t>& units) {
    const std::string name = queues::main_thread(units, threads);
    return name.empty() ? graph.unknown() : graph.node(name);
  };
  const auto draw = [&](const std::string& name, const auto& queue) {
    const std::size_t from = node(queue.fed_by);
    const std::size_t to = node(queue.drained_by);
    std::string label = queue.meter.is_depth_known() ? fmt::format("{} ({:.1f}, at most {})", name,
                                                                   queue.meter.levels().mean(),
                                                                   queue.meter.high_water().depth)
                                                     : fmt::format("{} (depth not known)", name);
    graph.edge({.from = from, .to = to, .label = std::move(label)});
  };
  for (const queues::OperatedQueue* queue : operations.queues())
    draw(queue->about.shown_name(), *queue);
  for (const std::uint16_t place : places.order())
    draw(queues::place_text(topology, place), places.queues()[place]);
  return graph;
}

}  // namespace sojourn::present
