// The reading end of the ring that perf events of one CPU share; linux/perf_event.h has the layout.
// The kernel fills it meanwhile. One thread owns a PerfRing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/base/mapping.h"
#include "userspace/capture/records/shared.h"

namespace sojourn::capture {

// The ring as it lies in memory: a page of control, then a power of two of bytes.
struct PerfMemory {
  perf_event_mmap_page* control = nullptr;
  std::span<const std::byte> data;
};

class PerfRingReader {
 public:
  explicit PerfRingReader(const PerfMemory& memory) : memory_(memory) {}

  // Calls take(bytes of one record) for at most `most` records, in order. True: there are more.
  // A record that is not valid ends the reading: everything in the ring is skipped, and take() gets
  // an empty span for it.
  template <typename Take>
  bool consume(std::size_t most, Take take) {
    const std::uint64_t head = load_acquire(memory_.control->data_head);
    std::uint64_t tail = memory_.control->data_tail;
    bool more = false;
    for (std::size_t taken = 0; tail != head; ++taken) {
      if (taken == most) {
        more = true;
        break;
      }
      const std::span<const std::byte> record = record_at(tail, head - tail);
      take(record);
      tail = record.empty() ? head : tail + record.size();
    }
    store_release(memory_.control->data_tail, static_cast<__u64>(tail));
    return more;
  }

  // Marks how far the ring is filled now.
  void mark() { mark_ = load_acquire(memory_.control->data_head); }
  bool is_past_mark() const { return memory_.control->data_tail >= mark_; }

 private:
  // A record in one piece; empty if none of at most `left` bytes is there.
  std::span<const std::byte> record_at(std::uint64_t position, std::uint64_t left) {
    perf_event_header header;
    if (left < sizeof(header) || left > memory_.data.size()) return {};
    const std::size_t at = position & (memory_.data.size() - 1);
    // Records begin at multiples of eight, and so a header never wraps.
    if (at + sizeof(header) > memory_.data.size()) return {};
    std::memcpy(&header, memory_.data.data() + at, sizeof(header));
    if (header.size < sizeof(header) || header.size > left) return {};
    const std::size_t in_one_piece = memory_.data.size() - at;
    if (header.size <= in_one_piece) return memory_.data.subspan(at, header.size);
    wrapped_.assign(memory_.data.begin() + static_cast<std::ptrdiff_t>(at), memory_.data.end());
    wrapped_.insert(wrapped_.end(), memory_.data.begin(),
                    memory_.data.begin() + static_cast<std::ptrdiff_t>(header.size - in_one_piece));
    return wrapped_;
  }

  PerfMemory memory_;
  std::uint64_t mark_ = 0;
  std::vector<std::byte> wrapped_;
};

// The mapped ring of an event that others are redirected to. Outlives the event's descriptor.
class PerfRing {
 public:
  // `bytes` of data, a power of two of pages.
  static Result<PerfRing> map(const base::Fd& event, std::size_t bytes);

  PerfRingReader& reader() { return reader_; }
  const PerfRingReader& reader() const { return reader_; }

 private:
  PerfRing(base::Mapping mapping, const PerfMemory& memory)
      : mapping_(std::move(mapping)), reader_(memory) {}

  base::Mapping mapping_;
  PerfRingReader reader_;
};

}  // namespace sojourn::capture
