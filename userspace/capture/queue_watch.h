// Which queues there are: finds those that appear, change their description or end in the arenas of
// a target, tells of each, and keeps a QueuePass at those that are there. Looking for changes is
// one load or three a place, cheap enough for every few milliseconds. One thread owns a QueueWatch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/queues.h"
#include "userspace/capture/queue_pass.h"
#include "userspace/capture/queue_table.h"

namespace sojourn::capture {

class QueueWatch {
 public:
  QueueWatch(std::int32_t pid, QueuePass& pass) : pid_(pid), pass_(&pass) {}

  // The mapped file from its beginning to the end of the tables at least; it outlives this.
  void add_arena(std::span<const std::byte> arena) { arenas_.push_back({arena, {}}); }

  // What changed since the last scan; what the first one sees was there before.
  model::QueueChanges scan(std::uint64_t now_ns);

  std::uint64_t refused() const { return refused_; }  // registrations that found no place

 private:
  struct Known {
    QueueMark mark;
    model::QueueAbout about;
  };
  struct Tables {
    std::span<const std::byte> arena;
    std::array<std::vector<Known>, 2> known;  // by place
  };

  void scan_table(std::span<const sj_queue> slots, std::vector<Known>& known);
  void look_at(const sj_queue& slot, Known& known);
  void tell(model::QueueEvent event, const model::QueueAbout& about);

  std::int32_t pid_;
  QueuePass* pass_;
  std::vector<Tables> arenas_;
  std::uint64_t refused_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  model::QueueChanges changes_;
};

}  // namespace sojourn::capture
