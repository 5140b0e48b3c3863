#include "analysis/filter/syntax.h"

#include <algorithm>

#include <fnmatch.h>

namespace sojourn::filter {

bool matches(const Pattern& pattern, const std::string& text) {
  return pattern.is_glob ? fnmatch(pattern.text.c_str(), text.c_str(), 0) == 0
                         : pattern.text == text;
}

namespace {

// The keyword that the node is, if it is one.
const KeywordInfo* word_of(const Node& node) {
  const bool names = node.kind == Node::Kind::kName || node.kind == Node::Kind::kFlag ||
                     node.kind == Node::Kind::kText;
  return names && !node.is_field ? find_keyword(node.name) : nullptr;
}

bool is_about_journeys(const Node& node) {
  if (node.kind == Node::Kind::kAt || node.kind == Node::Kind::kEvent) return true;
  const KeywordInfo* const word = word_of(node);
  if (word != nullptr && !word->of_events) return true;
  return std::ranges::any_of(node.parts, [](const Node& part) { return is_about_journeys(part); });
}

bool asks_for(const Node& node, Keyword wanted) {
  const KeywordInfo* const word = word_of(node);
  if (word != nullptr && word->word == wanted) return true;
  return std::ranges::any_of(node.parts,
                             [wanted](const Node& part) { return asks_for(part, wanted); });
}

}  // namespace

bool is_about_journeys(const Expression& expression) {
  return is_about_journeys(expression.root);
}

bool asks_for(const Expression& expression, Keyword word) {
  return asks_for(expression.root, word);
}

}  // namespace sojourn::filter
