// Who feeds and who drains each queue, as Graphviz text: stages are boxes, queues the arrows
// between them.
#pragma once

#include <string>
#include <vector>

#include "analysis/queues/survey.h"

namespace sojourn::queues {

// "pdcp 0", "mac in process 42", "?" where it is not known.
std::string side_text(const model::QueueSide& side);

std::string to_dot(const std::vector<Story>& stories);

}  // namespace sojourn::queues
