#include "analysis/trace/block_packer.h"

#include <algorithm>
#include <cstddef>

#include "analysis/trace/column.h"
#include "analysis/trace/format.h"

namespace sojourn::trace {

namespace {

// A larger batch becomes several blocks: readers hold whole blocks, and these fit a second-level
// cache while they are taken apart.
constexpr std::size_t kBlockEvents = 16'384;

}  // namespace

Result<void> BlockPacker::check(const model::EventBatch& batch, const model::Schema& schema) const {
  const auto stream = batch.stream();
  if (!is_constant(stream)) {
    const auto [least, most] = std::ranges::minmax(stream);
    return fail("write events of streams {} and {} in one block", least, most);
  }
  const auto first_value = batch.first_value();
  const std::size_t only = batch.point().front();
  if (is_constant(batch.point()) && only < fields_.size()) {
    const auto fields = static_cast<std::uint32_t>(fields_[only]);
    std::uint32_t differences = 0;
    for (std::size_t row = 0; row < batch.size(); ++row)
      differences |= (first_value[row + 1] - first_value[row]) ^ fields;
    if (differences == 0) return {};
  }
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const model::PointId point = batch.point()[row];
    const std::size_t values = first_value[row + 1] - first_value[row];
    if (point >= fields_.size())
      return fail("write an event of point {}: not in the schema", point);
    if (values != fields_[point])
      return fail("write an event of {} with {} values: it has {} fields",
                  schema.points[point].name(), values, fields_[point]);
  }
  return {};
}

Result<void> BlockPacker::pack(
    const model::EventBatch& events, const model::Schema& schema,
    const std::function<Result<void>(std::span<const std::uint8_t>)>& take) {
  for (std::size_t point = fields_.size(); point < schema.points.size(); ++point)
    fields_.push_back(schema.points[point].fields.size());
  if (events.empty()) return {};
  SJ_CHECK(check(events, schema));
  for (std::size_t first = 0; first < events.size(); first += kBlockEvents) {
    const std::size_t count = std::min(kBlockEvents, events.size() - first);
    columns_.clear();
    encoder_.encode(events, first, count, schema, columns_);
    SJ_TRY(block, maker_.make(BlockType::kEvents, columns_, summarise(events, first, count)));
    SJ_CHECK(take(block));
  }
  return {};
}

}  // namespace sojourn::trace
