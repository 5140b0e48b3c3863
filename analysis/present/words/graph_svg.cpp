#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "analysis/base/printable.h"
#include "analysis/present/words/graph.h"
#include "analysis/present/words/graph_layout.h"

namespace sojourn::present {

namespace {

constexpr double kLetter = 7.3;  // of 12 px, monospaced
constexpr double kLine = 15;
constexpr double kPadding = 10;
constexpr double kUnknown = 8;      // the diameter of a node that is not known
constexpr double kLoopHeight = 34;  // of an arrow from a node to itself, with its label

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(printable(text.substr(0, end)));
    if (end == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

// In one line, as an attribute.
std::string xml_line(std::string_view text) {
  std::string line;
  for (const std::string& one : lines_of(text)) line += (line.empty() ? "" : " ") + one;
  return xml_text(line);
}

GraphBox text_size(std::string_view text) {
  const auto lines = lines_of(text);
  std::size_t letters = 0;
  for (const std::string& line : lines) letters = std::max(letters, line.size());
  return {.width = static_cast<double>(letters) * kLetter,
          .height = static_cast<double>(lines.size()) * kLine};
}

void append_lines(std::string& out, std::string_view text, double x, double y) {
  const auto lines = lines_of(text);
  double baseline = y - static_cast<double>(lines.size()) * kLine / 2 + kLine - 4;
  for (const std::string& line : lines) {
    fmt::format_to(std::back_inserter(out), R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", x, baseline,
                   xml_text(line));
    baseline += kLine;
  }
}

// A curve from a point to another one that is level at both ends.
std::string curve(double from_x, double from_y, double to_x, double to_y) {
  const double middle = (from_x + to_x) / 2;
  return fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", middle, from_y, middle, to_y,
                     to_x, to_y);
}

class Picture {
 public:
  explicit Picture(const Graph& graph) : graph_(graph), loops_(graph.nodes().size(), 0) {
    std::vector<GraphBox> nodes;
    std::vector<GraphBox> labels;
    for (const Graph::Edge& edge : graph.edges()) {
      if (edge.from == edge.to) ++loops_[edge.from];
      GraphBox size = text_size(edge.label);
      labels.push_back({.width = size.width + kPadding, .height = size.height + 2});
    }
    for (std::size_t node = 0; node < graph.nodes().size(); ++node) {
      GraphBox size = own_size(node);
      for (const Graph::Edge& edge : graph.edges())
        if (edge.from == node && edge.to == node)
          size.width = std::max(size.width, text_size(edge.label).width);
      // Room for loops on top, and as much below, so that the box is in the middle.
      size.height += 2 * kLoopHeight * static_cast<double>(loops_[node]);
      nodes.push_back(size);
    }
    layout_ = lay_out(graph, nodes, labels);
  }

  std::string text() {
    out_ = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" font-family="monospace" font-size="12" text-anchor="middle">
<title>{2}</title>
<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker></defs>
<rect width="100%" height="100%" fill="#fff"/>
)",
        layout_.width, layout_.height, xml_line(graph_.name()));
    std::vector<std::size_t> loops_drawn(loops_.size(), 0);
    for (std::size_t edge = 0; edge < graph_.edges().size(); ++edge) {
      begin_edge(edge);
      const Graph::Edge& drawn = graph_.edges()[edge];
      if (drawn.from == drawn.to)
        draw_loop(edge, loops_drawn[drawn.from]++);
      else
        draw_way(edge);
      out_ += "</g>\n";
    }
    for (std::size_t node = 0; node < graph_.nodes().size(); ++node) draw_node(node);
    return out_ + "</svg>\n";
  }

 private:
  GraphBox own_size(std::size_t node) const {
    const std::string& label = graph_.nodes()[node].label;
    if (label.empty()) return {.width = kUnknown, .height = kUnknown};
    const GraphBox size = text_size(label);
    return {.width = size.width + 2 * kPadding, .height = size.height + kPadding};
  }

  void begin_edge(std::size_t edge) {
    const Graph::Edge& drawn = graph_.edges()[edge];
    fmt::format_to(std::back_inserter(out_),
                   R"(<g class="edge" data-from="{}" data-to="{}" data-label="{}">)",
                   xml_line(graph_.nodes()[drawn.from].label),
                   xml_line(graph_.nodes()[drawn.to].label), xml_line(drawn.label));
  }

  void draw_path(std::size_t edge, std::string_view way) {
    const Graph::Line line = graph_.edges()[edge].line;
    const bool has_end = line == Graph::Line::kBothWays || !layout_.is_reversed[edge];
    const bool has_begin = line == Graph::Line::kBothWays || layout_.is_reversed[edge];
    fmt::format_to(std::back_inserter(out_), R"(<path d="{}" fill="none" stroke="#333"{}{}{}{}/>)",
                   way, line == Graph::Line::kBold ? R"( stroke-width="2.5")" : "",
                   line == Graph::Line::kDashed ? R"( stroke-dasharray="5 4")" : "",
                   has_end ? R"~( marker-end="url(#arrow)")~" : "",
                   has_begin ? R"~( marker-start="url(#arrow)")~" : "");
  }

  // From box to box. A label lies on a white ground in the line.
  void draw_way(std::size_t edge) {
    const Graph::Edge& drawn = graph_.edges()[edge];
    const bool is_reversed = layout_.is_reversed[edge];
    const std::size_t begin = is_reversed ? drawn.to : drawn.from;
    const std::size_t end = is_reversed ? drawn.from : drawn.to;
    double x = layout_.nodes[begin].x + own_size(begin).width / 2;
    double y = layout_.nodes[begin].y;
    std::string way = fmt::format("M{:.1f} {:.1f}", x, y);
    for (const GraphBox& box : layout_.ways[edge]) {
      const double left = box.x - box.width / 2;
      way += curve(x, y, left, box.y);
      x = box.x + box.width / 2;
      y = box.y;
      if (x > left) way += fmt::format("H{:.1f}", x);
    }
    way += curve(x, y, layout_.nodes[end].x - own_size(end).width / 2, layout_.nodes[end].y);
    draw_path(edge, way);
    if (drawn.label.empty()) return;
    const GraphBox& label = layout_.labels[edge];
    fmt::format_to(std::back_inserter(out_),
                   R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="#fff"/>)",
                   label.x - label.width / 2, label.y - label.height / 2, label.width,
                   label.height);
    append_lines(out_, drawn.label, label.x, label.y);
  }

  void draw_loop(std::size_t edge, std::size_t number) {
    const Graph::Edge& drawn = graph_.edges()[edge];
    const GraphBox& node = layout_.nodes[drawn.from];
    const double top = node.y - own_size(drawn.from).height / 2;
    const double height = kLoopHeight * static_cast<double>(number + 1);
    draw_path(edge, fmt::format("M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {2:.1f} {3:.1f} {1:.1f}",
                                node.x - 8, top, top - height, node.x + 8));
    append_lines(out_, drawn.label, node.x, top - height + kLine / 2);
  }

  void draw_node(std::size_t node) {
    const GraphBox& at = layout_.nodes[node];
    const GraphBox size = own_size(node);
    const std::string& label = graph_.nodes()[node].label;
    fmt::format_to(std::back_inserter(out_), R"(<g class="node" data-label="{}">)",
                   xml_line(label));
    if (label.empty()) {
      fmt::format_to(std::back_inserter(out_), R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)",
                     at.x, at.y, kUnknown / 2);
    } else {
      fmt::format_to(
          std::back_inserter(out_),
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="3" fill="#f4f6fa" stroke="#333"/>)",
          at.x - size.width / 2, at.y - size.height / 2, size.width, size.height);
      append_lines(out_, label, at.x, at.y);
    }
    out_ += "</g>\n";
  }

  const Graph& graph_;
  std::vector<std::size_t> loops_;  // by node
  GraphLayout layout_;
  std::string out_;
};

}  // namespace

std::string svg_text(const Graph& graph) {
  return Picture(graph).text();
}

}  // namespace sojourn::present
