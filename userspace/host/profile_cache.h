// Keeps the machine's profile until the next boot, in a file that belongs to the user: root's is in
// /run/sojourn, other users' in their run-time or cache directory. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/host/host_profile.h"

namespace sojourn::host {

// An older profile is measured again, because a virtual machine's neighbours change. A brief
// profile that something disturbed is measured again sooner.
inline constexpr std::uint64_t kFreshSeconds = 7ULL * 24 * 3600;
inline constexpr std::uint64_t kDisturbedSeconds = 600;

// Empty if this user has no directory for it.
std::string cache_path();

// The kept profile; none if it is missing, damaged, too old, or of another boot.
std::optional<HostProfile> read_cached(const std::string& path, const std::string& boot_id,
                                       std::uint64_t now_s);

// Replaces the whole file, unless the file holds more measurements, of this boot, and is still
// fresh.
Result<void> write_cached(const std::string& path, const HostProfile& profile, std::uint64_t now_s);

// The machine's profile as JSON, for a trace; empty if nothing could be measured. It comes from the
// cache. Without a cached one, a child process measures the brief form in a third of a second.
std::string profile_for_trace(const std::string& tool);

}  // namespace sojourn::host
