// An observer whose work can be divided among rebuilders: each part is told of some journeys, and
// in the end the parts are merged. What it finds does not depend on the order of journeys.
#pragma once

#include <memory>

#include "analysis/journeys/journey.h"

namespace sojourn::pipeline {

class DivisibleObserver : public journeys::Observer {
 public:
  // An empty one of the same kind.
  virtual std::unique_ptr<DivisibleObserver> new_part() const = 0;
  // Takes over what a part found, which is of this kind. Of each place one of all was told who
  // enters and leaves it.
  virtual void merge_part(DivisibleObserver& part) = 0;
};

}  // namespace sojourn::pipeline
