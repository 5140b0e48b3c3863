// The BPF programs of one capture, loaded for one target: its sites, one ring for each CPU, the
// gate, and the loss counters. Destroying it unloads everything; attach.h attaches them. A process
// without the rights to load programs gets them from one that has loaded them: both share the
// memory that the programs write. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/filter/program.h"
#include "analysis/model/capture_info.h"
#include "userspace/base/message.h"
#include "userspace/capture/records/ring.h"
#include "userspace/tracee/program_points.h"

struct bpf_program;

namespace sojourn::capture {

// The way in which a program gets to a site; see attach.h.
enum class Mechanism : std::uint8_t { kUprobeMulti, kPerfUprobes };

// The tests that a hit's values must pass, by PointId. A point may be missing.
using PointTests = std::vector<std::vector<filter::FieldTest>>;

class BpfPrograms {
 public:
  // ring_bytes, of each CPU, is a power of two; 0: chosen from the number of CPUs and of `objects`
  // like this one that share the memory. A ring takes the power of two of blocks that fits. A point
  // with more than SJ_MAX_TESTS tests keeps every hit.
  static Result<BpfPrograms> load(const tracee::Points& points, pid_t pid, Mechanism mechanism,
                                  std::size_t ring_bytes, const PointTests& keep = {},
                                  std::size_t objects = 1);
  BpfPrograms(BpfPrograms&&) noexcept;
  BpfPrograms& operator=(BpfPrograms&&) noexcept;
  ~BpfPrograms();

  // Takes programs that another process loaded and passed on by share(), for the same points.
  static Result<BpfPrograms> loaded_elsewhere(base::Message shared, const tracee::Points& points);
  Result<base::Message> share() const;

  Mechanism mechanism() const;
  bpf_program* program() const;            // null: another process has it
  const std::vector<Ring>& rings() const;  // one a CPU, owned here

  // Hits with open <= ts < close are recorded on all CPUs. Both are to be set some time ahead.
  void open_gate_at(std::uint64_t monotonic_ns);
  void close_gate_at(std::uint64_t monotonic_ns);

  // Shuts the gate and forgets all hits that it let through. Before anything is read from the
  // rings.
  Result<void> start_over();

  // Returns when every program that was running has ended: all of its hits are in the rings then.
  Result<void> wait_for_running() const;

  // Hits inside the gate that found no room, and hits that failed their tests, so far, by CPU and
  // point.
  Result<model::Ledger> losses() const;

  // The next sequence number of each CPU: all hits inside the gate so far that passed their tests.
  std::vector<std::uint64_t> hits() const;

 private:
  struct State;
  explicit BpfPrograms(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
