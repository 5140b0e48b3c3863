// Hardware and software counters of the target's threads, and samples of their stacks, by the
// kernel's perf events, as a source of a capture: a stream for each CPU, of points of direction Q
// (model/profile_info.h). The target pays for the samples only; its code is not changed. Counters
// that the machine or the rights do not allow are reported and left out. One thread owns a
// PerfSource.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/context_info.h"
#include "analysis/model/profile_info.h"
#include "userspace/capture/output/source.h"
#include "userspace/capture/perf/perf_counters.h"
#include "userspace/capture/perf/perf_events.h"
#include "userspace/capture/perf/perf_stacks.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

struct PerfOptions {
  std::vector<CounterWanted> counters;
  std::uint64_t profile_hertz = 0;                  // of running threads; 0: no profile
  std::size_t ring_bytes = std::size_t{512} << 10;  // for each CPU; every user may map as much
  std::chrono::microseconds poll_period{10'000};
  // Called for each counter, once it is known whether it is available.
  std::function<void(const model::Counter&)> tell;
};

class PerfSource final : public Source {
 public:
  static Result<std::unique_ptr<PerfSource>> create(const tracee::Process& process,
                                                    PerfOptions options);

  Result<void> connect(CaptureOutput& output) override;
  Result<void> arm() override;
  void open_at(std::uint64_t monotonic_ns) override { open_ns_ = monotonic_ns; }
  void close_at(std::uint64_t monotonic_ns) override { close_ns_ = monotonic_ns; }
  Result<void> settle() override;
  Result<bool> poll() override;
  Result<void> settle_so_far() override { return {}; }  // a sample has begun and ended
  void mark() override;
  bool is_past_mark() const override;
  void flush() override;
  std::chrono::microseconds poll_period() const override { return options_.poll_period; }
  void disarm() override;
  bool is_armed() const override { return events_ && events_->is_open(); }
  Result<void> add_losses(model::Ledger& ledger) const override;
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override;
  std::uint64_t events() const override;
  Description description() const override { return stacks_.naming(); }

 private:
  // The kinds that are sampled, in the order of the requests.
  struct Taken {
    model::Counter about;
    PerfRequest request;
    model::PointId point = 0;
    bool has_stacks = false;
  };
  struct CpuStream {
    std::uint32_t id = 0;
    std::uint64_t next_seq = 0;
    std::uint64_t lost = 0;         // between the marks, as its ring says
    std::uint64_t lost_before = 0;  // the open mark
    std::uint64_t newest_ns = 0;
    std::uint64_t events = 0;
    std::vector<std::uint64_t> lost_of;  // by kind, once the source has ended; empty: not known
    model::EventBatch batch;
  };

  PerfSource(const tracee::Process& process, PerfOptions options)
      : process_(&process), options_(std::move(options)), stacks_(process) {}
  void ask_for(const PerfKind& kind, std::uint64_t period, bool has_stacks);
  void take(CpuStream& stream, std::span<const std::byte> bytes);
  void take_sample(CpuStream& stream, const PerfSample& sample);
  void take_loss(CpuStream& stream, std::uint64_t count);
  void name_thread(std::uint32_t tid, std::string name);
  void hand_over(CpuStream& stream);
  void tell_names();
  static std::uint64_t losses_of(const CpuStream& stream);

  const tracee::Process* process_;
  PerfOptions options_;
  CaptureOutput* output_ = nullptr;
  std::vector<model::Counter> missing_;
  std::vector<Taken> taken_;
  std::optional<PerfEvents> events_;
  std::vector<CpuStream> streams_;  // by CPU, as events_ has them
  PerfStacks stacks_;
  std::unordered_map<std::uint32_t, std::string> threads_;  // names that were written
  model::Context fresh_threads_;
  std::uint64_t open_ns_ = UINT64_MAX;
  std::uint64_t close_ns_ = UINT64_MAX;
  bool has_ended_ = false;
  bool is_named_ = false;
};

}  // namespace sojourn::capture
