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
  // What its files hold now, while that is found out: by a thread, for maps take seconds, in which
  // rings would fill.
  std::future<Result<tracee::Points>> finding;
  std::uint64_t finding_from_ns = 0;  // what is found was not there before
  unsigned tries = 0;
  std::uint64_t exec_ns = 0;  // it runs another program whose rings are not found yet; 0: no
};

struct TracedProcess {
  explicit TracedProcess(Subject subject)
      : process(std::move(subject.process)), points(std::move(subject.points)) {
    code.watch = std::move(subject.code);
  }

  enum class Phase : std::uint8_t {
    kLoading,   // it has just begun, or become another program: its rings may still be made
    kRecorded,  // what there is to be recorded of it is being recorded
    kEnded,     // it runs no more; its rings may hold its last events
    kRetired,   // all of its events were taken, and its eBPF engines are gone
  };
  enum class Rings : std::uint8_t {
    kNone,
    kOwn,     // recorded by an engine that was made for it
    kFamily,  // recorded by the engine of another process, which it has its rings in common with
  };

  bool is_loading() const { return phase == Phase::kLoading; }
  bool has_ended() const { return phase >= Phase::kEnded; }
  bool has_rings() const { return rings != Rings::kNone; }
  // Until its rings are there, or are not to be hoped for.
  void expect_rings(bool may_come) { phase = may_come ? Phase::kLoading : Phase::kRecorded; }

  tracee::Process process;
  tracee::Points points;  // under the capture's numbers
  model::Target about;
  Phase phase = Phase::kRecorded;
  Rings rings = Rings::kNone;
  CodeSearch code;
  std::map<model::PointId, bool> was_on;  // by point that a trigger has switched
  std::uint64_t cpu_first_ns = 0;
  std::uint64_t cpu_last_ns = 0;  // the newest reading: an exited process has none
};

}  // namespace sojourn::capture
