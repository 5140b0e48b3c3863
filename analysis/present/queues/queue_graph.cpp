#include "analysis/present/queues/queue_graph.h"

#include <utility>

#include <fmt/format.h>

#include "analysis/queues/queue_names.h"

namespace sojourn::present {

std::string side_text(const model::QueueSide& side) {
  std::string text = side.stage.empty() ? "?" : side.stage;
  if (side.instance >= 0 && !side.stage.empty()) text += fmt::format(" {}", side.instance);
  if (side.pid != 0) text += fmt::format(" in process {}", side.pid);
  return text;
}

QueueEndsById ends_of(const queues::Operations& operations,
                      const std::map<std::uint32_t, std::string>& threads) {
  QueueEndsById ends;
  for (const queues::OperatedQueue* queue : operations.queues())
    ends[queue->about.id] = {queues::main_thread(queue->fed_by, threads),
                             queues::main_thread(queue->drained_by, threads)};
  return ends;
}

QueueEnds ends_of(const QueueEndsById& ends, std::uint64_t id) {
  const auto known = ends.find(id);
  return known == ends.end() ? QueueEnds() : known->second;
}

std::string end_text(const model::QueueSide& side, const std::string& thread) {
  return side.stage.empty() && !thread.empty() ? thread : side_text(side);
}

Graph sampled_graph(const std::vector<queues::SampledQueue>& queues, const QueueEndsById& ends) {
  Graph graph("queues");
  const auto node = [&](const model::QueueSide& side, const std::string& thread) {
    const bool is_known = !side.stage.empty() || !thread.empty();
    return is_known ? graph.node(end_text(side, thread)) : graph.unknown();
  };
  for (const queues::SampledQueue& stats : queues) {
    const QueueEnds threads = ends_of(ends, stats.about.id);
    const std::size_t from = node(stats.about.producer, threads.feeds);
    const std::size_t to = node(stats.about.consumer, threads.drains);
    std::string label = stats.name();
    if (!stats.gauge.empty())
      label += fmt::format(" ({:.1f}, at most {})", stats.gauge.levels().mean(),
                           stats.gauge.max_depth());
    Graph::Line line = Graph::Line::kPlain;
    if (stats.about.kind == model::QueueKind::kBidirectional) line = Graph::Line::kBothWays;
    if (stats.about.kind == model::QueueKind::kPool) line = Graph::Line::kDashed;
    if (stats.about.kind == model::QueueKind::kBetweenProcesses) line = Graph::Line::kBold;
    graph.edge({.from = from, .to = to, .label = std::move(label), .line = line});
  }
  return graph;
}

}  // namespace sojourn::present
