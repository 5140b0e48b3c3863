#include "userspace/capture/output/event_filter_stage.h"

#include <algorithm>

#include "analysis/model/links.h"

namespace sojourn::capture {

Result<EventFilterStage> EventFilterStage::create(filter::Expression expression,
                                                  const model::Schema& schema) {
  SJ_TRY(filter, filter::EventFilter::compile(
                     expression, model::as_recorded(schema),
                     {.streams = {}, .names = filter::NameCheck::kAreChecked, .more_threads = true},
                     filter::Missing::kAccept));
  return EventFilterStage(std::move(expression), std::move(filter), schema);
}

void EventFilterStage::add_stream(const model::Stream& stream) {
  streams_.push_back(stream);
  filter_.add_stream(stream);
}

void EventFilterStage::add_thread(std::uint32_t tid, const std::string& name) {
  std::string& known = threads_[tid];
  if (known == name) return;
  known = name;
  has_news_ = filter::asks_for(expression_, filter::Keyword::kThread);
}

void EventFilterStage::adapt(const model::Schema& schema, std::uint64_t origin_ns) {
  schema_ = schema;
  origin_ns_ = origin_ns;
  compile();
}

// The expression was compiled for fewer points before, so this does not fail.
void EventFilterStage::compile() {
  auto filter = filter::EventFilter::compile(expression_, model::as_recorded(schema_),
                                             {.origin_ns = origin_ns_,
                                              .streams = streams_,
                                              .names = filter::NameCheck::kAreChecked,
                                              .threads = threads_,
                                              .more_threads = true},
                                             filter::Missing::kAccept);
  if (filter) filter_ = std::move(*filter);
  has_news_ = false;
}

std::vector<std::uint64_t>& EventFilterStage::counts_of(std::uint32_t stream) {
  if (stream >= by_point_.size()) {
    by_point_.resize(stream + 1);
    left_out_.resize(stream + 1);
  }
  return by_point_[stream];
}

void EventFilterStage::apply(model::EventBatch& batch) {
  if (has_news_) compile();
  rows_.clear();
  filter_.select(batch, rows_);
  model::EventColumns columns = std::move(batch).release();
  const std::size_t size = columns.ts_ns.size();
  std::size_t kept = 0;
  std::uint32_t values = 0;
  std::uint32_t begin = 0;  // the previous begin of the row's values
  for (std::size_t row = 0; row < size; ++row) {
    const std::uint32_t end = columns.first_value[row + 1];
    const std::uint32_t first = std::exchange(begin, end);
    const std::uint32_t stream = columns.stream[row];
    auto& counts = counts_of(stream);
    if (kept == rows_.size() || rows_[kept] != row) {
      const model::PointId point = columns.point[row];
      if (point >= counts.size()) counts.resize(point + 1U);
      ++counts[point];
      ++left_out_[stream];
      ++filtered_;
      continue;
    }
    columns.ts_ns[kept] = columns.ts_ns[row];
    columns.seq[kept] = columns.seq[row] - left_out_[stream];
    columns.stream[kept] = stream;
    columns.tid[kept] = columns.tid[row];
    columns.point[kept] = columns.point[row];
    std::copy(columns.values.begin() + first, columns.values.begin() + end,
              columns.values.begin() + values);
    values += end - first;
    columns.first_value[++kept] = values;
  }
  columns.ts_ns.resize(kept);
  columns.seq.resize(kept);
  columns.stream.resize(kept);
  columns.tid.resize(kept);
  columns.point.resize(kept);
  columns.first_value.resize(kept + 1);
  columns.values.resize(values);
  batch = model::EventBatch(std::move(columns));
}

void EventFilterStage::add_filtered(model::Ledger& ledger) const {
  for (std::uint32_t stream = 0; stream < by_point_.size(); ++stream)
    for (std::size_t point = 0; point < by_point_[stream].size(); ++point)
      if (const std::uint64_t count = by_point_[stream][point]; count != 0)
        ledger.push_back({.stream = stream,
                          .point = static_cast<model::PointId>(point),
                          .cause = model::LossCause::kFiltered,
                          .count = count});
}

void EventFilterStage::close_up(std::vector<std::uint64_t>& next) const {
  for (std::size_t stream = 0; stream < std::min(next.size(), left_out_.size()); ++stream)
    next[stream] -= std::min(next[stream], left_out_[stream]);
}

}  // namespace sojourn::capture
