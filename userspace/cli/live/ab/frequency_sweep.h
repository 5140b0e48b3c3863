// The settings of `sojourn ab --sweep-frequency`: one target at several frequencies of the CPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/host/cpu_frequency.h"

namespace sojourn::cli {

struct SweepOptions {
  bool is_wanted = false;
  std::string list;  // "800MHz,3.2GHz"; empty: the slowest and the fastest
  std::string sys = "/sys";
};

void define_sweep_options(Arguments& arguments, SweepOptions& options);
void check_sweep_options(const Arguments& arguments, SweepOptions& options);

// "800MHz", "3.2GHz", "1200000kHz".
Result<std::uint64_t> parse_khz(std::string_view text);
std::string megahertz(std::uint64_t khz);  // "1200MHz"

// The list's frequencies, the fastest first, or what can be set at most and at least.
Result<std::vector<std::uint64_t>> swept_khz(const SweepOptions& options,
                                             const host::FrequencySetting& setting);
// The number of settings in a checked list.
std::size_t settings_in(const SweepOptions& options);

// If frequencies cannot be set, the error says what can be done instead.
Result<host::FrequencySetting> begin_sweep(const SweepOptions& options);

}  // namespace sojourn::cli
