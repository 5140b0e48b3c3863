// An Executor whose maker and workers have a thread each. What any of them throws ends all of them,
// and is thrown to the caller. It has no state: one may be used by anybody.
#pragma once

#include "analysis/base/executor.h"

namespace sojourn::base {

class ThreadExecutor : public Executor {
 public:
  unsigned processors() const override;
  void run(const Pipeline& pipeline) override;
};

}  // namespace sojourn::base
