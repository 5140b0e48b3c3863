// The thread that writes files in their owner's name, and has no other rights; the rest of the
// process may have none at all by then. It does one thing at a time, and who asks waits for it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "analysis/base/result.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

class WriterThread {
 public:
  // While this thread still has the rights to become the owner. Returns once it has.
  explicit WriterThread(FileOwner owner);
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  ~WriterThread();

  // What `write` returns.
  template <typename Write>
  auto run(const Write& write) -> decltype(write()) {
    std::optional<decltype(write())> result;
    run_there([&] { result.emplace(write()); });
    if (became_) return std::move(*result);
    return std::unexpected(became_.error());
  }

 private:
  void run_there(const std::function<void()>& job);
  void serve();

  const FileOwner owner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* job_ = nullptr;  // null: none is asked for, or it is done
  bool has_begun_ = false;
  bool ending_ = false;
  Result<void> became_;
  std::thread thread_;
};

}  // namespace sojourn::capture
