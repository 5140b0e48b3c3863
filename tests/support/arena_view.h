// A process's queues as a collector has them: its arena's file, mapped read only. Stays readable
// when the process is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "userspace/capture/queues/queue_table.h"

namespace sojourn::test {

class ArenaView {
 public:
  // Opens the process's first arena; throws if it has none.
  explicit ArenaView(pid_t pid);
  ~ArenaView();
  ArenaView(const ArenaView&) = delete;
  ArenaView& operator=(const ArenaView&) = delete;

  // Up to the end of the tables.
  std::span<const std::byte> bytes() const;

  // The queues that the process, or a forked child of it, has registered. Throws if they cannot be
  // read.
  capture::Queues queues(pid_t pid) const;
  capture::Queues queues() const { return queues(pid_); }
  // The queues of one name.
  std::vector<capture::Queue> named(std::string_view name) const;
  // The queue of this name; throws if there is none, or several.
  capture::Queue one(std::string_view name) const;

 private:
  pid_t pid_;
  std::span<const std::byte> file_;
};

}  // namespace sojourn::test
