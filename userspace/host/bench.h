// Takes samples until they are stable, or reports that they are not. Subtracts the cost of
// measuring, and drops samples during which another thread ran. A measurement is a function that
// repeats its operation a given number of times. One thread owns a Bench.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/host/host_profile.h"
#include "userspace/base/clock.h"
#include "userspace/host/machine_reader.h"
#include "userspace/host/placement.h"

namespace sojourn::host {

enum class Form : std::uint8_t { kBrief, kQuick, kFull };
std::string_view name(Form form);

// The effort for one measurement.
struct Effort {
  std::uint64_t batch_ns;  // the length of a sample, so that reading the clock does not matter
  std::size_t fewest;      // samples
  std::size_t most;
  std::uint64_t most_ns;
};
Effort effort_of(Form form);

// The number of times that this thread was preempted.
std::uint64_t times_preempted();

struct Row {
  std::string id;
  std::string name;
  std::string method;
};

struct MeasureOptions {
  double subtract_ns = 0;                       // of each repetition
  double divide_by = 1;                         // how many operations one repetition does
  std::uint64_t most_repetitions = UINT64_MAX;  // of a sample
  bool has_partner = false;  // it shares the CPU: the preemption by it is measured
};

// A smaller difference comes from the clock's resolution, not from the machine.
inline constexpr double kResolutionNs = 0.05;

class Bench {
 public:
  Bench(Form form, const Placement& placement, const MachineRoots& roots, const Cpuid& cpuid,
        std::string directory, HostProfile& profile)
      : form_(form),
        effort_(effort_of(form)),
        placement_(placement),
        roots_(roots),
        cpuid_(cpuid),
        directory_(std::move(directory)),
        profile_(profile) {}

  void enter_group(std::string group) { group_ = std::move(group); }
  const std::string& group() const { return group_; }

  Form form() const { return form_; }
  bool is_full() const { return form_ == Form::kFull; }
  const Effort& effort() const { return effort_; }
  const Placement& placement() const { return placement_; }
  const MachineRoots& roots() const { return roots_; }
  const Cpuid& cpuid() const { return cpuid_; }
  const std::string& directory() const { return directory_; }  // for files
  HostProfile& profile() { return profile_; }

  // Times `run(repetitions)` on this thread.
  template <typename Run>
  Measurement& measure(Row row, Run run, MeasureOptions options = {}) {
    std::uint64_t repetitions = 1;
    while (repetitions < options.most_repetitions) {
      const std::uint64_t before = base::monotonic_ns();
      run(repetitions);
      const std::uint64_t took = base::monotonic_ns() - before;
      if (took >= effort_.batch_ns) break;
      repetitions = std::min(options.most_repetitions,
                             took * 4 < effort_.batch_ns ? repetitions * 4 : repetitions * 2);
    }
    const auto sample = [&] {
      const std::uint64_t before = base::monotonic_ns();
      run(repetitions);
      const auto took = static_cast<double>(base::monotonic_ns() - before);
      return (took / static_cast<double>(repetitions) - options.subtract_ns) / options.divide_by;
    };
    return measure_samples(std::move(row), sample, options.has_partner);
  }

  // `sample()` returns one value. Values during which another thread ran are dropped.
  template <typename Sample>
  Measurement& measure_samples(Row row, Sample sample, bool has_partner = false) {
    std::vector<double> kept;
    std::vector<double> disturbed;
    const std::uint64_t end = base::monotonic_ns() + effort_.most_ns;
    while (kept.size() < effort_.most) {
      const std::uint64_t before = times_preempted();
      const double value = sample();
      const bool is_kept = has_partner || times_preempted() == before;
      (is_kept ? kept : disturbed).push_back(value);
      if (base::monotonic_ns() >= end) break;
      if (kept.size() >= effort_.fewest && kept.size() % kFewestSamples == 0 &&
          why_unstable(kept, kResolutionNs).empty())
        break;
    }
    return add_disturbed(std::move(row), std::move(kept), disturbed);
  }

  // Samples in the order in which they were taken.
  Measurement& add(Row row, std::vector<double> samples, Unit unit = Unit::kNs);
  // One value that was not sampled, such as a size.
  Measurement& add_value(Row row, double value, Unit unit, std::string note = {});
  void leave_out(Row row, std::string why);
  // Marks the rows of a group as left out, if the whole group cannot be measured.
  void leave_out_all(const std::vector<Row>& rows, const std::string& why);

  // The median of an earlier measurement, else 0.
  double before(std::string_view id) const { return profile_.median(id).value_or(0); }

 private:
  Measurement& add_disturbed(Row row, std::vector<double> kept,
                             const std::vector<double>& disturbed);

  Form form_;
  Effort effort_;
  const Placement& placement_;
  const MachineRoots& roots_;
  const Cpuid& cpuid_;
  std::string directory_;
  HostProfile& profile_;
  std::string group_;
};

// Makes the optimiser assume that the value is used here and may have changed.
template <typename Value>
inline void keep(Value& value) {
  asm volatile("" : "+r,m"(value) : : "memory");
}

}  // namespace sojourn::host
