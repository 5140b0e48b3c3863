// Adds up a trace's energy readings between the marks: the joules of each zone with its wraps, the
// frequency of each policy, the time in each idle state. energy_account.h decides which zones
// count. Events come in the order of time. One thread owns it; the trace's descriptions must
// outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/capture_info.h"
#include "analysis/model/energy_info.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::energy {

// No zone takes more: a counter that would mean more was set back, or wrapped more than once.
inline constexpr double kMostWatts = 2000;

// The readings of a counter that only grows.
class Counter {
 public:
  // `range`: the value at which it begins at 0 again; 0: it does not.
  explicit Counter(std::uint64_t range) : range_(range) {}

  // The part of the span between two readings that lies between the marks counts.
  void add(std::uint64_t ts_ns, std::uint64_t value, std::uint64_t open_ns, std::uint64_t close_ns);

  double amount() const { return amount_; }  // in the counter's unit, in the time that is covered
  std::uint64_t covered_ns() const { return covered_ns_; }
  std::uint64_t readings() const { return readings_; }
  std::uint64_t wraps() const { return wraps_; }
  // Returns true if an energy counter went back without a wrap that fits the time, or was not read
  // for so long that it may have wrapped unseen.
  bool is_doubtful() const { return is_doubtful_; }
  // The longest time between two of its readings.
  std::uint64_t longest_gap_ns() const { return longest_gap_ns_; }

 private:
  struct Reading {
    std::uint64_t ts_ns = 0;
    std::uint64_t value = 0;
  };

  std::uint64_t range_;
  std::optional<Reading> last_;
  double amount_ = 0;
  std::uint64_t covered_ns_ = 0;
  std::uint64_t readings_ = 0;
  std::uint64_t wraps_ = 0;
  std::uint64_t longest_gap_ns_ = 0;
  bool is_doubtful_ = false;
};

struct Frequencies {
  std::uint64_t readings = 0;
  double sum_khz = 0;
  std::uint64_t least_khz = UINT64_MAX;
  std::uint64_t most_khz = 0;

  double mean_khz() const { return readings == 0 ? 0 : sum_khz / static_cast<double>(readings); }
};

class EnergyMeter {
 public:
  EnergyMeter(const model::Schema& schema, const model::Energy& about,
              const model::Capture& capture);

  void consume(const model::EventBatch& events);
  void finish(std::uint64_t end_ns);  // of a trace without a close mark

  const model::Energy& about() const { return about_; }
  std::uint64_t open_ns() const { return open_ns_; }
  double duration_s() const;  // between the marks

  // Finds a counter by the id in the trace's descriptions. Null: it was never read.
  const Counter* zone(std::uint32_t id) const;
  const Counter* idle(std::uint32_t id) const;
  const Frequencies* policy(std::uint32_t id) const;

 private:
  void take(model::EnergyReadingKind kind, const model::EventView& event);

  const model::Energy& about_;
  std::map<model::PointId, model::EnergyReadingKind> points_;
  std::uint64_t open_ns_;
  std::uint64_t close_ns_;
  std::uint64_t end_ns_ = 0;
  std::map<std::uint32_t, Counter> zones_;
  std::map<std::uint32_t, Counter> idle_;
  std::map<std::uint32_t, Frequencies> policies_;
};

}  // namespace sojourn::energy
