#include "analysis/journeys/live_rebuilder.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace sojourn::journeys {

Result<LiveRebuilder> LiveRebuilder::create(const model::Schema& schema, const Rules& rules,
                                            CaptureMarks marks, Observer& observer, Prepare prepare,
                                            After after) {
  SJ_TRY(rebuilder, Rebuilder::create(schema, rules, std::move(marks), observer));
  std::vector<bool> is_of_target;
  is_of_target.reserve(schema.points.size());
  for (const model::Point& point : schema.points)
    is_of_target.push_back(model::is_of_target(point.direction));
  return LiveRebuilder(std::move(is_of_target), std::move(rebuilder), std::move(prepare),
                       std::move(after));
}

void LiveRebuilder::take(const model::EventBatch& events) {
  const auto stamps = events.ts_ns();
  const auto points = events.point();
  for (std::size_t row = 0; row < events.size(); ++row) {
    const bool is_of_target = points[row] >= is_of_target_.size() || is_of_target_[points[row]];
    if (!is_of_target && !after_) continue;
    if (stamps[row] < watermark_ns_)
      late_ += is_of_target ? 1 : 0;
    else
      waiting_.append(events[row]);
  }
}

void LiveRebuilder::advance(std::uint64_t watermark_ns) {
  watermark_ns_ = std::max(watermark_ns_, watermark_ns);
  std::vector<std::size_t> rows(waiting_.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto is_due = [&](std::size_t row) { return waiting_.ts_ns()[row] < watermark_ns_; };
  const auto due = std::partition(rows.begin(), rows.end(), is_due);
  std::sort(rows.begin(), due, [this](std::size_t left, std::size_t right) {
    const auto key = [this](std::size_t row) {
      return std::tuple(waiting_.ts_ns()[row], waiting_.stream()[row], waiting_.seq()[row]);
    };
    return key(left) < key(right);
  });
  model::EventBatch ready;
  model::EventBatch rest;
  for (auto row = rows.begin(); row != rows.end(); ++row)
    (row < due ? ready : rest).append(waiting_[*row]);
  waiting_ = std::move(rest);
  if (prepare_) prepare_(ready);
  rebuilder_.consume(ready);
  if (after_) after_(ready);
}

void LiveRebuilder::finish() {
  advance(UINT64_MAX);
  rebuilder_.finish();
}

}  // namespace sojourn::journeys
