#include "analysis/model/event.h"

namespace sojourn::model {

void EventBatch::append(const EventView& event) {
  EventColumns& c = columns_;
  c.ts_ns.push_back(event.ts_ns);
  c.seq.push_back(event.seq);
  c.stream.push_back(event.stream);
  c.tid.push_back(event.tid);
  c.point.push_back(event.point);
  c.values.insert(c.values.end(), event.values.begin(), event.values.end());
  c.first_value.push_back(static_cast<std::uint32_t>(c.values.size()));
}

void EventBatch::append(const EventBatch& from, std::size_t first, std::size_t count) {
  const EventColumns& f = from.columns_;
  EventColumns& c = columns_;
  const auto copy = [&](const auto& source, auto& into) {
    const auto begin = source.begin() + static_cast<std::ptrdiff_t>(first);
    into.insert(into.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  copy(f.ts_ns, c.ts_ns);
  copy(f.seq, c.seq);
  copy(f.stream, c.stream);
  copy(f.tid, c.tid);
  copy(f.point, c.point);

  const std::uint32_t from_value = f.first_value[first];
  const auto to_value = static_cast<std::uint32_t>(c.values.size());
  c.values.insert(c.values.end(), f.values.begin() + from_value,
                  f.values.begin() + f.first_value[first + count]);
  for (std::size_t row = first + 1; row <= first + count; ++row)
    c.first_value.push_back(f.first_value[row] - from_value + to_value);
}

void EventBatch::clear() {
  columns_.ts_ns.clear();
  columns_.seq.clear();
  columns_.stream.clear();
  columns_.tid.clear();
  columns_.point.clear();
  columns_.first_value.assign(1, 0);
  columns_.values.clear();
}

void EventBatch::reserve(std::size_t events, std::size_t values) {
  columns_.ts_ns.reserve(events);
  columns_.seq.reserve(events);
  columns_.stream.reserve(events);
  columns_.tid.reserve(events);
  columns_.point.reserve(events);
  columns_.first_value.reserve(events + 1);
  columns_.values.reserve(values);
}

}  // namespace sojourn::model
