// One process that is recorded, and how far its recording is. Its engines are in the capture's
// SourceSet and refer to it, so it outlives them and does not move. Plain data of the capture's
// thread, but that a thread of its own may look for its points (CodeSearch::finding).
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/session/capture_options.h"
#include "userspace/tracee/code_watch.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

// The search for code that a process has loaded since its points were last looked for.
struct CodeSearch {
  tracee::CodeWatch watch;
  // The search's result. It runs on a thread, as placing a map takes seconds, in which rings would
  // fill.
  std::future<Result<tracee::Points>> finding;
  std::uint64_t finding_from_ns = 0;  // code that is found was not there before
  unsigned tries = 0;
  std::uint64_t exec_ns = 0;  // when it executed a program whose rings are not found yet; 0: none
};

struct TracedProcess {
  explicit TracedProcess(Subject subject)
      : process(std::move(subject.process)), points(std::move(subject.points)) {
    code.watch = std::move(subject.code);
  }

  enum class Phase : std::uint8_t {
    kLoading,   // it has just begun, or executed a program: its rings may still be made
    kRecorded,  // all of its points are recorded
    kEnded,     // it has ended; its rings may hold its last events
    kRetired,   // all of its events were taken, and its eBPF engines are gone
  };
  enum class Rings : std::uint8_t {
    kNone,
    kOwn,     // recorded by an engine that was made for it
    kFamily,  // recorded by the engine of another process, with which it shares its arenas
  };

  bool is_loading() const { return phase == Phase::kLoading; }
  bool has_ended() const { return phase >= Phase::kEnded; }
  bool has_rings() const { return rings != Rings::kNone; }
  // kLoading until its rings are there, or will not come.
  void expect_rings(bool may_come) { phase = may_come ? Phase::kLoading : Phase::kRecorded; }

  tracee::Process process;
  tracee::Points points;  // under the capture's numbers
  model::Target about;
  Phase phase = Phase::kRecorded;
  Rings rings = Rings::kNone;
  CodeSearch code;
  std::map<model::PointId, bool> was_on;  // by point that a trigger has switched
  std::uint64_t cpu_first_ns = 0;
  std::uint64_t cpu_last_ns = 0;  // the newest reading, as an exited process has none
};

}  // namespace sojourn::capture
