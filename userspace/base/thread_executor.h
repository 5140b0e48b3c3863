// An Executor with one thread for its producer and one for each worker. An exception in any of them
// stops all, and is rethrown to the caller. It has no state, so several callers may share one.
#pragma once

#include "analysis/base/executor.h"

namespace sojourn::base {

class ThreadExecutor : public Executor {
 public:
  unsigned processors() const override;
  void run(const Pipeline& pipeline) override;
};

}  // namespace sojourn::base
