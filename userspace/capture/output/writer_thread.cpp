#include "userspace/capture/output/writer_thread.h"

namespace sojourn::capture {

WriterThread::WriterThread(FileOwner owner)
    : owner_(std::move(owner)), thread_([this] { serve(); }) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return has_begun_; });
}

WriterThread::~WriterThread() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WriterThread::run_there(const std::function<void()>& job) {
  std::unique_lock lock(mutex_);
  if (!became_) return;
  job_ = &job;
  changed_.notify_all();
  changed_.wait(lock, [this] { return job_ == nullptr; });
}

void WriterThread::serve() {
  auto became = become_writer(owner_);
  std::unique_lock lock(mutex_);
  became_ = std::move(became);
  has_begun_ = true;
  changed_.notify_all();
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || job_ != nullptr; });
    if (job_ == nullptr) return;
    (*job_)();  // who asked waits, so nobody else wants the lock
    job_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace sojourn::capture
