#include "analysis/queues/topology.h"

#include "analysis/queues/dot.h"

namespace sojourn::queues {

std::string side_text(const model::QueueSide& side) {
  std::string text = side.stage.empty() ? "?" : side.stage;
  if (side.instance >= 0 && !side.stage.empty()) text += fmt::format(" {}", side.instance);
  if (side.pid != 0) text += fmt::format(" in process {}", side.pid);
  return text;
}

std::string to_dot(const std::vector<Story>& stories) {
  DotStages stages;
  const auto node = [&](const model::QueueSide& side) {
    return side.stage.empty() ? stages.unknown() : stages.node(side_text(side));
  };
  std::string edges;
  for (const Story& story : stories) {
    const std::string from = node(story.about.producer);
    const std::string to = node(story.about.consumer);
    std::string label = story.name();
    if (!story.gauge.empty())
      label += fmt::format(" ({:.1f}, at most {})", story.gauge.levels().mean(),
                           story.gauge.max_depth());
    const char* style = "";
    if (story.about.kind == model::QueueKind::kBidirectional) style = ", dir=both";
    if (story.about.kind == model::QueueKind::kPool) style = ", style=dashed";
    if (story.about.kind == model::QueueKind::kBetweenProcesses) style = ", style=bold";
    edges += fmt::format("  {} -> {} [label={}{}];\n", from, to, dot_quoted(label), style);
  }
  return dot_graph(stages, edges);
}

}  // namespace sojourn::queues
