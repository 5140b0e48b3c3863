// Attaches a BPF program to every site of a target. Destroying the Attachment detaches it, and
// waits until no handler runs any more.
//
// uprobe_multi (Linux 6.6) is one link a file, filtered by process in the kernel: it costs nothing
// when not hit and detaches in tens of milliseconds. Older kernels have perf uprobes, one a site:
// the kernel places those into every process that maps the file, and the program filters. One
// thread owns an Attachment.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/capture/bpf/bpf_programs.h"
#include "userspace/tracee/program_points.h"

struct bpf_link;

namespace sojourn::capture {

std::string_view name(Mechanism mechanism);

// Asks the kernel by a trial, and does not look at its version. `try_link` makes a uprobe_multi
// link for a pid on a path that can hold no probes, and returns errno, which differs between
// kernels.
Mechanism best_mechanism();
Mechanism best_mechanism(const std::function<int(pid_t)>& try_link);

class Attachment {
 public:
  // Makes a link for each group of sites (tracee::Site::group) in a file; perf uprobes are always
  // one for each site.
  static Result<Attachment> attach(const tracee::Points& points, pid_t pid, Mechanism mechanism,
                                   const BpfPrograms& programs);
  Attachment(Attachment&&) noexcept = default;
  Attachment& operator=(Attachment&&) noexcept;
  ~Attachment();

  // Detaches whole groups of sites, and attaches them again; `points` has all points of each group.
  void remove(std::span<const model::PointId> points);
  Result<void> add(const tracee::Points& points, std::span<const model::PointId> which, pid_t pid,
                   const BpfPrograms& programs);

 private:
  struct DestroyLink {
    void operator()(bpf_link* link) const;
  };
  struct Link {
    std::unique_ptr<bpf_link, DestroyLink> link;
    model::PointId point = 0;  // any of its points
  };
  explicit Attachment(Mechanism mechanism) : mechanism_(mechanism) {}
  static void destroy(std::vector<Link> links);

  Mechanism mechanism_;
  std::vector<Link> links_;
};

}  // namespace sojourn::capture
