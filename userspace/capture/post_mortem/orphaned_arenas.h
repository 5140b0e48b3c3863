// The rings that a process left behind when it ended: files with a name ($SJ_RING_DIR), or the
// memory in its core file; live_arenas.h copies those of one that goes on. Nothing of it is
// changed. All of it is hostile until checked, as that of a living target; a core may also be cut
// short, so what is there is asked for before it is read.
// One thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/rings/mapped_arena.h"

namespace sojourn::capture {

struct OrphanedArena {
  Arena arena;
  // Of a core file: which bytes of the arena are in it, as offset and length.
  bool is_from_core = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> present;
  // The rings' private pages are in it, as their owners have them: who was in the middle of a hit.
  bool has_private_pages = false;

  bool holds(std::uint64_t offset, std::uint64_t bytes) const;
};

struct OrphanedProcess {
  pid_t pid = 0;     // as it counted itself
  std::string comm;  // of a core: else empty, as what follows
  std::string arguments;
  int signal = 0;                   // that ended it; 0: not known
  std::uint64_t missing_bytes = 0;  // that the core should have had
  // Of a core: what each thread would have gone on with, by its number as the process counted.
  std::map<std::uint32_t, std::uint64_t> instructions = {};
  std::vector<OrphanedArena> arenas;
};

// `path` is a ring file, a directory of them, or a core file. `pid` says which process's rings are
// meant, where there are several; 0: the one that there is.
Result<OrphanedProcess> open_orphaned_process(const std::string& path, pid_t pid);

}  // namespace sojourn::capture
