// The events of a trace behind a script: filtered, with its columns, and with its activities and
// markers behind the events that made them. Each pass over the trace has a worker of its own, which
// begins without state. One thread at a time has a ScriptStage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "analysis/trace/event_stage.h"
#include "userspace/scripts/worker.h"

namespace sojourn::scripts {

class ScriptStage final : public trace::EventStage {
 public:
  // Reads the script, and fails with the script's error. `open_ns`: the begin of the capture.
  static Result<std::shared_ptr<ScriptStage>> create(ScriptSource source,
                                                     const model::Schema& schema,
                                                     std::uint64_t open_ns, Worker::Say say);

  const model::Schema& schema() const override { return behind_; }
  Result<void> begin(std::span<const model::Stream> streams) override;
  void know_streams(std::span<const model::Stream> streams) override;
  Result<void> pass(model::EventBatch& events) override;

  const Registration& registration() const { return registration_; }
  const std::string& name() const { return source_.name; }
  // Says of a script that registers nothing what it may register; else empty.
  std::string idleness() const;
  pid_t worker_pid() const { return worker_ ? worker_->pid() : -1; }  // -1: there is no worker

  // The counts of this pass.
  std::uint64_t seen() const { return seen_; }  // events of the target
  std::uint64_t kept() const { return kept_; }
  // By activity or marker, as registration().made has them.
  std::span<const std::uint64_t> made() const { return made_; }
  // The error that ended a function, or the worker of a script that changes no events. The rest
  // went on.
  const std::string& error() const { return error_; }

 private:
  // The numbers of a stream's events that were left out lately, so that the others close up.
  struct LeftOut {
    std::uint64_t count = 0;
    std::uint64_t next_seq = 0;
    std::deque<std::uint64_t> lately;
  };

  ScriptStage(ScriptSource source, const model::Schema& schema, std::uint64_t open_ns,
              Worker::Say say)
      : source_(std::move(source)), before_(schema), open_ns_(open_ns), say_(std::move(say)) {}
  Result<void> start_worker();
  Result<void> pass_part(const model::EventBatch& events, std::size_t first, std::size_t count,
                         model::EventBatch& into);
  Result<void> fill(const model::EventBatch& events, std::size_t first, std::size_t count);
  Result<std::size_t> take(const model::EventBatch& events, std::size_t first, std::size_t row,
                           bool is_all, model::EventBatch& into);
  Result<std::size_t> append_made(const model::EventView& by, std::size_t row, std::size_t at,
                                  std::size_t words, model::EventBatch& into);
  void append_changed(const model::EventView& event, std::size_t row, model::EventBatch& into);
  void append_unchanged(const model::EventBatch& events, std::size_t first, std::size_t count,
                        model::EventBatch& into);
  void append_kept(const model::EventView& event, std::size_t row, model::EventBatch& into);
  std::uint64_t close_up(const model::EventView& event, bool is_kept);
  bool is_of_target(const model::EventView& event) const;
  Error invalid_answer() const;

  ScriptSource source_;
  model::Schema before_;
  std::uint64_t open_ns_;
  Worker::Say say_;
  Registration registration_;
  model::Schema behind_;
  std::vector<std::vector<std::uint32_t>> columns_;  // by point before
  std::unique_ptr<Worker> worker_;
  bool is_new_ = false;  // no pass has used the worker yet
  std::vector<std::uint64_t> values_;
  std::vector<LeftOut> left_out_;  // by stream
  std::uint64_t seen_ = 0;
  std::uint64_t kept_ = 0;
  std::vector<std::uint64_t> made_;
  std::string error_;
};

}  // namespace sojourn::scripts
