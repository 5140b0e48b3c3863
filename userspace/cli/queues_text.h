// What `sojourn queues` prints for people.
#pragma once

#include "analysis/queues/survey.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/reader.h"

namespace sojourn::cli {

void print_queues(const trace::Reader& reader, const queues::Survey& survey);
void print_depths(const queues::Survey& survey);
void print_topology(const trace::Reader& reader, const queues::Survey& survey);
void print_verdicts(const queues::Survey& survey, const queues::Verifier& verifier,
                    std::uint64_t origin_ns);

}  // namespace sojourn::cli
