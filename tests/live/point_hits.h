// The hits of one point that counts them, as a trace has them: of one process, or of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "analysis/trace/reader.h"

namespace sojourn::live {

struct Hits {
  std::vector<std::uint64_t> counts;  // in the order of the trace
  std::uint64_t first_ns = 0;
};

// `value`: which of the point's values is its count.
Hits hits_of(trace::Reader& reader, const std::string& point, std::size_t value = 0);

// By process, from the streams; requires a trace without losses.
std::map<pid_t, Hits> hits_by_process(trace::Reader& reader, const std::string& point,
                                      std::size_t value = 0);

bool is_gapless(const Hits& hits);

}  // namespace sojourn::live
