// The thread that owns the trace file: encodes, compresses and writes what it is handed, so that a
// slow disk never keeps the drain from its rings. Everything crosses by being moved through one
// queue, in order. The first error stops the writing; finish() returns it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture.h"
#include "analysis/model/event.h"
#include "analysis/trace/writer.h"

namespace sojourn::capture {

class Sink {
 public:
  explicit Sink(trace::Writer writer);
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink();  // without finish() what was pushed is in the .partial file

  using Item = std::variant<model::EventBatch, model::Schema, model::Target, model::Stream,
                            model::ClockPair, model::Capture, model::Ledger>;
  void push(Item item);

  bool has_room() const;  // false: more than a queue's worth of batches is waiting
  bool failed() const;
  model::EventBatch empty_batch();  // one that was written before, where there is one
  std::uint64_t bytes() const;      // in the file so far

  // Writes what is waiting and finishes the file. Nothing may be pushed afterwards.
  Result<void> finish();

  // Removes the file: the capture came to nothing. Nothing may be pushed afterwards.
  void abandon();

 private:
  void run();
  void end_thread();
  Result<void> write(Item& item);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> waiting_;
  std::vector<model::EventBatch> spare_;
  bool ending_ = false;
  std::optional<Error> error_;
  std::uint64_t bytes_ = 0;

  trace::Writer writer_;  // the thread's own between start and join
  std::thread thread_;
};

}  // namespace sojourn::capture
