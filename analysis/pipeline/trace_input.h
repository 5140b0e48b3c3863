// The input of a pass: an opened trace, the rules for its journeys, and the topology that is
// derived from both once. Moving it leaves the topology where it is.
#pragma once

#include <memory>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/trace/reader.h"

namespace sojourn::pipeline {

class TraceInput {
 public:
  static Result<TraceInput> create(trace::Reader reader, journeys::Rules rules) {
    SJ_TRY(topology, journeys::Topology::derive(reader.schema(), rules));
    return TraceInput(std::move(reader), std::move(rules), std::move(topology));
  }

  trace::Reader& reader() { return reader_; }
  const trace::Reader& reader() const { return reader_; }
  const journeys::Rules& rules() const { return rules_; }
  const journeys::Topology& topology() const { return *topology_; }
  const std::shared_ptr<const journeys::Topology>& shared_topology() const { return topology_; }

 private:
  TraceInput(trace::Reader reader, journeys::Rules rules, journeys::Topology topology)
      : reader_(std::move(reader)),
        rules_(std::move(rules)),
        topology_(std::make_shared<const journeys::Topology>(std::move(topology))) {}

  trace::Reader reader_;
  journeys::Rules rules_;
  std::shared_ptr<const journeys::Topology> topology_;
};

}  // namespace sojourn::pipeline
