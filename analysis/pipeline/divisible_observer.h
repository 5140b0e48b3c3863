// An observer whose work can be divided among rebuilders: each part gets some journeys, and in the
// end the parts are merged. Its result does not depend on the order of journeys.
#pragma once

#include <memory>

#include "analysis/journeys/journey.h"

namespace sojourn::pipeline {

class DivisibleObserver : public journeys::Observer {
 public:
  // An empty one of the same kind.
  virtual std::unique_ptr<DivisibleObserver> new_part() const = 0;
  // Adds the result of a part, which has the same type. Each place's on_enter() and on_leave() went
  // to one of the parts only.
  virtual void merge_part(DivisibleObserver& part) = 0;
};

}  // namespace sojourn::pipeline
