#include "analysis/trace/metadata.h"

#include <algorithm>
#include <utility>

#include "analysis/trace/meta.h"

namespace sojourn::trace {

namespace {

template <typename T>
Result<void> add_from_json(std::span<const std::uint8_t> encoded, std::vector<T>& list) {
  T item;
  SJ_CHECK(from_json(encoded, item));
  list.push_back(std::move(item));
  return {};
}

}  // namespace

Result<void> Metadata::add(BlockType type, std::span<const std::uint8_t> encoded) {
  // A part is described before its first capture block, and all of it anew.
  if (next_ &&
      (type == BlockType::kTarget || type == BlockType::kStream || type == BlockType::kQueues ||
       type == BlockType::kContext || type == BlockType::kProfile))
    return next_->add(type, encoded);
  switch (type) {
    case BlockType::kOrigin:
      return add_origin(encoded);
    case BlockType::kSchema:
      return add_schema(encoded);
    case BlockType::kTarget:
      return add_target(encoded);
    case BlockType::kHost:
      return from_json(encoded, host);
    case BlockType::kStream:
      return add_from_json(encoded, streams);
    case BlockType::kClock:
      SJ_CHECK(add_from_json(encoded, clocks));
      // The beginning of a part repeats the newest one.
      if (clocks.size() > 1 && clocks.back() == clocks[clocks.size() - 2]) clocks.pop_back();
      return {};
    case BlockType::kCapture:
      return add_capture(encoded);
    case BlockType::kLedger:
      return add_ledger(encoded);
    case BlockType::kQueues: {
      model::QueueChanges changes;
      SJ_CHECK(from_json(encoded, changes));
      queue_changes.insert(queue_changes.end(), changes.begin(), changes.end());
      return {};
    }
    case BlockType::kSampling:
      return from_json(encoded, sampling);
    case BlockType::kContext:
      return from_json(encoded, context);
    case BlockType::kProfile:
      return from_json(encoded, profile);
    case BlockType::kEnergy:
      return from_json(encoded, energy);
    default:
      return {};
  }
}

// Blocks behind an origin of another capture are read as if there was no origin.
Result<void> Metadata::add_origin(std::span<const std::uint8_t> encoded) {
  model::Origin origin;
  SJ_CHECK(from_json(encoded, origin));
  if (parts_.begin(std::move(origin)) && parts_.has_several()) next_ = std::make_unique<Metadata>();
  return {};
}

Result<void> Metadata::add_capture(std::span<const std::uint8_t> encoded) {
  model::Capture newer;
  SJ_CHECK(from_json(encoded, newer));
  parts_.adjust(newer);
  capture = std::move(newer);
  if (next_) end_description();
  return {};
}

Result<void> Metadata::add_ledger(std::span<const std::uint8_t> encoded) {
  model::Ledger newer;
  SJ_CHECK(from_json(encoded, newer));
  parts_.adjust(newer);
  ledger = std::move(newer);
  return {};
}

void Metadata::end_description() {
  if (next_->has_targets) targets = std::move(next_->targets);
  streams = std::move(next_->streams);
  queue_changes = std::move(next_->queue_changes);
  context = std::move(next_->context);
  profile = std::move(next_->profile);
  next_.reset();
}

// A later record of the same target replaces the earlier one, e.g. once it has ended.
Result<void> Metadata::add_target(std::span<const std::uint8_t> encoded) {
  model::Target target;
  SJ_CHECK(from_json(encoded, target));
  if (!std::exchange(has_targets, true)) targets.clear();
  const auto same = std::ranges::find_if(targets, [&](const model::Target& known) {
    return known.pid == target.pid && known.since_ns == target.since_ns;
  });
  if (same == targets.end())
    targets.push_back(std::move(target));
  else
    *same = std::move(target);
  return {};
}

// A later schema may only add points, so that earlier events keep their meaning.
Result<void> Metadata::add_schema(std::span<const std::uint8_t> encoded) {
  model::Schema newer;
  SJ_CHECK(from_json(encoded, newer));
  // All points behind the first script's point are taken for points of the script.
  if (!std::ranges::is_partitioned(newer.points, [](const model::Point& point) {
        return point.direction != model::Direction::kScript;
      }))
    return fail("schema has points of a script before others");
  const auto& known = schema.points;
  if (newer.points.size() < known.size() ||
      !std::ranges::equal(known, std::span(newer.points).first(known.size())))
    return fail("schema changes points of the one before");
  schema = std::move(newer);
  return {};
}

std::size_t Metadata::drop_unknown_losses() {
  return std::erase_if(ledger, [&](const model::LedgerEntry& entry) {
    return entry.point != model::kNoPoint && entry.point >= schema.points.size();
  });
}

}  // namespace sojourn::trace
