// An event is one hit of a point. Events travel in batches of columns: an EventBatch owns its
// columns, an EventView looks at one row and is valid until the batch changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::model {

struct EventView {
  std::uint64_t ts_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t seq = 0;    // position in its stream; a gap is a loss
  std::uint32_t stream = 0;
  std::uint32_t tid = 0;
  PointId point = 0;
  // One for each field of the point, in the point's order; signed fields are sign-extended.
  std::span<const std::uint64_t> values;
};

// The columns themselves, for code that fills or reorders many rows at once. All have one entry a
// row; first_value has one more, so that row r's values are [first_value[r], first_value[r + 1]).
struct EventColumns {
  std::vector<std::uint64_t> ts_ns;
  std::vector<std::uint64_t> seq;
  std::vector<std::uint32_t> stream;
  std::vector<std::uint32_t> tid;
  std::vector<PointId> point;
  std::vector<std::uint32_t> first_value = {0};
  std::vector<std::uint64_t> values;
};

class EventBatch {
 public:
  EventBatch() = default;
  explicit EventBatch(EventColumns columns) : columns_(std::move(columns)) {}

  std::size_t size() const { return columns_.ts_ns.size(); }
  bool empty() const { return columns_.ts_ns.empty(); }

  void append(const EventView& event);
  // Rows [first, first + count) of another batch.
  void append(const EventBatch& from, std::size_t first, std::size_t count);
  void clear();
  void reserve(std::size_t events, std::size_t values);

  // Moves the columns out, to be filled in place; the batch may only be assigned to afterwards.
  EventColumns release() && { return std::move(columns_); }

  EventView operator[](std::size_t row) const {
    const EventColumns& c = columns_;
    return {c.ts_ns[row],
            c.seq[row],
            c.stream[row],
            c.tid[row],
            c.point[row],
            std::span(c.values).subspan(c.first_value[row],
                                        c.first_value[row + 1] - c.first_value[row])};
  }

  std::span<const std::uint64_t> ts_ns() const { return columns_.ts_ns; }
  std::span<const std::uint64_t> seq() const { return columns_.seq; }
  std::span<const std::uint32_t> stream() const { return columns_.stream; }
  std::span<const std::uint32_t> tid() const { return columns_.tid; }
  std::span<const PointId> point() const { return columns_.point; }
  std::span<const std::uint32_t> first_value() const { return columns_.first_value; }
  std::span<const std::uint64_t> values() const { return columns_.values; }

 private:
  EventColumns columns_;
};

}  // namespace sojourn::model
