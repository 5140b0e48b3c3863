// Inspects one process: which of its points can be recorded, how, and how often they are hit. The
// hits are counted by an ordinary short capture, whose file is removed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/doctor/host_answers.h"
#include "userspace/tracee/process.h"

namespace sojourn::doctor {

struct PointInspection {
  std::string name;       // "D rlc.tx--mac"
  std::size_t sites = 0;  // sites that eBPF can attach to
  std::size_t ring_sites = 0;
  std::uint64_t bpf_hit_ps = 0;  // 0: not known
  std::uint64_t ring_hit_ps = 0;
  std::uint64_t hits = 0;  // in the span
};

struct Refused {
  std::string where;
  std::string why;
};

struct TargetInspection {
  std::string title;  // "4242 (nr-softmodem)"
  bool is_stopped = false;
  std::vector<PointInspection> points;
  std::vector<Refused> refused;  // sites that look like points and are unusable
  std::string why_not_rings;     // empty: they can be read
  std::string why_not_counted;   // empty: `hits` are true
  std::uint64_t span_ns = 0;
  std::uint64_t cpu_ns = 0;  // of the target in that span
  bool is_ring_file_named = false;
  bool core_has_rings = false;
};

Result<TargetInspection> inspect_target(const tracee::Process& process, const HostAnswers& answers,
                                        std::chrono::nanoseconds span);

}  // namespace sojourn::doctor
