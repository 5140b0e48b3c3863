// An event is one hit of a point. Events travel in batches of columns: an EventBatch owns its
// columns, an EventView looks at one row and is valid until the batch changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::model {

struct EventView {
  std::uint64_t ts_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t seq = 0;    // position in its stream; a gap is a loss
  std::uint32_t stream = 0;
  std::uint32_t tid = 0;
  PointId point = 0;
  // One per field of the point, in the point's order, sign-extended where the field is signed.
  std::span<const std::uint64_t> values;
};

class EventBatch {
 public:
  std::size_t size() const { return ts_ns_.size(); }
  bool empty() const { return ts_ns_.empty(); }

  void append(const EventView& event);
  void clear();
  void reserve(std::size_t events, std::size_t values);

  EventView operator[](std::size_t row) const {
    return {
        ts_ns_[row],
        seq_[row],
        stream_[row],
        tid_[row],
        point_[row],
        std::span(values_).subspan(first_value_[row], first_value_[row + 1] - first_value_[row])};
  }

  std::span<const std::uint64_t> ts_ns() const { return ts_ns_; }
  std::span<const std::uint64_t> seq() const { return seq_; }
  std::span<const std::uint32_t> stream() const { return stream_; }
  std::span<const std::uint32_t> tid() const { return tid_; }
  std::span<const PointId> point() const { return point_; }

 private:
  std::vector<std::uint64_t> ts_ns_;
  std::vector<std::uint64_t> seq_;
  std::vector<std::uint32_t> stream_;
  std::vector<std::uint32_t> tid_;
  std::vector<PointId> point_;
  std::vector<std::uint32_t> first_value_ = {0};
  std::vector<std::uint64_t> values_;
};

}  // namespace sojourn::model
