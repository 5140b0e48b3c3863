// Which engine records which point: rings where a point has them, for they cost the target least;
// eBPF for the others.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/bpf/bpf_engine.h"
#include "userspace/capture/rings/ring_engine.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

struct EngineOptions {
  // None: rings where a point has them, else eBPF; for a command that is started eBPF first, as its
  // rings may end with it before anybody found them.
  std::optional<model::Engine> wanted;
  BpfOptions bpf;
  RingOptions rings;
  // Another engine of the capture records the process's rings: it has them in common with another.
  bool rings_are_shared = false;
  // The process is still being loaded: that it has not the rings of its points is an error, as it
  // may have them soon.
  bool rings_may_come = false;
};

struct Engines {
  std::unique_ptr<RingEngine> rings;  // either may be missing; both only where rings are shared
  std::unique_ptr<BpfEngine> bpf;
  std::size_t ring_points = 0;
  std::size_t bpf_points = 0;
  std::size_t uncovered_points = 0;  // as neither could be had: the two texts say why
  std::string why_not_rings;         // of the points that might have had them
  std::string why_not_bpf;
  bool is_by_unsteady_counter = false;  // times of rings may be wrong
};

Result<Engines> choose_engines(const tracee::Process& process, const tracee::Points& points,
                               const EngineOptions& options);

}  // namespace sojourn::capture
