// Sets the frequency of all CPUs for a while. A process of its own, the keeper, remembers the
// previous settings, and restores them when this process ends, by an error or SIGKILL as well. One
// thread owns a FrequencySetting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::host {

// The present limits of a frequency policy of cpufreq, and those of its CPUs.
struct FrequencyLimits {
  std::string folder = {};
  std::uint64_t least_khz = 0;
  std::uint64_t most_khz = 0;
  std::uint64_t slowest_khz = 0;
  std::uint64_t fastest_khz = 0;
};

// `sys` is the path of /sys. Fails if there is no policy, or one without limits.
Result<std::vector<FrequencyLimits>> read_frequency_limits(const std::string& sys);

class FrequencySetting {
 public:
  // Fails before anything is changed where frequencies cannot be set. To be called while this
  // process has one thread.
  static Result<FrequencySetting> begin(const std::string& sys);
  FrequencySetting(FrequencySetting&& other) noexcept;
  FrequencySetting& operator=(FrequencySetting&&) = delete;
  ~FrequencySetting();

  // The frequencies that all CPUs support.
  std::uint64_t slowest_khz() const;
  std::uint64_t fastest_khz() const;

  Result<void> set(std::uint64_t khz);

  // Restores the previous settings. If that fails, the keeper has reported it.
  Result<void> restore();

 private:
  FrequencySetting(std::vector<FrequencyLimits> before, base::Fd keeper_waits, pid_t keeper)
      : before_(std::move(before)), keeper_waits_(std::move(keeper_waits)), keeper_(keeper) {}

  std::vector<FrequencyLimits> before_;
  base::Fd keeper_waits_;  // for its end
  pid_t keeper_ = 0;
};

}  // namespace sojourn::host
