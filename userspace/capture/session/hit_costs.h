// What hits of the capture's engines cost, measured once for each kind of engine when the first of
// it is made. Without its costs a capture is still a capture. The capture's thread owns it.
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

  // Before the engines are connected: their stamps are corrected by what is measured.
  void measure_bpf(const SourceEntries& made);
  void note_rings(const model::Schema& schema, const tracee::Points& points);

  // Of eBPF's hits; empty: they are known, or nothing was recorded by eBPF so far.
  const std::string& why_unknown() const { return why_unknown_; }

 private:
  CaptureRecord* record_;
  std::optional<BpfCosts> bpf_;
  std::optional<HitCost> ring_;
  std::string why_unknown_;
};

}  // namespace sojourn::capture
