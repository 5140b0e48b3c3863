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

// With everything that follows: a before b and b before c makes a before c.
Relation closure(Relation relation);

// Without the steps between things that reach each other in a circle: those have no order.
Relation without_circles(const Relation& relation);

// Of a relation without circles: without what follows from the rest.
Relation reduction(const Relation& relation);

}  // namespace sojourn::differential
