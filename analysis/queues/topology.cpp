#include "analysis/queues/topology.h"

#include <map>

namespace sojourn::queues {

namespace {

// Names are a target's: none may end the string it is in.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

class Stages {
 public:
  // A side that is not known is a dot of its own: two unknown ones need not be the same.
  std::string node(const model::QueueSide& side) {
    if (side.stage.empty()) {
      const std::string name = fmt::format("unknown{}", unknown_++);
      text_ += fmt::format("  {} [shape=point];\n", name);
      return name;
    }
    const std::string label = side_text(side);
    const auto [found, is_new] = names_.try_emplace(label, fmt::format("stage{}", names_.size()));
    if (is_new) text_ += fmt::format("  {} [shape=box, label={}];\n", found->second, quoted(label));
    return found->second;
  }
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, std::string> names_;
  std::size_t unknown_ = 0;
  std::string text_;
};

}  // namespace

std::string side_text(const model::QueueSide& side) {
  std::string text = side.stage.empty() ? "?" : side.stage;
  if (side.instance >= 0 && !side.stage.empty()) text += fmt::format(" {}", side.instance);
  if (side.pid != 0) text += fmt::format(" in process {}", side.pid);
  return text;
}

std::string to_dot(const std::vector<Story>& stories) {
  Stages stages;
  std::string edges;
  for (const Story& story : stories) {
    const std::string from = stages.node(story.about.producer);
    const std::string to = stages.node(story.about.consumer);
    std::string label = story.name();
    if (!story.gauge.empty())
      label += fmt::format(" ({:.1f}, at most {})", story.gauge.levels().mean(),
                           story.gauge.max_depth());
    const char* style = "";
    if (story.about.kind == model::QueueKind::kBidirectional) style = ", dir=both";
    if (story.about.kind == model::QueueKind::kPool) style = ", style=dashed";
    if (story.about.kind == model::QueueKind::kBetweenProcesses) style = ", style=bold";
    edges += fmt::format("  {} -> {} [label={}{}];\n", from, to, quoted(label), style);
  }
  return fmt::format("digraph queues {{\n  rankdir=LR;\n{}{}}}\n", stages.text(), edges);
}

}  // namespace sojourn::queues
