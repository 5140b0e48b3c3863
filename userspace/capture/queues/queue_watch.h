// Finds the queues that appear, change their description or end in the arenas of a target, reports
// each, and adds them to a QueuePass. Looking for changes takes one to three loads for each slot,
// cheap enough for every few milliseconds. One thread owns a QueueWatch, which serves one process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/queue_info.h"
#include "userspace/capture/queues/queue_pass.h"
#include "userspace/capture/queues/queue_table.h"

namespace sojourn::capture {

class QueueWatch {
 public:
  // `pid` is in the process's own namespace. Queues of several processes may have the same ids:
  // `stranger`, the process's pid here, makes them differ in the trace; 0: they stay as they are.
  QueueWatch(std::int32_t pid, std::int32_t stranger, QueuePass& pass)
      : pid_(pid), stranger_(stranger), pass_(&pass) {}

  // `arena` is the mapped file from its beginning to the end of the tables at least; it outlives
  // this. Queues between processes are only read if `joint`.
  void add_arena(std::span<const std::byte> arena, bool joint) {
    arenas_.push_back({.arena = arena, .joint = joint, .known = {}});
  }

  // The changes since the last scan. Queues in the first one existed before.
  model::QueueChanges scan(std::uint64_t now_ns);

  std::uint64_t refused() const { return refused_; }  // registrations that found no place

 private:
  struct Known {
    QueueMark mark;
    model::QueueInfo about;
  };
  struct Tables {
    std::span<const std::byte> arena;
    bool joint = true;
    std::array<std::vector<Known>, 2> known;  // by slot
  };

  void scan_table(std::span<const sj_queue> slots, std::vector<Known>& known);
  void look_at(const sj_queue& slot, Known& known);
  model::QueueInfo describe(const Queue& queue) const;
  void tell(model::QueueEvent event, const model::QueueInfo& about);

  std::int32_t pid_;
  std::int32_t stranger_;
  QueuePass* pass_;
  std::vector<Tables> arenas_;
  std::uint64_t refused_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  model::QueueChanges changes_;
};

}  // namespace sojourn::capture
