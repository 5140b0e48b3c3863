// A relation between a few hundred things: what follows from it, and the least from which all of
// that follows. Plain functions without state.
#pragma once

#include <cstddef>
#include <vector>

namespace sojourn::differential {

class Relation {
 public:
  explicit Relation(std::size_t size) : size_(size), holds_(size * size) {}

  std::size_t size() const { return size_; }
  bool holds(std::size_t from, std::size_t to) const { return holds_[from * size_ + to]; }
  void set(std::size_t from, std::size_t to, bool value = true) {
    holds_[from * size_ + to] = value;
  }
  bool operator==(const Relation&) const = default;

 private:
  std::size_t size_;
  std::vector<bool> holds_;
};

// The transitive closure: a before b and b before c makes a before c.
Relation closure(Relation relation);

// The relation without steps between things that reach each other in a circle, as these have no
// order.
Relation without_circles(const Relation& relation);

// The transitive reduction of a relation without circles: it lacks the steps that follow from the
// rest.
Relation reduction(const Relation& relation);

}  // namespace sojourn::differential
