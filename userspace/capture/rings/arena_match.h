// Finds which of the target's files an arena belongs to, and where its points' flags and ids are
// while the program runs. The arena's addresses come from the target, so they are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/capture/rings/mapped_arena.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct ArenaMatch {
  std::size_t file = 0;  // index into Points::files
  std::uint64_t bias = 0;

  // The index of a site's flag, or nothing if its address lies elsewhere.
  std::optional<std::size_t> flag(const tracee::RingSite& site, const ArenaLayout& layout) const;
  std::uint32_t id(const tracee::RingSite& site) const {
    return static_cast<std::uint32_t>(site.id + bias);
  }
};

// Returns false for a module that only registers queues: no hit writes to its rings.
inline bool has_points(const Arena& arena) {
  return arena.layout().flags != 0;
}

// Fails if the arena's code is in no file of which `points` has ring sites.
Result<ArenaMatch> match_arena(const tracee::Process& process, const Arena& arena,
                               const tracee::Points& points);

std::string build_id_of(const sj_module& module);  // as hex; empty where it has none

// For a process that has ended and has no mappings any more: matches by the module's description in
// the arena. Fails also if that fits more than one of the files.
Result<ArenaMatch> match_left_arena(const Arena& arena, const tracee::Points& points);

}  // namespace sojourn::capture
