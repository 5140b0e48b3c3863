// Runs the requests that a capture gets by `sojourn ctl` and by signals. Its socket is found by the
// pids of all recorded processes. The capture's thread owns it and runs every request; the objects
// that it refers to must outlive it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/capture/control/control_socket.h"
#include "userspace/capture/flight_recorder.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/progress_reporter.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/event_pump.h"

namespace sojourn::capture {

class ControlService final : public ProcessObserver {
 public:
  // `open` starts a capture that waits for that.
  ControlService(const Options& options, CaptureRecord& record, const Sink& sink, EventPump& pump,
                 const ProgressReporter& progress, std::function<Result<void>()> open);

  // Passes requests for dumps to the recorder, if the capture is a flight recorder.
  void ask_for_dumps(FlightRecorder& recorder) { recorder_ = &recorder; }

  // Does nothing if the machine has no abstract sockets.
  void listen(const TracedProcesses& processes);
  int fd() const { return socket_ ? socket_->fd() : -1; }
  Result<void> take_requests();
  void answer(int client, bool worked, const std::string& words);
  void on_signal(int signal);

  Result<void> on_joined(const TracedProcess& process) override;
  void on_ended(const TracedProcess& process) override;

 private:
  Result<void> obey(const ControlSocket::Request& request);
  Result<void> start(int client);
  void dump(int client);
  std::string status() const;
  bool is_holding() const { return recorder_ != nullptr && recorder_->is_holding(); }

  const Options* options_;
  CaptureRecord* record_;
  const Sink* sink_;
  EventPump* pump_;
  const ProgressReporter* progress_;
  FlightRecorder* recorder_ = nullptr;
  std::function<Result<void>()> open_;
  std::optional<ControlSocket> socket_;
};

}  // namespace sojourn::capture
