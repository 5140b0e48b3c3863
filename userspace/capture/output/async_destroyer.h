// Destroys sources on a thread of its own: removing probes waits some 30 ms for the kernel, and the
// capture's thread has other rings to empty meanwhile. One thread owns an AsyncDestroyer; its
// destructor returns when all sources are destroyed.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "userspace/base/worker_thread.h"
#include "userspace/capture/output/source.h"

namespace sojourn::capture {

class AsyncDestroyer {
 public:
  void destroy(std::unique_ptr<Source> source) {
    if (!thread_) thread_.emplace(destroy_there);
    thread_->add(std::move(source));
  }

 private:
  static bool destroy_there(std::unique_ptr<Source>& source) {
    source.reset();
    return true;
  }

  std::optional<base::WorkerThread<std::unique_ptr<Source>>> thread_;  // from the first source on
};

}  // namespace sojourn::capture
