#include "analysis/live/owner_sample.h"

#include <algorithm>
#include <utility>

namespace sojourn::live {

std::optional<OwnerSample> OwnerSample::of(std::shared_ptr<const journeys::Topology> topology) {
  for (const journeys::PointPlan& plan : topology->points)
    if (plan.carries_units && plan.owner_ids.size() == 0) return std::nullopt;
  return OwnerSample(std::move(topology));
}

std::size_t OwnerSample::bucket_of(const model::EventBatch& events, std::size_t row) const {
  constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;  // 2^64 by the golden ratio
  const model::PointId point = events.point()[row];
  if (point >= topology_->points.size()) return kBuckets;
  const journeys::PointPlan& plan = topology_->points[point];
  const std::size_t first = events.first_value()[row];
  if (!plan.carries_units || events.first_value()[row + 1] - first != plan.values) return kBuckets;
  std::uint64_t hash = 0;
  for (const auto field : plan.owner_ids) hash = (hash ^ events.values()[first + field]) * kSpread;
  return hash >> (64 - kBucketBits);
}

void OwnerSample::count(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row)
    if (const std::size_t bucket = bucket_of(events, row); bucket != kBuckets) note(bucket);
}

void OwnerSample::pass(model::EventBatch& events) {
  if (keeps_all_) return count(events);
  model::EventBatch kept;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const std::size_t bucket = bucket_of(events, row);
    if (bucket != kBuckets) note(bucket);
    const std::uint32_t stream = events.stream()[row];
    if (stream >= taken_out_of_.size()) taken_out_of_.resize(std::size_t{stream} + 1);
    if (bucket != kBuckets && !keeps_[bucket]) {
      ++taken_out_of_[stream];
      ++taken_out_[events.point()[row]];
      continue;
    }
    model::EventView event = events[row];
    event.seq -= taken_out_of_[stream];
    kept.append(event);
  }
  events = std::move(kept);
}

// Owners are taken in the order of their buckets, which does not depend on how busy they are.
void OwnerSample::keep(double share) {
  if (counted_ != 0) before_ = events_;
  std::uint64_t all = 0;
  for (const std::uint64_t of_bucket : before_) all += of_bucket;
  keeps_all_ = share >= 1;
  const double wanted = share * static_cast<double>(all);
  const auto by_chance = static_cast<std::size_t>(share * static_cast<double>(kBuckets));
  double so_far = 0;
  bool has_one = false;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const auto events = static_cast<double>(before_[bucket]);
    // The choice is spread over all buckets, because the loop's order is not random.
    const bool is_chosen = bucket * 2'654'435'761U % kBuckets < by_chance;
    // Takes the bucket if that brings the sum nearer to the wanted one.
    const bool fits = so_far + events / 2 <= wanted || !has_one;
    keeps_[bucket] = keeps_all_ || (events == 0 ? is_chosen : fits);
    if (events == 0 || !keeps_[bucket]) continue;
    so_far += events;
    has_one = true;
  }
  std::ranges::fill(events_, 0);
  counted_ = 0;
  taken_out_of_.clear();
}

std::size_t OwnerSample::owners() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(known(), [](std::uint64_t events) { return events != 0; }));
}

std::size_t OwnerSample::kept() const {
  std::size_t kept = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
    if (known()[bucket] != 0 && keeps_[bucket]) ++kept;
  return kept;
}

double OwnerSample::kept_share() const {
  std::uint64_t all = 0;
  std::uint64_t kept = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    all += known()[bucket];
    if (keeps_[bucket]) kept += known()[bucket];
  }
  return all == 0 ? 1 : static_cast<double>(kept) / static_cast<double>(all);
}

}  // namespace sojourn::live
