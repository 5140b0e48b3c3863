// The output of `sojourn queues`: tables for people, an object for programs, a graph.
// docs/queues.md explains each figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/words/graph.h"
#include "analysis/queues/pressure.h"
#include "analysis/queues/pressure_net.h"
#include "analysis/queues/queue_survey.h"
#include "analysis/trace/reader.h"

namespace sojourn::present {

// Queues that filled up because of others, the longest chains first.
struct BackPressure {
  std::vector<queues::Chain> chains;
  std::vector<queues::PressureName> names;  // by node
};

// References outlive the printing.
struct QueuesContent {
  const trace::Reader& reader;  // read to its end
  const queues::QueueSurvey& survey;
  BackPressure pressure;
  std::uint64_t origin_ns = 0;   // the origin of times
  std::string where = {};        // the filter of items; empty: all
  bool leaves_samples = false;   // says nothing of sampled queues
  bool has_depths = false;       // the time of each queue at each depth
  bool has_topology = false;     // the threads that feed and drain each queue
  std::size_t width = SIZE_MAX;  // of the terminal

  bool shows_samples() const { return survey.has_samples() && !leaves_samples; }
};

std::string queues_text(const QueuesContent& content);
nlohmann::ordered_json queues_json(const QueuesContent& content);
Graph queues_graph(const QueuesContent& content);

// A line of --items: one stay, as it ended.
std::string stay_text(const journeys::Topology& topology, std::uint16_t place,
                      const journeys::Stay& stay, std::uint64_t origin_ns);

}  // namespace sojourn::present
