#include "analysis/present/words/dot.h"

#include <fmt/format.h>

namespace sojourn::present {

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string DotStages::node(const std::string& label) {
  const auto [found, is_new] = names_.try_emplace(label, fmt::format("stage{}", names_.size()));
  if (is_new)
    text_ += fmt::format("  {} [shape=box, label={}];\n", found->second, dot_quoted(label));
  return found->second;
}

std::string DotStages::unknown() {
  const std::string name = fmt::format("unknown{}", unknown_++);
  text_ += fmt::format("  {} [shape=point];\n", name);
  return name;
}

std::string dot_graph(const DotStages& stages, std::string_view edges, std::string_view name) {
  return fmt::format("digraph {} {{\n  rankdir=LR;\n{}{}}}\n", name, stages.text(), edges);
}

}  // namespace sojourn::present
