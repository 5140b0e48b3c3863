// Graphs as text and as pictures: with any names, and arrows in any direction.
#include "analysis/present/words/graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/present/words/graph_layout.h"

namespace sojourn::present {
namespace {

Graph chain(const std::vector<std::string>& names) {
  Graph graph("chain");
  for (std::size_t at = 1; at < names.size(); ++at)
    graph.edge({.from = graph.node(names[at - 1]), .to = graph.node(names[at]), .label = "then"});
  return graph;
}

GraphLayout laid_out(const Graph& graph) {
  return lay_out(graph, std::vector<GraphBox>(graph.nodes().size(), {.width = 50, .height = 20}),
                 std::vector<GraphBox>(graph.edges().size(), {.width = 30, .height = 15}));
}

bool overlap(const GraphBox& one, const GraphBox& other) {
  return std::abs(one.x - other.x) < (one.width + other.width) / 2 &&
         std::abs(one.y - other.y) < (one.height + other.height) / 2;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST_CASE("a node is made once for its label, and unknown ones each time") {
  Graph graph("queues");
  CHECK(graph.node("mac") == graph.node("mac"));
  CHECK(graph.unknown() != graph.unknown());
  graph.edge({.from = 0, .to = 1, .label = "a \"q\"", .line = Graph::Line::kDashed});
  CHECK(dot_text(graph) ==
        "digraph queues {\n  rankdir=LR;\n  stage0 [shape=box, label=\"mac\"];\n"
        "  unknown0 [shape=point];\n  unknown1 [shape=point];\n"
        "  stage0 -> unknown0 [label=\"a \\\"q\\\"\", style=dashed];\n}\n");
}

TEST_CASE("arrows lead from left to right, but for those that close a circle") {
  Graph graph = chain({"a", "b", "c", "d"});
  graph.edge({.from = 3, .to = 1, .label = "again"});
  graph.edge({.from = 0, .to = 3, .label = "past them"});
  const GraphLayout layout = laid_out(graph);
  CHECK(layout.is_reversed == std::vector<bool>{false, false, false, true, false});
  for (std::size_t at = 1; at < 4; ++at) CHECK(layout.nodes[at - 1].x < layout.nodes[at].x);
  for (std::size_t edge = 0; edge < graph.edges().size(); ++edge) {
    double x = 0;
    for (const GraphBox& box : layout.ways[edge]) {
      CHECK(box.x > x);
      x = box.x;
    }
  }
}

TEST_CASE("nothing overlaps in the picture, and nothing is outside of it") {
  Graph graph("many");
  for (int from = 0; from < 12; ++from)
    for (int to = from + 1; to < 12; to += 1 + from % 3)
      graph.edge({.from = graph.node("n" + std::to_string(from)),
                  .to = graph.node("n" + std::to_string(to)),
                  .label = "x"});
  graph.edge({.from = 0, .to = 5, .label = "a second one between the same two"});
  const GraphLayout layout = laid_out(graph);
  std::vector<GraphBox> boxes = layout.nodes;
  boxes.insert(boxes.end(), layout.labels.begin(), layout.labels.end());
  for (std::size_t one = 0; one < boxes.size(); ++one) {
    CHECK(boxes[one].x - boxes[one].width / 2 >= 0);
    CHECK(boxes[one].x + boxes[one].width / 2 <= layout.width);
    CHECK(boxes[one].y - boxes[one].height / 2 >= 0);
    CHECK(boxes[one].y + boxes[one].height / 2 <= layout.height);
    for (std::size_t other = one + 1; other < boxes.size(); ++other)
      CHECK(!overlap(boxes[one], boxes[other]));
  }
}

TEST_CASE("a graph of nothing, of one node, of loops and of parts is a picture") {
  CHECK(svg_text(Graph("empty")).ends_with("</svg>\n"));
  Graph graph("loops");
  graph.edge({.from = graph.node("a"), .to = graph.node("a"), .label = "one"});
  graph.edge({.from = graph.node("a"), .to = graph.node("a"), .label = "two"});
  graph.edge({.from = graph.node("b"), .to = graph.unknown(), .label = ""});
  const std::string picture = svg_text(graph);
  CHECK(count(picture, "<g class=\"node\"") == 3);
  CHECK(count(picture, "<g class=\"edge\"") == 3);
  CHECK(!picture.contains("nan"));
}

TEST_CASE("a long chain is laid out without recursion") {
  std::vector<std::string> names;
  for (int at = 0; at < 20'000; ++at) names.push_back(std::to_string(at));
  CHECK(laid_out(chain(names)).nodes.size() == names.size());
}

TEST_CASE("names of a target cannot leave the texts that they are in") {
  Graph graph("names");
  graph.edge({.from = graph.node("</text><script>alert(1)</script>"),
              .to = graph.node("a\x01\x7f\xff\"b\"\n& c"),
              .label = "]]> -- &amp;"});
  const std::string picture = svg_text(graph);
  CHECK(!picture.contains("<script"));
  CHECK(picture.contains("&lt;/text&gt;&lt;script&gt;alert(1)"));
  CHECK(picture.contains("a???&quot;b&quot;"));
  CHECK(picture.contains("&amp;amp;"));
}

}  // namespace
}  // namespace sojourn::present
