// The arenas of a target: the shared memory that holds its rings and flags (sojourn/ring_abi.h).
// They are found among a process's mappings, opened, checked and mapped here. The target may have
// been broken into: the header is copied once, checked against the file, and never read again. The
// mapping lives as long as the Arena, also when the target is gone. One thread owns an Arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sojourn/ring_abi.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/capture/rings/guarded_mapping.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

// The part of the header that does not change while the arena exists.
struct ArenaLayout {
  std::uint64_t total_bytes = 0;
  std::uint64_t code_address = 0;
  std::uint64_t flags_address = 0;
  std::uint64_t flags_offset = 0;
  std::uint64_t flags = 0;  // their number
  std::uint64_t slots_offset = 0;
  std::uint64_t rings_offset = 0;
  std::uint64_t ring_slots = 0;
  std::uint64_t ring_stride = 0;
  std::uint64_t ring_bytes_default = 0;

  // The size of the largest ring that fits into a stride.
  std::uint64_t max_ring_bytes() const { return ring_stride - SJ_RING_DATA - SJ_RING_PAGE; }
};

// Checks the header against the file's size.
Result<ArenaLayout> check_arena(const sj_arena& header, std::uint64_t file_bytes);

class Arena {
 public:
  // `name` is for people.
  static Result<Arena> open(base::Fd file, std::string name, std::uint64_t address = 0);
  // Opens a file in a directory.
  static Result<Arena> open_named(const std::string& path, std::string name);
  // Opens the arena of a target that is gone: the file is only read, and stays as it is.
  static Result<Arena> open_orphaned(base::Fd file, std::string name);
  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) = delete;

  // Keeps other collectors out until this is destroyed.
  Result<void> lock();

  const std::string& name() const { return name_; }
  const ArenaLayout& layout() const { return layout_; }
  sj_arena_control& control() const { return header().control; }
  pid_t pid() const { return header().pid; }  // of the process that made it, in its own namespace
  sj_module module() const;                   // with an end mark in its path
  // The readings of the clocks when the module was loaded, and the newest one after that, if it is
  // whole.
  sj_clock_reading first_clocks() const { return header().first_clocks; }
  std::optional<sj_clock_reading> newest_clocks() const;
  std::uint64_t slots_used() const;
  std::uint64_t memory_used() const;
  std::uint64_t memory_ceiling() const;  // for all of its rings
  bool gone() const;                     // its module was unloaded

  // Returns whether the file was made shorter: the missing part reads as zeros. The target seals a
  // memfd against that; a file with a name cannot be sealed, and a target cannot be trusted.
  bool was_cut() const { return mapping_.was_cut(); }

  // The whole file. Most of the rings behind `rings_offset` have no memory; reading them allocates
  // it.
  std::span<const std::byte> bytes() const { return {base_, layout_.total_bytes}; }

  std::span<std::uint16_t> flags() const;
  void lower_flags() const;  // clears SJ_FLAG_RING of all points
  std::span<sj_ring_slot> slots() const;
  std::span<sj_ring_loss, SJ_RING_LOSSES> refused() const;
  const std::uint32_t& refused_elsewhere() const { return header().refused_elsewhere; }

  // For slots that were taken only: others have no memory, and reading them would allocate it.
  sj_ring& ring(std::uint64_t slot) const;
  const std::byte* ring_data(std::uint64_t slot) const;

  // The address in the target of a ring's private page (sj_ring_private), which is not in the file.
  void* address_of_private(std::uint64_t slot) const;

 private:
  static Result<Arena> open(base::Fd file, std::string name, std::uint64_t address,
                            Sharing sharing);
  Arena(base::Fd file, std::string name, std::uint64_t address, ArenaLayout layout,
        GuardedMapping mapping)
      : file_(std::move(file)),
        name_(std::move(name)),
        address_(address),
        layout_(layout),
        mapping_(std::move(mapping)),
        base_(mapping_.data()) {}
  sj_arena& header() const { return *reinterpret_cast<sj_arena*>(base_); }

  base::Fd file_;
  std::string name_;
  std::uint64_t address_ = 0;  // in the target; 0: not known
  ArenaLayout layout_;
  GuardedMapping mapping_;
  std::byte* base_ = nullptr;
};

// An arena among a process's mappings.
struct FoundArena {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t address = 0;  // of the file's begin in the process
  std::uint64_t upper = 0;    // the end of the mappings that follow in the file's order
  std::uint64_t start = 0;    // of its first mapping; `end` is that mapping's end
  std::uint64_t end = 0;
  std::string name;
};

Result<std::vector<FoundArena>> find_arenas(const tracee::Process& process);

// Opens the file through a descriptor of the process, or as root through its mapping. An empty Fd:
// it failed, errno says why.
base::Fd open_arena_file(const tracee::Process& process, const FoundArena& found);
Result<Arena> open_arena(const tracee::Process& process, const FoundArena& found);

}  // namespace sojourn::capture
