#include <algorithm>
#include <utility>

#include "analysis/trace/codec.h"
#include "analysis/trace/varint.h"

namespace sojourn::trace {

// The block's bytes: first small numbers, then planes.
class EventDecoder::Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::uint64_t get() {
    VarintReader in(rest_);
    const std::uint64_t number = in.get();
    failed_ |= in.failed();
    rest_ = in.rest();
    return number;
  }

  std::uint8_t get_byte() {
    if (rest_.empty()) {
      failed_ = true;
      return 0;
    }
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }

  // Empty, and failed, where fewer bytes are left.
  std::span<const std::uint8_t> take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
  bool failed_ = false;
};

namespace {

Result<void> decode_sequence(std::span<const std::pair<std::uint64_t, std::uint64_t>> jumps,
                             const BlockSummary& summary, std::vector<std::uint64_t>& seq) {
  seq.resize(summary.events);
  std::uint64_t row = 0;
  std::uint64_t next = summary.first_seq;
  for (const auto& [jump_row, by] : jumps) {
    for (; row < jump_row; ++row) seq[row] = next++;
    next += by;
  }
  for (; row < summary.events; ++row) seq[row] = next++;
  if (std::ranges::max(seq) != summary.last_seq)
    return fail("sequence numbers differ from the block's header");
  return {};
}

}  // namespace

Result<void> EventDecoder::decode(std::span<const std::uint8_t> bytes, const BlockSummary& summary,
                                  const model::Schema& schema, model::EventBatch& into) {
  model::EventColumns columns = std::move(into).release();
  into = {};
  if (summary.events == 0) return bytes.empty() ? Result<void>{} : fail("bytes without events");
  Input in(bytes);
  SJ_CHECK(decode_columns(in, summary, schema, columns));
  into = model::EventBatch(std::move(columns));
  return {};
}

Result<void> EventDecoder::decode_columns(Input& in, const BlockSummary& summary,
                                          const model::Schema& schema,
                                          model::EventColumns& columns) {
  const std::uint64_t jump_count = in.get();
  if (jump_count > summary.events) return fail("more jumps in the sequence than events");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> jumps(jump_count);
  std::uint64_t jump_row = 0;
  for (auto& [row, by] : jumps) {
    const std::uint64_t rows = in.get();
    by = unfold(in.get());
    if (rows == 0 || rows >= summary.events - jump_row || in.failed())
      return fail("a jump in the sequence outside of the block");
    row = jump_row += rows;
  }
  SJ_CHECK(decode_sequence(jumps, summary, columns.seq));

  SJ_CHECK(read_threads(in, summary.events));
  const unsigned time_width = in.get_byte();
  SJ_CHECK(read_point_table(in, schema));
  if (in.failed()) return fail("the block's tables are cut short");

  SJ_CHECK(get_numbers(in, time_width, summary.events));
  SJ_CHECK(decode_times(summary, columns.ts_ns));
  columns.stream.assign(summary.events, summary.stream);
  SJ_CHECK(decode_points(in, summary.events, columns));
  columns.tid.resize(summary.events);
  columns.values.resize(columns.first_value.back());
  for (std::size_t index = 0; index < points_.size(); ++index)
    SJ_CHECK(decode_point(in, points_[index], by_point_.of(index), columns));
  if (!in.at_end()) return fail("columns do not end where the block does");
  return {};
}

Result<void> EventDecoder::read_threads(Input& in, std::uint32_t events) {
  const std::uint64_t count = in.get();
  if (count > events) return fail("more threads than events");
  tids_.resize(count);
  for (std::uint32_t& tid : tids_) tid = static_cast<std::uint32_t>(in.get());
  return {};
}

Result<void> EventDecoder::read_point_table(Input& in, const model::Schema& schema) {
  const std::uint64_t count = in.get();
  if (count > schema.points.size()) return fail("{} points, more than the schema has", count);
  point_width_ = in.get_byte();
  points_.resize(count);
  for (PointForm& point : points_) {
    const std::uint64_t id = in.get();
    point.thread = in.get();
    point.thread_width = in.get_byte();
    point.fields = in.get();
    if (id >= schema.points.size()) return fail("point {} is not in the schema", id);
    if (point.fields != schema.points[id].fields.size())
      return fail("{} values of a point with {} fields", point.fields,
                  schema.points[id].fields.size());
    point.id = static_cast<model::PointId>(id);
    std::uint64_t keys = 0;
    for (std::size_t field = 0; field < point.fields; ++field) {
      const std::uint8_t form = in.get_byte();
      const std::uint64_t key = in.get();
      if ((key >> point.fields) != 0) return fail("a key of fields that the point has not");
      keys |= key;
      point.forms[field] = {.width = static_cast<std::uint8_t>(form & kWidthBits),
                            .is_difference = (form & kDifferenceBit) != 0,
                            .key = static_cast<std::uint16_t>(key)};
    }
    for (std::size_t field = 0; field < point.fields; ++field)
      if (((keys >> field) & 1) != 0 && point.forms[field].key != 0)
        return fail("a key within a key");
  }
  return {};
}

Result<void> EventDecoder::get_numbers(Input& in, unsigned width, std::size_t rows) {
  if (width > sizeof(std::uint64_t)) return fail("a column {} bytes wide", width);
  const auto planes = in.take(width * rows);
  if (in.failed()) return fail("the block's columns are cut short");
  numbers_.resize(rows);
  get_planes(planes, width, numbers_);
  return {};
}

Result<void> EventDecoder::decode_times(const BlockSummary& summary,
                                        std::vector<std::uint64_t>& ts_ns) {
  ts_ns.resize(summary.events);
  std::uint64_t time_ns = summary.min_ts_ns;
  std::uint64_t earliest = UINT64_MAX;
  std::uint64_t latest = 0;
  for (std::size_t row = 0; row < summary.events; ++row) {
    time_ns += unfold(numbers_[row]);
    ts_ns[row] = time_ns;
    earliest = std::min(earliest, time_ns);
    latest = std::max(latest, time_ns);
  }
  if (earliest != summary.min_ts_ns || latest != summary.max_ts_ns)
    return fail("times differ from the block's header");
  return {};
}

Result<void> EventDecoder::decode_points(Input& in, std::uint32_t events,
                                         model::EventColumns& columns) {
  SJ_CHECK(get_numbers(in, point_width_, events));
  point_index_.resize(events);
  columns.point.resize(events);
  columns.first_value.resize(std::size_t{events} + 1);
  std::uint32_t values = 0;
  for (std::size_t row = 0; row < events; ++row) {
    const std::uint64_t index = numbers_[row];
    if (index >= points_.size()) return fail("a point outside of the block's table");
    point_index_[row] = static_cast<model::PointId>(index);
    columns.point[row] = points_[index].id;
    columns.first_value[row] = values;
    values += static_cast<std::uint32_t>(points_[index].fields);
  }
  columns.first_value[events] = values;
  by_point_.sort(point_index_, points_.size());
  return {};
}

Result<void> EventDecoder::decode_point(Input& in, const PointForm& point,
                                        std::span<const std::uint32_t> rows,
                                        model::EventColumns& columns) {
  SJ_CHECK(get_numbers(in, point.thread_width, rows.size()));
  std::uint64_t thread = point.thread;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    thread += unfold(numbers_[at]);
    if (thread >= tids_.size()) return fail("a thread outside of the block's table");
    columns.tid[rows[at]] = tids_[thread];
  }

  // A key's own columns have no key, so they are there before any that need them.
  links_key_ = 0;
  std::array<std::span<const std::uint8_t>, model::kMaxFields> planes;
  for (std::size_t field = 0; field < point.fields; ++field) {
    if (point.forms[field].width > sizeof(std::uint64_t)) return fail("a column too wide");
    planes[field] = in.take(point.forms[field].width * rows.size());
  }
  if (in.failed()) return fail("the block's columns are cut short");
  for (const bool keyed : {false, true})
    for (std::size_t field = 0; field < point.fields; ++field)
      if ((point.forms[field].key != 0) == keyed)
        decode_field(point, field, planes[field], rows.size());

  for (std::size_t at = 0; at < rows.size(); ++at) {
    std::uint64_t* values = columns.values.data() + columns.first_value[rows[at]];
    for (std::size_t field = 0; field < point.fields; ++field) values[field] = columns_[field][at];
  }
  return {};
}

void EventDecoder::decode_field(const PointForm& point, std::size_t field,
                                std::span<const std::uint8_t> planes, std::size_t rows) {
  const ColumnForm& form = point.forms[field];
  std::vector<std::uint64_t>& column = columns_[field];
  column.resize(rows);
  get_planes(planes, form.width, column);
  if (!form.is_difference) {
    for (std::uint64_t& value : column) value = unfold(value);
  } else if (form.key == 0) {
    std::uint64_t value = 0;
    for (std::uint64_t& slot : column) slot = value += unfold(slot);
  } else {
    find_links(point, form.key, rows);
    const auto previous = links_.previous();
    for (std::size_t row = 0; row < rows; ++row)
      column[row] = unfold(column[row]) + (previous[row] == kNoRow ? 0 : column[previous[row]]);
  }
}

void EventDecoder::find_links(const PointForm& point, std::uint16_t key, std::size_t rows) {
  if (std::exchange(links_key_, key) == key) return;
  std::vector<std::span<const std::uint64_t>> keys;
  for (std::size_t field = 0; field < point.fields; ++field)
    if (((key >> field) & 1) != 0) keys.emplace_back(columns_[field]);
  links_.find(keys, rows);
}

}  // namespace sojourn::trace
