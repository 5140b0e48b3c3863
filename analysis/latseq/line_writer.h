// Writes events as the lines of a LatSeq recording with converted times. `import` reads the same
// events back. One thread owns a LineWriter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::latseq {

class LineWriter {
 public:
  explicit LineWriter(const model::Schema& schema);

  // The lines before the first event.
  std::string header(const std::string& from) const;

  // Empty for events that LatSeq has no line for: the kernel's, and samples of queues. Valid until
  // the next call.
  const std::string& line(const model::EventView& event, std::uint64_t unix_ns);

 private:
  struct FieldWords {
    std::string before;  // "rnti", ".psn", ":drb"
    bool is_signed = false;
  };
  struct PointWords {
    std::string place;  // " D ip.in--pdcp.in "
    std::vector<FieldWords> fields;
    std::vector<std::size_t> order;  // of the values: by group
    std::string end;                 // colons of groups that are empty
  };

  static PointWords words_of(const model::Point& point);

  const model::Schema& schema_;
  std::vector<PointWords> points_;
  std::string line_;
};

}  // namespace sojourn::latseq
