// A line of bpftrace's printf in this form, as text or in its JSON (-f json):
//   1234567890123 usdt:./gnb:gnb:pdcp_in tid=4242 len=40 rnti=17921 comm=station
// First nsecs, then the builtin `probe`, then names with numbers; `tid` is the thread, and `comm`,
// which is the last one, its name. The kind and the binary of a probe are cut off. One thread owns
// a BpftraceLines.
#pragma once

#include <string>
#include <string_view>

#include "analysis/hits/hit.h"
#include "analysis/hits/line.h"

namespace sojourn::hits {

class BpftraceLines {
 public:
  // Fills the hit if the line is one. Views are of the text, or valid until the next line.
  Line parse(std::string_view text, Hit& hit);

 private:
  Line parse_json(std::string_view text, Hit& hit);

  std::string unpacked_;
};

}  // namespace sojourn::hits
