// The contents of `list`, and the properties of points over their sites. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "userspace/capture/api.h"
#include "userspace/coarse/mapped_points.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::cli {

// Everything that is listed.
struct Listed {
  coarse::FoundPoints found;
  capture::Queues queues;
  std::vector<std::uint64_t> hit_ns;  // by mapped site; empty: not known

  const tracee::Points& points() const { return found.points; }
};

// Properties of one point over its sites.
struct PointSites {
  std::size_t sites = 0;  // sites that eBPF attaches to
  std::size_t ring_sites = 0;
  std::set<std::string> probes;

  std::vector<std::string> engines() const;
};

std::vector<PointSites> count_sites(const tracee::Points& points);

using ForeignKey = std::tuple<std::string, std::string, std::string>;  // file, probe, arguments
std::map<ForeignKey, std::size_t> count_foreign(const tracee::Points& points);

}  // namespace sojourn::cli
