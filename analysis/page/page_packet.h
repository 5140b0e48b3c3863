// Whole packets, each with the figures that its picture needs. One thread owns a PacketTeller.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/page/packet_surroundings.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::page {

class PacketTeller {
 public:
  // Returns {"journey", "why", "parts", "shared", "joined"} for each of the ids, in their order.
  // All together take two passes over the trace. The first call computes how long stays in hops
  // took, later ones remember it.
  Result<std::vector<nlohmann::ordered_json>> tell(Executor& executor, pipeline::TraceInput& input,
                                                   const std::vector<std::uint64_t>& ids,
                                                   const pipeline::Progress& progress);

 private:
  std::optional<HopTimes> hop_times_;
};

}  // namespace sojourn::page
