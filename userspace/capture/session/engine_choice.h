// Chooses the engine of each point: rings if the point has them, as they cost the target least;
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
  // Unset: rings if a point has them, else eBPF. For a command that is started eBPF comes first,
  // because its rings may be gone with it before they are found.
  std::optional<model::Engine> wanted;
  BpfOptions bpf;
  RingOptions rings;
  // Another engine of the capture records the process's rings, which it shares with another
  // process.
  bool rings_are_shared = false;
  // The process is still being loaded: missing rings are an error, so that the caller tries again.
  bool rings_may_come = false;
};

struct Engines {
  std::unique_ptr<RingEngine> rings;  // either may be missing; both only where rings are shared
  std::unique_ptr<BpfEngine> bpf;
  std::size_t ring_points = 0;
  std::size_t bpf_points = 0;
  std::size_t uncovered_points = 0;  // neither engine is available for them: the two texts say why
  std::string why_not_rings;         // for points that could have been recorded by rings
  std::string why_not_bpf;
  bool is_by_unsteady_counter = false;  // times of rings may be wrong
};

Result<Engines> choose_engines(const tracee::Process& process, const tracee::Points& points,
                               const EngineOptions& options);

}  // namespace sojourn::capture
