// Reads a machine's energy counters while a capture runs, and its frequencies and idle states
// beside them, as a source of a capture: one stream, of points of direction Q
// (model/energy_info.h). Nothing in the target is touched, and one source is enough for all
// processes. A counter that is missing, unreadable or vanishes is reported, and the trace has the
// reason. One thread owns an EnergySource.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/energy_info.h"
#include "userspace/capture/energy/energy_counter.h"
#include "userspace/capture/energy/energy_tree.h"
#include "userspace/capture/output/source.h"

namespace sojourn::capture {

struct EnergyOptions {
  std::string sys = "/sys";
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  // Called for each missing counter: once armed, and at the end for those that vanished.
  std::function<void(const std::string& what, const std::string& why)> tell = {};
};

class EnergySource final : public Source {
 public:
  static std::unique_ptr<EnergySource> create(EnergyOptions options);

  Result<bool> add_process(const tracee::Process&) override { return true; }
  Result<void> connect(CaptureOutput& output) override;
  Result<void> arm() override;
  void open_at(std::uint64_t monotonic_ns) override { open_ns_ = monotonic_ns; }
  void close_at(std::uint64_t monotonic_ns) override;
  Result<void> settle() override;
  Result<bool> poll() override;
  Result<void> settle_so_far() override { return {}; }  // a reading has begun and ended
  void mark() override {}
  bool is_past_mark() const override { return true; }
  void flush() override;
  std::chrono::microseconds poll_period() const override;
  void disarm() override { is_armed_ = false; }
  bool is_armed() const override { return is_armed_; }
  Result<void> add_losses(model::Ledger&) const override { return {}; }
  Result<void> add_hits(std::vector<std::uint64_t>& hits) const override;
  std::uint64_t events() const override { return events_; }

 private:
  EnergySource(EnergyOptions options, EnergyTree tree);

  struct Zone {
    std::size_t about = 0;  // in about_.zones
    EnergyCounter counter;
  };

  template <typename Offer>
  void open_counter(const Offer& offer);
  void tell_missing() const;
  void read_all(std::uint64_t now_ns);
  void read_zones();
  void read_frequencies();
  void read_idle();
  void record(model::PointId point, std::uint64_t ts_ns, std::uint32_t id, std::uint64_t value);

  EnergyOptions options_;
  EnergyTree tree_;
  model::Energy about_;
  std::vector<Zone> zones_;
  Sink* sink_ = nullptr;
  std::uint32_t stream_ = 0;
  model::PointId energy_point_ = 0;
  model::PointId frequency_point_ = 0;
  model::PointId idle_point_ = 0;
  model::EventBatch batch_;
  std::uint64_t open_ns_ = UINT64_MAX;
  std::uint64_t close_ns_ = UINT64_MAX;
  std::uint64_t read_ns_ = 0;         // when zones were read last
  std::uint64_t next_second_ns_ = 0;  // of the rest
  std::uint64_t events_ = 0;
  bool is_armed_ = false;
};

}  // namespace sojourn::capture
