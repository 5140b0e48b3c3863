// Packets whole, each with what the picture of it needs. One thread owns a PacketTeller.
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
  // In the order of `ids`: {"journey", "why", "parts", "shared", "joined"}. Two passes over the
  // trace for all of them. How long stays in hops took is remembered from the first call on.
  Result<std::vector<nlohmann::ordered_json>> tell(Executor& executor, pipeline::TraceInput& input,
                                                   const std::vector<std::uint64_t>& ids,
                                                   const pipeline::Progress& progress);

 private:
  std::optional<HopTimes> hop_times_;
};

}  // namespace sojourn::page
