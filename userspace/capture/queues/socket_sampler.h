// Samples the buffers of the target's sockets as queues: their depths and drops at a low rate, as
// events of a stream of its own (point socket.sample, direction Q). An unchanged socket is sampled
// once a second only. One thread owns a SocketSampler.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/queues/socket_diag.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class SocketSampler {
 public:
  static constexpr std::uint64_t kPeriodNs = 100'000'000;

  static Result<SocketSampler> open(const tracee::Process& process);

  Result<void> connect(CaptureOutput& output);

  // Samples the sockets whose period has passed, or all of them. Returns the new sockets.
  Result<std::vector<SocketState>> look(bool in_any_case);

  // Samples with open <= stamp < close are kept.
  void open_at(std::uint64_t monotonic_ns) { open_ns_ = monotonic_ns; }
  void close_at(std::uint64_t monotonic_ns) { close_ns_ = monotonic_ns; }

  void flush();
  std::uint32_t stream() const { return stream_; }
  std::uint64_t events() const { return events_; }

 private:
  SocketSampler(const tracee::Process& process, SocketDiag diag)
      : process_(&process), diag_(std::move(diag)) {}
  void record(const SocketState& socket, std::uint64_t ts_ns, std::uint64_t took_ns);

  struct Known {
    SocketState state;
    std::uint64_t told_ns = 0;
  };

  const tracee::Process* process_;
  SocketDiag diag_;
  Sink* sink_ = nullptr;
  model::PointId point_ = 0;
  std::uint32_t stream_ = 0;
  std::uint64_t open_ns_ = UINT64_MAX;
  std::uint64_t close_ns_ = UINT64_MAX;
  std::uint64_t next_ns_ = 0;
  std::uint64_t events_ = 0;
  model::EventBatch batch_;
  std::unordered_map<std::uint64_t, Known> known_;  // by cookie
};

}  // namespace sojourn::capture
