#include "analysis/differential/reachability.h"

namespace sojourn::differential {

Relation closure(Relation relation) {
  const std::size_t size = relation.size();
  for (std::size_t by = 0; by < size; ++by)
    for (std::size_t from = 0; from < size; ++from) {
      if (!relation.holds(from, by)) continue;
      for (std::size_t to = 0; to < size; ++to)
        if (relation.holds(by, to)) relation.set(from, to);
    }
  return relation;
}

Relation without_circles(const Relation& relation) {
  const Relation reached = closure(relation);
  Relation left = relation;
  for (std::size_t from = 0; from < relation.size(); ++from)
    for (std::size_t to = 0; to < relation.size(); ++to)
      if (reached.holds(from, to) && reached.holds(to, from)) left.set(from, to, false);
  return left;
}

Relation reduction(const Relation& relation) {
  const Relation reached = closure(relation);
  Relation direct = reached;
  for (std::size_t from = 0; from < relation.size(); ++from)
    for (std::size_t by = 0; by < relation.size(); ++by) {
      if (!reached.holds(from, by)) continue;
      for (std::size_t to = 0; to < relation.size(); ++to)
        if (reached.holds(by, to)) direct.set(from, to, false);
    }
  return direct;
}

}  // namespace sojourn::differential
