// The source of a capture for the kernel's actions on the target's threads: one stream for each CPU
// with points of direction K (context_points.h), and one of samples of each process's sockets
// (socket_sampler.h). Families that the kernel or the rights do not allow are reported and left
// out. One thread owns a ContextSource.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/context_info.h"
#include "userspace/capture/bpf/drain.h"
#include "userspace/capture/context/context_names.h"
#include "userspace/capture/context/context_points.h"
#include "userspace/capture/context/context_programs.h"
#include "userspace/capture/context/descriptors.h"
#include "userspace/capture/output/source.h"
#include "userspace/capture/queues/socket_sampler.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

struct ContextOptions {
  std::vector<ContextFamily> families;
  std::size_t ring_bytes = 0;  // a CPU; 0: chosen from the number of CPUs
  std::chrono::microseconds poll_period{10'000};
  // Called once armed, for each family.
  std::function<void(const model::ContextFamily&)> tell;
};

class ContextSource final : public Source {
 public:
  static Result<std::unique_ptr<ContextSource>> create(const tracee::Process& process,
                                                       ContextOptions options);

  Result<bool> add_process(const tracee::Process& process) override;
  void remove_process(const tracee::Process& process) override;
  Result<void> connect(CaptureOutput& output) override;
  Result<void> arm() override;
  void open_at(std::uint64_t monotonic_ns) override;
  void close_at(std::uint64_t monotonic_ns) override;
  Result<void> start_over() override;
  Result<void> settle() override;
  Result<bool> poll() override;
  void mark() override { drain_->mark(); }
  bool is_past_mark() const override { return drain_->is_past_mark(); }
  void flush() override;
  std::chrono::microseconds poll_period() const override { return options_.poll_period; }
  void disarm() override { programs_.detach(); }
  bool is_armed() const override { return programs_.is_attached(); }
  Result<void> add_losses(model::Ledger& ledger) const override;
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override;
  std::uint64_t events() const override;

 private:
  ContextSource(ContextOptions options, ContextPrograms programs)
      : options_(std::move(options)), programs_(std::move(programs)) {}

  void open_sampler(const tracee::Process& process);
  void look_at_descriptors();
  void look_at_sockets(bool in_any_case);
  void look_at_sockets(SocketSampler& sampler, bool in_any_case);

  std::vector<const tracee::Process*> processes_;
  ContextOptions options_;
  ContextPrograms programs_;
  CaptureOutput* output_ = nullptr;
  std::optional<Drain> drain_;
  std::uint32_t first_stream_ = 0;  // the CPUs' streams follow each other
  ContextNames names_;
  Descriptors descriptors_;
  std::deque<SocketSampler> samplers_;  // one a process
  std::uint64_t open_ns_ = UINT64_MAX;
  std::uint64_t close_ns_ = UINT64_MAX;
  std::string why_not_sampled_;
};

}  // namespace sojourn::capture
