// The thread that writes files in their owner's name, and has no other rights; the rest of the
// process may have none at all by then. It runs one job at a time, and the caller waits for it.
#pragma once

#include <functional>
#include <future>
#include <utility>

#include "analysis/base/result.h"
#include "userspace/base/worker_thread.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

class WriterThread {
 public:
  // To be made while this thread still has the rights to become the owner. Returns once the new
  // thread has done so.
  explicit WriterThread(const FileOwner& owner)
      : thread_(
            [](Job& job) {
              job();
              return true;
            },
            [this, &owner] {
              became_ = become_writer(owner);
              return became_.has_value();
            }) {}

  // Runs `write` on the thread and returns its result.
  template <typename Write>
  auto run(const Write& write) -> decltype(write()) {
    if (!became_) return std::unexpected(became_.error());
    std::packaged_task<decltype(write())()> task(std::cref(write));
    auto written = task.get_future();
    thread_.add(std::move(task));
    return written.get();
  }

 private:
  using Job = std::move_only_function<void()>;

  Result<void> became_;
  base::WorkerThread<Job> thread_;
};

}  // namespace sojourn::capture
