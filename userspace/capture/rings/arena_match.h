// Which of the target's files an arena belongs to, and where its points' flags and ids are while
// the program runs. Addresses in the arena come from the target: a match is only one that fits.
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

  // Of a site of that file; nothing where the address leads elsewhere.
  std::optional<std::size_t> flag(const tracee::RingSite& site, const ArenaLayout& layout) const;
  std::uint32_t id(const tracee::RingSite& site) const {
    return static_cast<std::uint32_t>(site.id + bias);
  }
};

// Of a module that only registers queues nobody writes to the rings.
inline bool has_points(const Arena& arena) {
  return arena.layout().flags != 0;
}

// Fails where the arena's code is in no file that `points` has ring sites of.
Result<ArenaMatch> match_arena(const tracee::Process& process, const Arena& arena,
                               const tracee::Points& points);

std::string build_id_of(const sj_module& module);  // as hex; empty where it has none

// The same where the process has ended and shows its mappings no more: by what the arena says of
// itself. Fails also where that fits more than one of the files.
Result<ArenaMatch> match_left_arena(const Arena& arena, const tracee::Points& points);

}  // namespace sojourn::capture
