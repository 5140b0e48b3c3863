#include "userspace/capture/records/record_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "userspace/capture/records/shared.h"

namespace sojourn::capture {

void RingSites::add(std::uint32_t id, model::PointId point, const std::vector<model::Field>& fields,
                    bool is_wanted) {
  Site site{
      .id = id, .point = point, .fields = static_cast<std::uint8_t>(fields.size()), .field = {}};
  unsigned offset = SJ_RECORD_HEADER_BYTES;
  for (std::size_t field = 0; field < fields.size(); ++field) {
    const unsigned spare_bits = 64 - 8 * fields[field].bytes;
    const std::uint64_t mask = UINT64_MAX >> spare_bits;
    site.field.at(field) = {
        .mask = mask, .sign = fields[field].is_signed ? mask - (mask >> 1) : 0, .offset = offset};
    offset += fields[field].bytes;
  }
  site.is_wanted = is_wanted;
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

std::int64_t begin_of_kept(const sj_ring& ring, std::uint64_t capacity, std::int64_t cursor) {
  const auto size = static_cast<std::int64_t>(capacity);
  const std::int64_t limit = load_acquire(ring.limit);
  if (limit == SJ_RING_CLOSED) return cursor;  // no thread was allowed to write
  if (load_relaxed(ring.mode) == SJ_RING_STOP)
    return limit < size ? cursor : std::min(limit - size, cursor);
  // The first record that begins in the oldest chunk that is not overwritten next.
  const std::int64_t oldest_byte = std::max(limit, std::int64_t{0}) - size;
  std::int64_t oldest = cursor;
  for (const std::int64_t& entry : ring.chunk) {
    const std::int64_t begin = load_acquire(entry);
    if (begin >= oldest_byte && begin < oldest && begin % SJ_RECORD_ALIGN == 0) oldest = begin;
  }
  return oldest;
}

RecordReader::RecordReader(const sj_ring& ring, const std::byte* data, std::uint64_t capacity,
                           std::int64_t tail, const GapMark& gaps_before)
    : ring_(&ring), data_(data), capacity_(capacity), tail_(tail), gaps_(gaps_before) {
  // The last gap may still grow, if the next owner loses hits before it writes.
  if (gaps_.begun != 0) --gaps_.begun;
}

namespace {

// Eight bytes of any field are inside of the ring and its overhang.
static_assert(SJ_RECORD_HEADER_BYTES + 8 * model::kMaxFields <= SJ_RECORD_MAX_BYTES);

std::uint64_t read_field(const std::byte* record, const RingSites::Field& field) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, record + field.offset, sizeof(bytes));
  // Flipping the sign bit and subtracting it again extends the sign.
  return ((bytes & field.mask) ^ field.sign) - field.sign;
}

// Buffers some rows on their way into columns: growing the columns first and filling them then
// would write everything twice.
class Rows {
 public:
  Rows(model::EventColumns& columns, const RingStream& stream)
      : columns_(columns), stream_(stream), value_(columns.values.size()) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    hand_on();
    columns_.stream.resize(columns_.ts_ns.size(), stream_.id);
    columns_.tid.resize(columns_.ts_ns.size(), stream_.tid);
  }

  void append(const RingSites::Site& site, const std::byte* record, std::uint64_t ts_ns,
              std::uint64_t seq) {
    if (rows_ == kRows) hand_on();
    ts_ns_[rows_] = ts_ns;
    seq_[rows_] = seq;
    point_[rows_] = site.point;
    std::uint64_t* const values = values_.data() + values_here_;
    for (std::size_t field = 0; field < site.fields; ++field)
      values[field] = read_field(record, site.field[field]);
    values_here_ += site.fields;
    first_value_[rows_] = static_cast<std::uint32_t>(value_ + values_here_);
    ++rows_;
  }

 private:
  static constexpr std::size_t kRows = 64;

  void hand_on() {
    const auto append = [](auto& column, const auto& from, std::size_t count) {
      column.insert(column.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
    };
    append(columns_.ts_ns, ts_ns_, rows_);
    append(columns_.seq, seq_, rows_);
    append(columns_.point, point_, rows_);
    append(columns_.first_value, first_value_, rows_);
    append(columns_.values, values_, values_here_);
    value_ += values_here_;
    rows_ = 0;
    values_here_ = 0;
  }

  model::EventColumns& columns_;
  const RingStream& stream_;
  std::size_t value_;  // values in the columns
  std::size_t rows_ = 0;
  std::size_t values_here_ = 0;
  // These are not initialised: each row is written before it is read.
  std::array<std::uint64_t, kRows> ts_ns_;
  std::array<std::uint64_t, kRows> seq_;
  std::array<model::PointId, kRows> point_;
  std::array<std::uint32_t, kRows> first_value_;
  std::array<std::uint64_t, kRows * model::kMaxFields> values_;
};

}  // namespace

// The number of hits lost at positions up to this one, which the cursor has passed. A gap's count
// is final then: the owner wrote it before it moved the cursor.
std::uint64_t RecordReader::lost_before(std::int64_t position) {
  const std::uint32_t begun = load_acquire(ring_->gaps_begun);
  // More gaps than the table holds: their positions are overwritten, their hits are in the ledger.
  if (begun - gaps_.begun > SJ_RING_GAPS) gaps_ = {begun - SJ_RING_GAPS, 0};
  std::uint64_t lost = 0;
  while (gaps_.begun != begun) {
    const sj_ring_gap& gap = ring_->gap[gaps_.begun % SJ_RING_GAPS];
    if (load_relaxed(gap.position) > position) break;
    const std::uint64_t count = load_relaxed(gap.count);
    if (count <= kMaxHits) lost += count - std::min(count, gaps_.count);
    gaps_ = {gaps_.begun + 1, 0};
  }
  return lost;
}

bool RecordReader::read(std::int64_t cursor, const RingSites& sites, const RingClock& clock,
                        const RingGate& gate, std::size_t room, RingStream& stream,
                        model::EventColumns& into) {
  if (cursor < tail_ || static_cast<std::uint64_t>(cursor - tail_) > capacity_ ||
      cursor % SJ_RECORD_ALIGN != 0 || tail_ % SJ_RECORD_ALIGN != 0)
    return false;
  Rows rows(into, stream);
  const RingClock::Line* line = &clock.line_at(0);
  bool has_gaps = load_acquire(ring_->gaps_begun) != gaps_.begun;
  std::uint64_t stamp = last_stamp_;
  // Local copies stay in registers; members would be stored and loaded again for every record.
  std::int64_t tail = tail_;
  std::uint64_t seq = stream.seq;
  std::uint64_t kept = 0;
  const bool is_corrected = stream.correction.has_value();
  const RingCorrection correction = stream.correction.value_or(RingCorrection());
  const auto ahead = static_cast<std::uint64_t>(correction.ahead_ticks);
  std::uint64_t not_before = correction.not_before;
  const RingSites::Site* site = nullptr;
  while (tail < cursor && kept < room) {
    const std::byte* const record = data_ + (static_cast<std::uint64_t>(tail) & (capacity_ - 1));
    const auto& header = *reinterpret_cast<const sj_ring_record*>(record);
    const std::uint32_t id = load_relaxed(header.id);
    // Guesses the last record's site: then the next record's place is known before this one has
    // been loaded.
    if (site == nullptr || site->id != id) site = sites.find(id);
    if (site == nullptr || site->record_bytes > cursor - tail) {
      ++stream.damaged;
      ++seq;
      tail = cursor;
      break;
    }
    if (has_gaps) {
      seq += lost_before(tail);
      has_gaps = load_acquire(ring_->gaps_begun) != gaps_.begun;
    }
    stamp = std::uint64_t{header.stamp_high} << 32 | header.stamp_low;
    tail += site->record_bytes;
    std::uint64_t at = stamp;
    if (is_corrected)
      at = not_before = std::max(std::min(stamp - ahead, correction.not_after), not_before);
    if (at < gate.open || at >= gate.close || !site->is_wanted) continue;
    if (!line->holds(at)) line = &clock.line_at(at);
    rows.append(*site, record, line->to_ns(at), seq);
    ++seq;
    ++kept;
  }
  tail_ = tail;
  last_stamp_ = stamp;
  stream.seq = seq;
  stream.events += kept;
  if (is_corrected) stream.correction->not_before = not_before;
  return true;
}

}  // namespace sojourn::capture
