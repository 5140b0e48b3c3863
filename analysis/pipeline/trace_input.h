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

  // In one thread, a single rebuilder of both directions takes less time than one of each and a
  // replay of what they tell. It finds the same while no more units are in memory than each of them
  // may have. A pass that is tried so and finds more fails, and sets this to false: whoever set it
  // to true then begins anew.
  void try_together(bool is_tried) { tries_together_ = is_tried; }
  bool tries_together() const { return tries_together_; }

 private:
  TraceInput(trace::Reader reader, journeys::Rules rules, journeys::Topology topology)
      : reader_(std::move(reader)),
        rules_(std::move(rules)),
        topology_(std::make_shared<const journeys::Topology>(std::move(topology))) {}

  trace::Reader reader_;
  journeys::Rules rules_;
  std::shared_ptr<const journeys::Topology> topology_;
  bool tries_together_ = false;
};

}  // namespace sojourn::pipeline
