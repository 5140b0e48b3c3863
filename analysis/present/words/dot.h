// Graphs as Graphviz text: stages are boxes, queues the arrows between them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace sojourn::present {

// Names are a target's: none may end the string it is in.
std::string dot_quoted(std::string_view text);

class DotStages {
 public:
  // The stage's node, made when first asked for.
  std::string node(const std::string& label);
  // A dot of its own: two unknown ones need not be the same.
  std::string unknown();
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, std::string> names_;
  std::size_t unknown_ = 0;
  std::string text_;
};

std::string dot_graph(const DotStages& stages, std::string_view edges,
                      std::string_view name = "queues");

}  // namespace sojourn::present
