#include <fmt/format.h>

#include "analysis/present/words/graph.h"

namespace sojourn::present {

std::size_t Graph::node(const std::string& label) {
  const auto [found, is_new] = known_.try_emplace(label, nodes_.size());
  if (is_new) nodes_.push_back({.label = label});
  return found->second;
}

std::size_t Graph::unknown() {
  nodes_.emplace_back();
  return nodes_.size() - 1;
}

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string dot_text(const Graph& graph) {
  const bool has_labels_as_names = graph.node_names() == Graph::NodeNames::kLabels;
  std::string text = fmt::format("digraph {} {{\n  rankdir=LR;\n{}", graph.name(),
                                 has_labels_as_names ? "  node [shape=box];\n" : "");
  std::vector<std::string> names;
  std::size_t known = 0;
  for (const Graph::Node& node : graph.nodes()) {
    if (node.label.empty()) {
      names.push_back(fmt::format("unknown{}", names.size() - known));
      text += fmt::format("  {} [shape=point];\n", names.back());
    } else if (has_labels_as_names) {
      ++known;
      names.push_back(dot_quoted(node.label));
      text += fmt::format("  {};\n", names.back());
    } else {
      names.push_back(fmt::format("stage{}", known++));
      text += fmt::format("  {} [shape=box, label={}];\n", names.back(), dot_quoted(node.label));
    }
  }
  for (const Graph::Edge& edge : graph.edges()) {
    const char* style = "";
    if (edge.line == Graph::Line::kBothWays) style = ", dir=both";
    if (edge.line == Graph::Line::kDashed) style = ", style=dashed";
    if (edge.line == Graph::Line::kBold) style = ", style=bold";
    text += fmt::format("  {} -> {} [label={}{}];\n", names[edge.from], names[edge.to],
                        dot_quoted(edge.label), style);
  }
  return text + "}\n";
}

}  // namespace sojourn::present
