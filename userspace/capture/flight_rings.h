// `record --flight rings`: the targets' own rings are the flight recorder's memory. Nothing is read
// while this waits, so waiting costs neither side anything. Their contents become a trace at
// `sojourn ctl dump` or SIGUSR1, and at the end. The rings of a target that ends stay in view,
// because its last events are there. One thread owns a FlightRings.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/control/control_socket.h"
#include "userspace/capture/output/dumps.h"
#include "userspace/capture/output/writer_thread.h"
#include "userspace/capture/post_mortem/snapshot_rings.h"

namespace sojourn::capture {

class FlightRings {
 public:
  using Say = std::function<void(const std::string&)>;

  // To be made while this process has its rights. Running needs none.
  FlightRings(SnapshotRings rings, WriterThread& writer, std::string output);

  // Runs until the last target ends, the time is over, `sojourn ctl stop`, or a signal other than
  // SIGUSR1 (`signals` is a signalfd). The last trace is the output.
  Result<SnapshotRings::Written> run(int signals, std::optional<std::chrono::nanoseconds> duration,
                                     const Say& say);

 private:
  std::string dump(const std::string& why, bool& worked);
  Result<void> wait(int signals, std::uint64_t end_ns, const Say& say);
  void obey(const ControlSocket::Request& request, const Say& say);
  void look_for_libraries(const Say& say);

  SnapshotRings rings_;
  WriterThread* writer_;
  std::string output_;
  DumpNames names_;
  std::optional<ControlSocket> control_;  // missing where the machine has no abstract sockets
  std::string ended_by_;
  std::string reported_problem_;  // why a library's rings could not be taken in
  unsigned dumps_ = 0;
};

}  // namespace sojourn::capture
