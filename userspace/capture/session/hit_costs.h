// The cost of hits of the capture's engines, measured once for each kind of engine when the first
// of that kind is made. A capture also works without it. The capture's thread owns it.
#pragma once

#include <optional>
#include <string>

#include "analysis/model/schema.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/source_set.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

class HitCosts {
 public:
  explicit HitCosts(CaptureRecord& record) : record_(&record) {}

  // To be called before the engines are connected, as their stamps are corrected by the result.
  void measure_bpf(const SourceEntries& made);
  void note_rings(const model::Schema& schema, const tracee::Points& points);

  // Why the costs of eBPF's hits are not known; empty: they are, or eBPF is not used so far.
  const std::string& why_unknown() const { return why_unknown_; }

 private:
  CaptureRecord* record_;
  std::optional<BpfCosts> bpf_;
  std::optional<HitCost> ring_;
  std::string why_unknown_;
};

}  // namespace sojourn::capture
