// Keeps what was measured of this machine, for as long as it is the same boot of the same machine:
// for root in /run/sojourn, for others in their own run-time or cache directory. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/host/host_profile.h"

namespace sojourn::host {

// Older ones are measured again: a machine's neighbours change. A brief one that was disturbed is
// tried again soon.
inline constexpr std::uint64_t kFreshSeconds = 7ULL * 24 * 3600;
inline constexpr std::uint64_t kDisturbedSeconds = 600;

// Empty where there is no place for it.
std::string cache_path();

// The profile that was kept; none where it is missing, of another boot, too old, or not sound.
std::optional<HostProfile> read_cached(const std::string& path, const std::string& boot_id,
                                       std::uint64_t now_s);

// Replaces the file as a whole. A file that has more in it, of the same boot and still fresh,
// stays.
Result<void> write_cached(const std::string& path, const HostProfile& profile, std::uint64_t now_s);

// The machine's profile for a trace, as JSON; empty if nothing could be measured. From the
// cache; else the brief form is measured, in a child process, in a third of a second, and kept.
std::string profile_for_trace(const std::string& tool);

}  // namespace sojourn::host
