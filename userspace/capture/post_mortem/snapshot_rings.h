// Holds the rings of processes that record by themselves (SJ_RINGS=flight), and makes a trace of
// their contents on request, while the processes go on recording or when they have ended. Nothing
// is read in between. A lock keeps other collectors out, which would take the rings over. One
// thread owns a SnapshotRings.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/filter/syntax.h"
#include "userspace/capture/output/writer_thread.h"
#include "userspace/capture/post_mortem/orphaned_trace.h"
#include "userspace/capture/rings/ring_threads.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct SnapshotSubject {
  tracee::Process process;
  tracee::Points points;
};

class SnapshotRings {
 public:
  // Finds all points of a process as they are now, wanted or not.
  using Find = std::function<Result<tracee::Points>(const tracee::Process&)>;

  // `find` is called when a library is loaded. Events for which `where` is false are not written.
  // Fails if none of a process's rings records by itself, or if a collector is attached.
  static Result<SnapshotRings> open(std::vector<SnapshotSubject> subjects, Find find,
                                    std::optional<filter::Expression> where);

  std::vector<const tracee::Process*> processes() const;
  std::string title() const;  // of all of them
  bool any_alive() const;
  std::size_t rings() const;  // in use

  // Takes in the rings of libraries that were loaded since.
  Result<void> look_again();

  struct Written {
    OrphanedTrace trace;
    std::vector<std::string> without_rings;  // points that are not in the trace
  };
  // Writes the contents that all rings had at one instant.
  Result<Written> write(WriterThread& writer, const std::string& output,
                        const std::string& ended_by);

 private:
  using Arenas = std::set<std::pair<std::uint64_t, std::uint64_t>>;  // by device and inode
  struct Held {
    Arena arena;
    ArenaMatch match;
  };
  struct Member {
    explicit Member(SnapshotSubject subject)
        : process(std::move(subject.process)),
          threads(process),
          points(std::move(subject.points)) {}

    tracee::Process process;
    RingThreads threads;  // refers to it
    model::Target about;
    tracee::Points points;
    std::vector<Held> held;
  };

  SnapshotRings(Find find, std::optional<filter::Expression> where)
      : find_(std::move(find)), where_(std::move(where)) {}
  Result<void> look_at(Member& member);
  static Error why_none(const tracee::Process& process, const Arenas& of_others);
  Result<bool> add_arena(Member& member, const FoundArena& found);
  OrphanedSession session_of(Member& member, const OrphanedProcess& left,
                             std::uint64_t until) const;
  std::vector<std::string> points_without_rings() const;

  Find find_;
  std::optional<filter::Expression> where_;
  std::vector<std::unique_ptr<Member>> members_;
  Arenas known_;
};

}  // namespace sojourn::capture
