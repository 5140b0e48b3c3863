// The rings of a process that records by itself (SJ_RINGS=flight), kept in view: a trace of what
// they hold is made whenever that is wanted, while the process goes on recording, or has ended.
// Nothing is read in between. Other collectors are kept out meanwhile: they would take the rings
// over. One thread owns a HeldRings.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/post_mortem/left_trace.h"
#include "userspace/capture/rings/threads.h"
#include "userspace/target/process.h"
#include "userspace/target/target.h"

namespace sojourn::capture {

class HeldRings {
 public:
  // The process's points as they are by then, those that are wanted and the others.
  using Find = std::function<Result<target::Points>(const target::Process&)>;

  // `find` is asked when a library comes. Fails where none of the process's rings records by
  // itself, or a collector is attached.
  static Result<HeldRings> open(target::Process process, target::Points points, Find find);

  const target::Process& process() const { return *process_; }
  const target::Points& points() const { return points_; }
  std::size_t rings() const;  // in use

  // Takes in the rings of libraries that were loaded since.
  Result<void> look_again();

  struct Written {
    LeftTrace trace;
    std::vector<std::string> without_rings;  // points that are not in it
  };
  Result<Written> write(const std::string& output, const std::string& ended_by);

 private:
  struct Held {
    Arena arena;
    ArenaMatch match;
  };

  HeldRings(target::Process process, target::Points points, Find find);
  Result<bool> take_in(const FoundArena& found);
  std::vector<std::string> points_without_rings() const;

  std::unique_ptr<target::Process> process_;  // threads_ refers to it
  Find find_;
  std::unique_ptr<Threads> threads_;
  model::Target target_;
  target::Points points_;
  std::vector<Held> held_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_;  // arenas, by device and inode
};

}  // namespace sojourn::capture
