// What a source finds out about its events only when it is asked, because that takes long: the
// names in a profile. A trace that is finished while the source goes on wants it as well. No state.
#pragma once

#include <functional>
#include <vector>

#include "analysis/model/profile.h"

namespace sojourn::capture {

class DescribesLate {
 public:
  // Of what there is so far. It may be called on another thread, also when the source is gone.
  using Description = std::function<std::vector<model::Profile>()>;

  DescribesLate() = default;
  DescribesLate(const DescribesLate&) = delete;
  DescribesLate& operator=(const DescribesLate&) = delete;
  virtual ~DescribesLate() = default;
  virtual Description description() const = 0;
};

}  // namespace sojourn::capture
