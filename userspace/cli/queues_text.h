// What `sojourn queues` prints for people about sampled queues, and what all its tables share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/queues/marks.h"
#include "analysis/queues/survey.h"
#include "analysis/queues/topology.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/reader.h"

namespace sojourn::cli {

std::string rate(double per_s);  // "14.2", "3,412"
// "3, 4, 7 and 12 more"
std::string listed(const std::vector<std::uint64_t>& first, std::uint64_t all);
// "3 (0.2 %)": how often, and for which share of the time.
std::string stretches(const queues::Stretches& stretches, std::uint64_t of_ns);

void print_queues(const trace::Reader& reader, const queues::Survey& survey,
                  const queues::EndsById& ends);
// The non-zero levels, each with the share of time at it and at it or below.
void print_levels(const std::string& name, const queues::Levels& levels,
                  const queues::Series& series);
void print_depths(const queues::Survey& survey);
// How deep each was, when, and which journeys were inside.
void print_marks(const queues::Survey& survey, const queues::Marks& marks, std::uint64_t origin_ns);
void print_topology(const trace::Reader& reader, const queues::Survey& survey,
                    const queues::EndsById& ends);
void print_verdicts(const queues::Survey& survey, const queues::Verifier& verifier,
                    std::uint64_t origin_ns);

}  // namespace sojourn::cli
