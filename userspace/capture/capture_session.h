// One capture, of one process or several, from attaching to a finished trace file:
//
//   Capture::start   chooses the engines, attaches, opens the gate
//   run              drains until a stop condition holds; admits processes that come meanwhile
//   finish           closes the gate, drains the rest, completes the file
//   detach           removes the probes, which may outlast the capture
//
// The targets are never stopped or slowed but by the probes themselves, and whatever happens to
// this process, another one removes the probes (probe_keeper.h). One thread owns a Capture; a
// second one inside writes the file (see sink.h), and a third one serves readers of the stream, if
// there are any (stream/stream_server.h).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/session/capture_options.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class Capture {
 public:
  // One subject at least.
  static Result<Capture> start(std::vector<Subject> subjects, Options options);
  Capture(Capture&&) noexcept;
  Capture& operator=(Capture&&) noexcept;
  ~Capture();

  Coverage coverage() const;

  // Writes the targets' descriptions to the trace.
  void describe();
  // Writes the description of the only target, a command that this process starts, once it runs.
  void has_begun(tracee::Process command);

  // The addresses to which readers of the stream may connect: "tcp://127.0.0.1:9000".
  std::vector<std::string> streams() const;
  // The stream to this process's own reader, where StreamOptions wants one; once.
  base::Fd own_stream();
  std::optional<std::string> metrics() const;  // the address of its metrics, if it serves any

  // The processes that are alive.
  std::vector<const tracee::Process*> processes() const;
  std::size_t points() const;  // of all of them so far

  // Ends when the duration is over, the last target exits, the file cannot be written, `sojourn
  // ctl` says so or a signal comes (`signals` is a signalfd); SIGUSR1 asks for a dump.
  Result<void> run(int signals, const Listener& listener);

  Result<Outcome> finish();

  // The number of probes that finish() left in place because removing them takes long: 2,000 perf
  // uprobes take more than four minutes.
  std::size_t probes_left() const;
  void detach();

  // Called instead of finish() if the target never ran: leaves no file behind.
  void abandon();

 private:
  class State;
  explicit Capture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
