// What `sojourn queues` prints for people about sampled queues, and what all its tables share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/queues/high_water_marks.h"
#include "analysis/queues/queue_graph.h"
#include "analysis/queues/sampled_queues.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/reader.h"

namespace sojourn::cli {

std::string rate(double per_s);  // "14.2", "3,412"
// "3, 4, 7 and 12 more"
std::string listed(const std::vector<std::uint64_t>& first, std::uint64_t all);
// "3 (0.2 %)": how often, and for which share of the time.
std::string stretches(const queues::Stretches& stretches, std::uint64_t of_ns);

void print_queues(const trace::Reader& reader, const queues::SampledQueues& sampled_queues,
                  const queues::QueueEndsById& ends);
// The non-zero levels, each with the share of time at it and at it or below.
void print_levels(const std::string& name, const queues::DepthHistogram& levels,
                  const queues::DepthSeries& series);
void print_depths(const queues::SampledQueues& sampled_queues);
// How deep each was, when, and which journeys were inside.
void print_marks(const queues::SampledQueues& sampled_queues, const queues::HighWaterMarks& marks,
                 std::uint64_t origin_ns);
void print_topology(const trace::Reader& reader, const queues::SampledQueues& sampled_queues,
                    const queues::QueueEndsById& ends);
void print_comparisons(const queues::SampledQueues& sampled_queues,
                       const queues::Verifier& verifier, std::uint64_t origin_ns);

}  // namespace sojourn::cli
