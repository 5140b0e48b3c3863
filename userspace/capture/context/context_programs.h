// The BPF programs that record the kernel's actions on a target's threads (bpf/context.bpf.c):
// those of the families that this kernel and these rights allow, their rings, and the names of
// threads. Destroying it detaches and unloads everything. One thread owns it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/context_info.h"
#include "userspace/capture/bpf/bpf_rings.h"
#include "userspace/capture/context/context_points.h"

namespace sojourn::capture {

using PointOfKind = std::array<model::PointId, SJ_CONTEXT_KINDS>;

class ContextPrograms {
 public:
  // A family that is not available is no error: states() says why.
  static Result<ContextPrograms> load(const std::vector<ContextFamily>& families,
                                      std::size_t ring_bytes);
  ContextPrograms(ContextPrograms&&) noexcept;
  ContextPrograms& operator=(ContextPrograms&&) noexcept;
  ~ContextPrograms();

  const std::vector<model::ContextFamily>& states() const;
  bool has(ContextFamily family) const;

  // Empty if no family is available.
  const std::vector<Ring>& rings() const;

  // Sets as which points the kinds are recorded. Before attach().
  void set_points(const PointOfKind& points);

  // Records the process as well from here on.
  Result<void> add_target(pid_t pid);
  void remove_target(pid_t pid);

  void attach();
  void detach();
  bool is_attached() const;

  void open_gate_at(std::uint64_t monotonic_ns);
  void close_gate_at(std::uint64_t monotonic_ns);

  // Shuts the gate and forgets all hits that it let through. Before anything is read from the
  // rings.
  Result<void> start_over();

  // Returns when every program that was running has ended.
  Result<void> wait_for_running() const;

  // Records drops at this socket from now on.
  Result<void> add_socket(std::uint64_t cookie);

  Result<model::Ledger> losses(std::uint32_t first_stream) const;
  std::vector<std::uint64_t> hits() const;

  // Calls `take` for the name of each thread in hits, if there may be new ones since the call
  // before.
  void read_threads(const std::function<void(std::uint32_t tid, const sj_thread_name& name)>& take);
  bool saw_syscall(std::uint32_t number) const;

 private:
  struct State;
  explicit ContextPrograms(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::capture
