// A file that says which events of another tracer are which points, a line each:
//   # EVENT        POINT                 FIELDS, as a point's words have them
//   gnb:pdcp_in    D ip.in--pdcp.in      len=arg1:rnti=arg2:drb=arg3.psn=arg4
//   gnb:tick       -
// An event may have asterisks. A field takes the event's value behind "=", or that of its own name;
// "%d" behind its name says that it may be negative.
// "-" leaves the event out. The first line that fits counts. Immutable once read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"

namespace sojourn::hits {

struct MappedPoint {
  std::string event;  // with asterisks
  model::Point point;
  std::vector<std::string> sources;  // by field
  bool is_left_out = false;
};

class PointMap {
 public:
  PointMap() = default;
  // An error names the file and the line.
  static Result<PointMap> parse(std::string_view text, const std::string& name);

  // Null: no line is about it.
  const MappedPoint* find(std::string_view event) const;

 private:
  std::vector<MappedPoint> points_;
};

}  // namespace sojourn::hits
