#include "analysis/model/event.h"

namespace sojourn::model {

void EventBatch::append(const EventView& event) {
  ts_ns_.push_back(event.ts_ns);
  seq_.push_back(event.seq);
  stream_.push_back(event.stream);
  tid_.push_back(event.tid);
  point_.push_back(event.point);
  values_.insert(values_.end(), event.values.begin(), event.values.end());
  first_value_.push_back(static_cast<std::uint32_t>(values_.size()));
}

void EventBatch::clear() {
  ts_ns_.clear();
  seq_.clear();
  stream_.clear();
  tid_.clear();
  point_.clear();
  values_.clear();
  first_value_.assign(1, 0);
}

void EventBatch::reserve(std::size_t events, std::size_t values) {
  ts_ns_.reserve(events);
  seq_.reserve(events);
  stream_.reserve(events);
  tid_.reserve(events);
  point_.reserve(events);
  first_value_.reserve(events + 1);
  values_.reserve(values);
}

}  // namespace sojourn::model
