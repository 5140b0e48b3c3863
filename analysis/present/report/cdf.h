// Points of cumulative distributions (`sojourn report --cdf`) of each direction's latencies and
// each hop's stays, or of each group with --by: how many samples are at most this long and how many
// are longer. Points are dense in the tail, up to the last sample.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/present/report/report_content.h"
#include "analysis/report/groups.h"

namespace sojourn::present {

struct CdfPoint {
  std::uint64_t ns = 0;
  double longer = 0;  // the share that is

  double at_most() const { return 1 - longer; }
};
// If many samples are equal, one point represents all the shares among them.
std::vector<CdfPoint> cdf_points(const statistics::Distribution& times);

// The 95 % interval of the share that is longer, of the curve of a direction and a name. Asked of
// curves of latencies.
using CdfBand = std::function<std::optional<std::pair<double, double>>(
    char direction, const std::string& name, std::uint64_t ns)>;

// `groups`: the groups of --by, or null.
std::string cdf_text(const ReportContent& content, const report::Groups* groups);
std::string cdf_csv(const ReportContent& content, const report::Groups* groups);
nlohmann::ordered_json cdf_json(const ReportContent& content, const report::Groups* groups,
                                const CdfBand& band);

}  // namespace sojourn::present
