// The flight recorder of a capture (--flight): the newest events are held in memory, and written as
// dumps when a trigger, a signal or `sojourn ctl` asks for one, or to one file from a trigger on.
// The sink's thread evaluates triggers (TriggerWatch), and their actions run here. The capture's
// thread owns it; jobs for the sink's thread share only the watch and FileStart with it. The
// objects that it refers to, and the sink's thread, must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/control/trigger.h"
#include "userspace/capture/output/dumps.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/processes/point_switches.h"
#include "userspace/capture/progress_reporter.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/event_pump.h"
#include "userspace/capture/session/source_set.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

struct WrittenFile {
  std::string path;  // empty: there is none
  std::uint64_t bytes = 0;
};

class FlightRecorder final : public Ticker {
 public:
  // Answers a client of `sojourn ctl` that asked for a dump.
  using Answer = std::function<void(int client, bool worked, const std::string& words)>;

  FlightRecorder(const Options& options, TriggerWatch& watch, Sink& sink, SourceSet& sources,
                 EventPump& pump, CaptureRecord& record, PointSwitches& switches,
                 const ProgressReporter& progress, Answer answer);

  // Refuses triggers that cannot work, before anything is attached.
  Result<void> check_triggers(const model::Schema& schema);

  // Everything is held in memory, until a trigger starts the file.
  bool is_holding() const { return is_holding_; }
  unsigned dumps() const { return dumps_done_; }
  void ask_dump(const std::string& why, std::optional<int> client = {});
  // Returns whether a trigger has stopped the capture and its aftermath is over.
  bool is_stop_due(std::uint64_t now_ns) const;

  Result<void> tick(const Listener& listener) override;

  // Waits for a file that is being started, so that its beginning is known even if the capture ends
  // at once.
  Result<void> wait_for_file_start();
  // Writes the last dump, unless there are triggers to decide that, and ends the sink.
  Result<WrittenFile> finish();

 private:
  // A file that a trigger starts. The sink's thread fills in the metadata of its beginning.
  struct FileStart {
    std::mutex mutex;
    std::optional<Result<model::Capture>> about;
  };
  // The instant up to which triggers on journeys have seen everything.
  struct Watermark {
    std::uint64_t marked_ns = 0;  // when the sources were marked; 0: they are not
    std::uint64_t next_ns = 0;
    std::uint64_t reported = 0;  // events that were left out, as already reported
    std::uint64_t next_word_ns = 0;
  };

  Result<void> poll_triggers(const Listener& listener);
  Result<void> poll_dumps(const Listener& listener);
  Result<void> poll_file_start();
  void move_watermark(const Listener& listener);
  Result<void> fire(std::size_t trigger, const Listener& listener);
  Result<void> act(const Trigger& trigger, const Listener& listener);
  void ask_dump_by_trigger(const Trigger& trigger, const Listener& listener);
  Result<void> begin_dump();
  void unpin_history();
  void note_dump(const Dumps::Done& done);
  void start_file();

  const Options* options_;
  TriggerWatch* watch_;
  Sink* sink_;
  SourceSet* sources_;
  EventPump* pump_;
  CaptureRecord* record_;
  PointSwitches* switches_;
  const ProgressReporter* progress_;
  Answer answer_;
  Dumps dumps_;
  bool is_holding_ = true;
  WrittenFile last_file_;  // of the dumps
  unsigned dumps_done_ = 0;
  unsigned dumps_by_triggers_ = 0;
  std::vector<std::uint64_t> rests_until_ns_;  // by trigger
  std::uint64_t losses_seen_ = 0;              // by triggers that wait for a loss
  std::uint64_t stop_at_ns_ = UINT64_MAX;      // when both parts of the aftermath have come
  std::uint64_t stop_at_events_ = 0;
  std::shared_ptr<FileStart> file_start_;
  Watermark watermark_;
};

}  // namespace sojourn::capture
