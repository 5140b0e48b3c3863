// Texts that all tables of `sojourn queues` share, and the tables of sampled queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/present/queues/queue_graph.h"
#include "analysis/queues/high_water_marks.h"
#include "analysis/queues/sampled_queues.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/reader.h"

namespace sojourn::present {

std::string rate(double per_s);  // "14.2", "3,412"
// "0.012345 s": since the origin that times count from.
std::string since_text(std::uint64_t ts_ns, std::uint64_t origin_ns);
// "3, 4, 7 and 12 more"
std::string listed(const std::vector<std::uint64_t>& first, std::uint64_t all);
// "3 (0.2 %)": how often, and for which share of the time.
std::string stretches(const queues::Stretches& stretches, std::uint64_t of_ns);
// The non-zero levels, each with the share of time at it and at it or below.
std::string levels_text(const std::string& name, const queues::DepthHistogram& levels,
                        const queues::DepthSeries& series, std::size_t width);

std::string sampled_text(const trace::Reader& reader, const queues::SampledQueues& sampled_queues,
                         const QueueEndsById& ends, std::size_t width);
std::string sampled_depths_text(const queues::SampledQueues& sampled_queues, std::size_t width);
// The maximum depth of each queue, its time, and the journeys inside.
std::string sampled_marks_text(const queues::SampledQueues& sampled_queues,
                               const queues::HighWaterMarks& marks, std::uint64_t origin_ns,
                               std::size_t width);
std::string sampled_topology_text(const trace::Reader& reader,
                                  const queues::SampledQueues& sampled_queues,
                                  const QueueEndsById& ends, std::size_t width);
std::string comparisons_text(const queues::SampledQueues& sampled_queues,
                             const queues::Verifier& verifier, std::uint64_t origin_ns,
                             std::size_t width);

}  // namespace sojourn::present
