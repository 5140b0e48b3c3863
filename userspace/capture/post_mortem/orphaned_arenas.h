// The rings that a process left behind when it ended: files with a name ($SJ_RING_DIR), or the
// memory in its core file; live_arenas.h copies those of one that goes on. Nothing is changed. All
// of it is hostile until checked, as the arena of a living target; a core may also be cut short, so
// readers ask whether bytes are there before they read them.
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
  // For a core file: which bytes of the arena are in it, as offset and length.
  bool is_from_core = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> present;
  // The rings' private pages are in it, as their owners had them: they show unfinished hits.
  bool has_private_pages = false;

  bool holds(std::uint64_t offset, std::uint64_t bytes) const;
};

struct OrphanedProcess {
  pid_t pid = 0;     // in its own PID namespace
  std::string comm;  // for a core only, as the members below
  std::string arguments;
  int signal = 0;                   // the signal that ended it; 0: unknown
  std::uint64_t missing_bytes = 0;  // missing in the core
  // For a core: each thread's next instruction, by its thread id in the process's namespace.
  std::map<std::uint32_t, std::uint64_t> instructions = {};
  std::vector<OrphanedArena> arenas;
};

// `path` is a ring file, a directory of them, or a core file. `pid` says which process's rings are
// meant, where there are several; 0: the one that there is.
Result<OrphanedProcess> open_orphaned_process(const std::string& path, pid_t pid);

}  // namespace sojourn::capture
