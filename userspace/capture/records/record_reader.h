// Reads one ring's records into columns of events. It makes no system calls and knows no process:
// memory and positions are passed in, so the same code serves a live ring, a file, and a test. All
// of the ring is hostile: a record that is not valid is counted, and the rest of its span skipped.
// One thread owns a reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <sojourn/ring_abi.h>

#include "analysis/model/event.h"
#include "analysis/model/schema.h"
#include "userspace/capture/records/ring_clock.h"

namespace sojourn::capture {

// The sites whose records may be in a ring, by record id.
class RingSites {
 public:
  // A field's value: the bits in `mask` of the eight bytes at `offset`; `sign` is its topmost bit
  // if that is a sign. Fields of any width are read without a branch.
  struct Field {
    std::uint64_t mask = 0;
    std::uint64_t sign = 0;
    std::size_t offset = 0;
  };
  struct Site {
    std::uint32_t id = 0;
    model::PointId point = 0;
    std::uint8_t fields = 0;
    std::uint8_t record_bytes = 0;  // 0: a free slot
    bool is_wanted = true;          // false: its records are skipped
    std::array<Field, model::kMaxFields> field;
  };

  // Adds a site, or replaces the one with this id.
  void add(std::uint32_t id, model::PointId point, const std::vector<model::Field>& fields,
           bool is_wanted = true);
  const Site* find(std::uint32_t id) const {
    for (std::size_t at = place(id);; at = (at + 1) & (sites_.size() - 1)) {
      const Site& site = sites_[at];
      if (site.record_bytes == 0) return nullptr;
      if (site.id == id) return &site;
    }
  }
  std::span<const Site> places() const { return sites_; }  // including free ones

 private:
  std::size_t place(std::uint32_t id) const {
    return (id * std::uint64_t{0x9e3779b97f4a7c15} >> 32) & (sites_.size() - 1);
  }
  std::size_t used_ = 0;
  std::vector<Site> sites_ = std::vector<Site>(16);  // a power of two, at most half full
};

// Records with open <= stamp < close count.
struct RingGate {
  std::uint64_t open = 0;
  std::uint64_t close = UINT64_MAX;
};

// The correction of one thread's stamps, if the CPUs' counters disagree: how far the counter of the
// thread's CPU is ahead. Corrected times never go back when the correction changes.
struct RingCorrection {
  std::int64_t ahead_ticks = 0;
  std::uint64_t not_before = 0;          // the last corrected stamp
  std::uint64_t not_after = UINT64_MAX;  // the time at which these records were in the ring
};

// The stream of one thread's records in one ring, with consecutive sequence numbers.
struct RingStream {
  std::uint32_t id = 0;
  std::uint32_t tid = 0;
  std::uint64_t seq = 0;  // of the next event
  std::uint64_t events = 0;
  std::uint64_t damaged = 0;  // spans that were skipped; each leaves out one number
  std::optional<RingCorrection> correction = {};
};

// More hits than a thread can make in a month: a larger count means damage.
constexpr std::uint64_t kMaxHits = std::uint64_t{1} << 48;

// The state of a ring's table of gaps: gaps up to here do not belong to the next stream.
struct GapMark {
  std::uint32_t begun = 0;
  std::uint64_t count = 0;  // of the last gap, which may still grow
};
GapMark mark_gaps(const sj_ring& ring);

// Returns the beginning of the records that a ring still holds up to `cursor`, of any thread:
// behind those that a collector has read; in a flight recorder the oldest that cannot be
// overwritten.
std::int64_t begin_of_kept(const sj_ring& ring, std::uint64_t capacity, std::int64_t cursor);

class RecordReader {
 public:
  RecordReader() = default;
  // `data` is followed by SJ_RECORD_MAX_BYTES of overhang; `capacity` is a power of two.
  RecordReader(const sj_ring& ring, const std::byte* data, std::uint64_t capacity,
               std::int64_t tail, const GapMark& gaps_before = {});

  // Appends the records up to `cursor`, the ring's cursor, but at most `room` of them. Returns
  // false if the cursor is invalid; then nothing was read.
  bool read(std::int64_t cursor, const RingSites& sites, const RingClock& clock,
            const RingGate& gate, std::size_t room, RingStream& stream, model::EventColumns& into);

  std::int64_t tail() const { return tail_; }  // everything below was read
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t last_stamp() const { return last_stamp_; }  // 0: nothing was read
  void skip_to(std::int64_t position) { tail_ = position; }

 private:
  std::uint64_t lost_before(std::int64_t position);

  const sj_ring* ring_ = nullptr;
  const std::byte* data_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::int64_t tail_ = 0;
  std::uint64_t last_stamp_ = 0;
  GapMark gaps_;  // gaps that were counted so far
};

}  // namespace sojourn::capture
