// Places the nodes of a graph and the labels of its edges in a picture, by layers: each edge leads
// to the right, a label has a layer between those of its ends, and a long edge passes each layer at
// a place of its own, so that nothing overlaps. Pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/present/words/graph.h"

namespace sojourn::present {

// The middle of something, and how much room it takes.
struct GraphBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct GraphLayout {
  std::vector<GraphBox> nodes;
  std::vector<GraphBox> labels;  // of edges
  // By edge: the boxes that it passes between its ends, from left to right, the label among them.
  std::vector<std::vector<GraphBox>> ways;
  std::vector<bool> is_reversed;  // by edge: it leads from right to left
  double width = 0;
  double height = 0;
};

GraphLayout lay_out(const Graph& graph, const std::vector<GraphBox>& node_sizes,
                    const std::vector<GraphBox>& label_sizes);

}  // namespace sojourn::present
