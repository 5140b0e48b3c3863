// A graph as Graphviz text, or as a picture (SVG) that needs no other program. Its arrows go from
// left to right, except those that close a circle. One thread owns a Graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sojourn::present {

class Graph {
 public:
  enum class Line : std::uint8_t { kPlain, kBothWays, kDashed, kBold };
  struct Node {
    std::string label;  // may have several lines; empty: it is not known what is there
  };
  struct Edge {
    std::size_t from = 0;
    std::size_t to = 0;
    std::string label;
    Line line = Line::kPlain;
  };

  // The names of nodes in Graphviz's text: their labels, or "stage0", "stage1".
  enum class NodeNames : std::uint8_t { kNumbers, kLabels };

  explicit Graph(std::string name, NodeNames node_names = NodeNames::kNumbers)
      : name_(std::move(name)), node_names_(node_names) {}

  // The node of this label, made when first asked for.
  std::size_t node(const std::string& label);
  // Adds a node without a label. Two such nodes are different.
  std::size_t unknown();
  void edge(Edge edge) { edges_.push_back(std::move(edge)); }

  const std::string& name() const { return name_; }
  NodeNames node_names() const { return node_names_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  std::string name_;
  NodeNames node_names_;
  std::map<std::string, std::size_t> known_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
};

// Names are a target's: none may end the string it is in.
std::string dot_quoted(std::string_view text);
std::string dot_text(const Graph& graph);
// Characters that are not ASCII are '?' in the picture.
std::string svg_text(const Graph& graph);

}  // namespace sojourn::present
