#include "userspace/capture/record_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "userspace/capture/shared.h"

namespace sojourn::capture {

void RingSites::add(std::uint32_t id, model::PointId point,
                    const std::vector<model::Field>& fields) {
  Site site{
      .id = id, .point = point, .fields = static_cast<std::uint8_t>(fields.size()), .field = {}};
  most_fields_ = std::max(most_fields_, fields.size());
  unsigned offset = SJ_RECORD_HEADER_BYTES;
  for (std::size_t field = 0; field < fields.size(); ++field) {
    site.field.at(field) = {
        .offset = static_cast<std::uint8_t>(offset),
        .log2_bytes = static_cast<std::uint8_t>(std::countr_zero(unsigned{fields[field].bytes})),
        .is_signed = fields[field].is_signed};
    offset += fields[field].bytes;
  }
  site.record_bytes =
      static_cast<std::uint8_t>((offset + SJ_RECORD_ALIGN - 1) / SJ_RECORD_ALIGN * SJ_RECORD_ALIGN);

  if (2 * (used_ + 1) > sites_.size()) {
    std::vector<Site> before(sites_.size() * 2);
    std::swap(before, sites_);
    for (const Site& old : before) {
      if (old.record_bytes == 0) continue;
      std::size_t at = place(old.id);
      while (sites_[at].record_bytes != 0) at = (at + 1) & (sites_.size() - 1);
      sites_[at] = old;
    }
  }
  std::size_t at = place(id);
  while (sites_[at].record_bytes != 0 && sites_[at].id != id) at = (at + 1) & (sites_.size() - 1);
  if (sites_[at].record_bytes == 0) ++used_;
  sites_[at] = site;
}

GapMark mark_gaps(const sj_ring& ring) {
  const std::uint32_t begun = load_acquire(ring.gaps_begun);
  return {begun, begun == 0 ? 0 : load_acquire(ring.gap[(begun - 1) % SJ_RING_GAPS].count)};
}

RecordReader::RecordReader(const sj_ring& ring, const std::byte* data, std::uint64_t capacity,
                           std::int64_t tail, const GapMark& gaps_before)
    : ring_(&ring), data_(data), capacity_(capacity), tail_(tail), gaps_(gaps_before) {
  // The last one may grow yet, where the next owner loses before it writes.
  if (gaps_.begun != 0) --gaps_.begun;
}

namespace {

template <typename Unsigned, typename Signed>
std::uint64_t widen(const std::byte* from, bool is_signed) {
  Unsigned value;
  std::memcpy(&value, from, sizeof(value));
  return is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<Signed>(value)})
                   : std::uint64_t{value};
}

std::uint64_t read_field(const std::byte* record, const RingSites::Field& field) {
  const std::byte* const from = record + field.offset;
  switch (field.log2_bytes) {
    case 0:
      return widen<std::uint8_t, std::int8_t>(from, field.is_signed);
    case 1:
      return widen<std::uint16_t, std::int16_t>(from, field.is_signed);
    case 2:
      return widen<std::uint32_t, std::int32_t>(from, field.is_signed);
    default:
      return widen<std::uint64_t, std::int64_t>(from, field.is_signed);
  }
}

// Columns to be filled in place: made as long as could be needed, then cut to what was.
class Rows {
 public:
  Rows(model::EventColumns& columns, std::size_t most, std::size_t fields)
      : columns_(columns), row_(columns.ts_ns.size()), value_(columns.values.size()) {
    resize(row_ + most, value_ + most * fields);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() { resize(row_, value_); }

  void append(const RingSites::Site& site, const std::byte* record, std::uint64_t ts_ns,
              const RingStream& stream) {
    columns_.ts_ns[row_] = ts_ns;
    columns_.seq[row_] = stream.seq;
    columns_.stream[row_] = stream.id;
    columns_.tid[row_] = stream.tid;
    columns_.point[row_] = site.point;
    std::uint64_t* const values = columns_.values.data() + value_;
    for (std::size_t field = 0; field < site.fields; ++field)
      values[field] = read_field(record, site.field[field]);
    value_ += site.fields;
    ++row_;
    columns_.first_value[row_] = static_cast<std::uint32_t>(value_);
  }

 private:
  void resize(std::size_t rows, std::size_t values) {
    columns_.ts_ns.resize(rows);
    columns_.seq.resize(rows);
    columns_.stream.resize(rows);
    columns_.tid.resize(rows);
    columns_.point.resize(rows);
    columns_.first_value.resize(rows + 1);
    columns_.values.resize(values);
  }

  model::EventColumns& columns_;
  std::size_t row_;
  std::size_t value_;
};

}  // namespace

// How many hits were lost at positions below or at this one, which the cursor has passed. A gap's
// count is final then: the owner wrote it before it moved the cursor.
std::uint64_t RecordReader::lost_before(std::int64_t position) {
  const std::uint32_t begun = load_acquire(ring_->gaps_begun);
  // More than the ring's table holds: their places are overwritten, their number is in the ledger.
  if (begun - gaps_.begun > SJ_RING_GAPS) gaps_ = {begun - SJ_RING_GAPS, 0};
  std::uint64_t lost = 0;
  while (gaps_.begun != begun) {
    const sj_ring_gap& gap = ring_->gap[gaps_.begun % SJ_RING_GAPS];
    if (load_relaxed(gap.position) > position) break;
    const std::uint64_t count = load_relaxed(gap.count);
    lost += count - std::min(count, gaps_.count);
    gaps_ = {gaps_.begun + 1, 0};
  }
  return lost;
}

bool RecordReader::read(std::int64_t cursor, const RingSites& sites, const RingClock& clock,
                        const RingGate& gate, std::size_t room, RingStream& stream,
                        model::EventColumns& into) {
  if (cursor < tail_ || static_cast<std::uint64_t>(cursor - tail_) > capacity_ ||
      cursor % SJ_RECORD_ALIGN != 0)
    return false;
  constexpr std::size_t kLeastRecord = 16;
  const auto span = static_cast<std::size_t>(cursor - tail_);
  Rows rows(into, std::min(room, span / kLeastRecord), sites.most_fields());
  const RingClock::Line* line = &clock.line_at(0);
  bool has_gaps = load_acquire(ring_->gaps_begun) != gaps_.begun;
  while (tail_ < cursor && room > 0) {
    const std::byte* const record = data_ + (static_cast<std::uint64_t>(tail_) & (capacity_ - 1));
    const auto& header = *reinterpret_cast<const sj_ring_record*>(record);
    const RingSites::Site* const site = sites.find(load_relaxed(header.id));
    if (site == nullptr || site->record_bytes > cursor - tail_) {
      ++stream.damaged;
      tail_ = cursor;
      break;
    }
    if (has_gaps) {
      stream.seq += lost_before(tail_);
      has_gaps = load_acquire(ring_->gaps_begun) != gaps_.begun;
    }
    const std::uint64_t stamp = std::uint64_t{header.stamp_high} << 32 | header.stamp_low;
    tail_ += site->record_bytes;
    if (stamp < gate.open || stamp >= gate.close) continue;
    if (!line->holds(stamp)) line = &clock.line_at(stamp);
    rows.append(*site, record, line->to_ns(stamp), stream);
    ++stream.seq;
    ++stream.events;
    --room;
  }
  return true;
}

}  // namespace sojourn::capture
